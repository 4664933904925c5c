"""A reply has every field of its form and no other."""

import pytest
from pydantic import BaseModel, ValidationError

from tasks import model_forms
from tests.scripted_answers import path_answer, whole_answer

FORMS = [form for form in vars(model_forms).values() if isinstance(form, type) and issubclass(form, model_forms.Form)]


@pytest.mark.parametrize("form", FORMS)
def test_every_field_is_asked_for_and_none_has_a_default(form):
    assert issubclass(form, BaseModel) and all(field.is_required() for field in form.model_fields.values())
    schema = form.model_json_schema()
    assert schema["additionalProperties"] is False or not form.model_fields
    assert sorted(schema.get("required", [])) == sorted(form.model_fields)


@pytest.mark.parametrize("change", [{"status": "maybe"}, {"whole": "yes"}, {"citations": [{"passage": "n1"}]}, {"more": 1}])
def test_what_does_not_fit_is_refused(change):
    model_forms.PathAnswer.model_validate(path_answer("x"), strict=True)
    with pytest.raises(ValidationError):
        model_forms.PathAnswer.model_validate(path_answer("x", **change), strict=True)


def test_facts_and_thoughts_come_before_what_is_decided_by_them():
    assert [next(iter(form.model_fields)) for form in (model_forms.PathAnswer, model_forms.WholeAnswer)] == ["facts", "thought"]
    model_forms.WholeAnswer.model_validate(whole_answer("x"), strict=True)
