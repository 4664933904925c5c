"""A real small model, which sees nothing, is found out, and a question and an ingest go by words."""

from storage.runs.replies import CallCache
from tasks.models.chat.model import open_chat
from tasks.models.checkup_of_servers import check_models
from tasks.models.local import local_model, reachable
from tasks.settings.models import ModelSettings


def test_a_small_model_is_found_to_read_little_and_to_see_nothing(home, tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", "smollm2")
    with reachable(local_model()) as server:
        (checkup,) = check_models()
        with open_chat(server, ModelSettings(), cache=CallCache(tmp_path)) as model:
            assert model.abilities.short and not model.abilities.sees and model.abilities.written_per_second > 0
    found = {check.check: check.found for check in checkup.checks}
    assert found["context"] == "8,192 tokens" and found["picture"].startswith("none is taken")
    assert found["structured output"] == "a reply has the form that was asked for"
    assert found["forms"].startswith("small: full ones need 16,384 tokens of context")
