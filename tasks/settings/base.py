"""What every group of settings has in common.

A field with a description is a setting: users turn it. One without is part of the method: a preset or an ablation sets it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Set
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class Settings(BaseModel):
    """A frozen group of settings that knows no names but its own. Its JSON schema, and so a form, shows what users turn."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        shown = handler(schema)
        whole = handler.resolve_ref_schema(shown)
        settable = {leaf.partition(".")[0] for leaf, field in leaves(cls) if field.description}
        whole["properties"] = {name: form for name, form in whole.get("properties", {}).items() if name in settable}
        for form in whole["properties"].values():
            if "$ref" in form:
                # A form sends back the defaults it is shown: a group's would hold the method, of one preset.
                form.pop("default", None)
        return shown


S = TypeVar("S", bound=Settings)
Share = Annotated[float, Field(ge=0, le=1)]


class MethodError(ValueError):
    """A value for a part of the method, which is no setting."""


def leaves(form: type[Settings], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield each value of a group and of the groups in it, by its dotted name."""
    for name, field in form.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Settings):
            yield from leaves(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def bounds_of(field: FieldInfo) -> str:
    return ", ".join(re.sub(r"^\w+\((.*)\)$", r"\1", str(rule)) for rule in field.metadata)


def apply_settings(method: Settings, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the method with a user's settings, nested mappings, put in; not validated yet.

    Raise MethodError where they would change the method itself.
    """
    fixed = {leaf for leaf, field in leaves(type(method)) if not field.description}
    values = method.model_dump(mode="json")
    if refused := list(_apply(values, given, fixed, "")):
        are = "is part of the method and no setting" if len(refused) == 1 else "are part of the method and no settings"
        raise MethodError(f"{', '.join(refused)} {are}; take another --preset, `flowreader settings --method` shows the method")
    return values


def _apply(values: dict[str, Any], given: Mapping[str, Any], fixed: Set[str], prefix: str) -> Iterator[str]:
    """Put what is given among the values; yield each name that would change the method."""
    for name, value in given.items():
        if isinstance(value, Mapping) and isinstance(values.get(name), dict):
            yield from _apply(values[name], value, fixed, f"{prefix}{name}.")
        elif f"{prefix}{name}" in fixed and value != values[name]:
            yield f"{prefix}{name}"
        else:
            values[name] = value


def change_settings(settings: S, change: Mapping[str, Any]) -> S:
    """Return the settings with these values, by dotted names; checked as a file of them is."""
    values = settings.model_dump()
    for name, value in change.items():
        *groups, last = name.split(".")
        place = values
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = value
    return type(settings).model_validate(values)


def list_dotted(settings: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each setting by its dotted name, with its value in JSON; a list is one value."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from list_dotted(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value, ensure_ascii=False, sort_keys=True)
