"""The draft of a reply: the words of one field while the rest is still being written, and nothing else changed by it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.runs.replies import CallCache
from tasks.models.chat import stream
from tasks.models.chat.model import open_chat
from tasks.models.chat.stream import Draft, read_unfinished_text
from tasks.models.endpoints import Endpoint
from tests.chat_server import Misbehaviour, at, chat_server
from tests.tasks.models.chat_worlds import call, settings

VALUES = st.one_of(st.text(), st.integers(), st.lists(st.text()), st.booleans(), st.none())


@given(
    words=st.text(),
    before=st.dictionaries(st.text(), VALUES),
    after=st.dictionaries(st.text(), VALUES),
    ascii_only=st.booleans(),
    data=st.data(),
)
def test_of_any_cut_of_any_reply_the_field_is_a_prefix_that_only_grows(words, before, after, ascii_only, data):
    fields = {**before, "answer": words, **{name: value for name, value in after.items() if name != "answer"}}
    text = json.dumps(fields, ensure_ascii=ascii_only)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=20)))
    seen = [read_unfinished_text(text[:cut], "answer") for cut in [*cuts, len(text)]]
    assert seen[-1] == words
    assert all(later.startswith(earlier) and words.startswith(later) for earlier, later in zip(["", *seen], seen, strict=False))


@pytest.mark.parametrize(
    "text",
    ["", "  ", 'Here: {"answer": "a"}', '["answer"]', '{"answer": 7}', '{"answer": ["a"]}', '{"answer": "\\ud800 a"}', "[" * 9999],
)
def test_what_holds_no_such_string_is_no_draft(text):
    assert read_unfinished_text(text, "answer") == ""


def test_a_half_sign_that_a_server_sends_is_shown_as_none():
    assert read_unfinished_text('{"answer": "a\ud800', "answer") == "a?"


def test_a_reply_is_looked_at_now_and_then_and_at_its_end():
    handed = []
    draft, pieces = Draft("answer", handed.append), ['{"answer": "']
    for word in ("So ", "it ", "is", '"}'):
        pieces.append(word)
        draft.look(pieces)
    assert handed == ["So "]
    draft.look(pieces, at_once=True)
    draft.look(pieces, at_once=True)
    assert handed == ["So ", "So it is"]


def asked(folder, draft, **server):
    """Ask once; return the drafts, what came, what was sent and what was kept."""
    drafts, called = [], []
    with (
        chat_server(lambda _request: {"summary": "It grew by half.", "node_id": "n1"}, piece_length=9, **server) as served,
        open_chat(
            Endpoint(served.base_url), settings(), cache=CallCache(folder), listener=called.append, drafts=drafts.append
        ) as model,
    ):
        (value,) = model.ask_all([call(draft=draft)])
    kept = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return drafts, value, [request.body for request in served.requests], kept, [one.key for one in called]


def test_the_draft_grows_to_the_whole_and_changes_nothing_that_is_sent_or_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "DRAFT_SECONDS", 0.0)
    drafts, *with_draft = asked(tmp_path / "a", "summary")
    none, *without = asked(tmp_path / "b", "")
    assert with_draft == without and none == [] and with_draft[0].summary == "It grew by half."
    assert len(drafts) > 1 and drafts[-1] == "It grew by half." and all(drafts[-1].startswith(draft) for draft in drafts)


@pytest.mark.parametrize("how", [Misbehaviour.RESET, Misbehaviour.UNKNOWN_IDS, Misbehaviour.CUT])
def test_a_call_that_is_tried_or_asked_again_begins_its_draft_anew(tmp_path, monkeypatch, how):
    monkeypatch.setattr(stream, "DRAFT_SECONDS", 0.0)
    drafts, value, sent, *_ = asked(tmp_path, "summary", misbehave=at({1: how}))
    assert len(sent) == 2 and value.summary == drafts[-1]
    assert drafts.count(drafts[0]) == 2 or how is not Misbehaviour.UNKNOWN_IDS
