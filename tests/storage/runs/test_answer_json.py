"""An answer is written as JSON in the shape that was agreed, and read as it was written."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.codec import CodecError
from storage.records.answers import Answer, Refusal
from storage.runs.answer_json import answer_from_json, answer_json
from tests.storage.answer_worlds import answer, named


def test_the_json_has_the_shape_that_was_agreed():
    told = answer_json(answer("report"))
    place = {"document": {"id": named("report").id, "name": "report.pdf"}, "page": 2}
    (cited,), (path,) = told["citations"], told["paths"]
    assert cited == place | {
        "box": [0.1, 0.2, 0.9, 1 / 3],
        "node_id": cited["node_id"],
        "quote": "words of report",
        "section": ["heading of report"],
        "modality": "table",
        "probability": None,
    }
    assert path == {
        "nodes": path["nodes"], "pages": [place], "flow": 0.5, "quality": 0.25, "share": 1.0, "answer": "path of report",
    }  # fmt: skip
    assert told["pages"] == [place | {"score": 0.5, "probability": None}] and told["evidence_pages"] == [place]
    assert set(told["gate"]) == {"consistency", "saturation", "triggered", "edits"}
    assert told["usage"] == {
        "calls": 3, "input_tokens": 100, "output_tokens": 20, "cost": 0.0, "seconds": {"route": 0.5}, "cached": 0, "most_calls": 0,
            "counts": {},
    }  # fmt: skip
    assert set(told) == {
        "answer_id", "question", "answer", "answer_by", "status", "why", "reader", "citations", "paths", "pages", "evidence_pages",
        "gate", "usage", "snapshot", "settings", "models", "asked", "corpus", "scope", "notes",
        "cached", "completeness", "refusal", "trace", "parts", "asked_as", "follows", "thread",
    }  # fmt: skip
    assert json.loads(json.dumps(told)) == told


@given(st.text(), st.booleans())
def test_an_answer_is_read_as_it_was_written(text, top_k):
    first = replace(answer("report", "paper", question=text), answer=text, why=text, notes=(text,))
    first = replace(first, gate=None, paths=()) if top_k else first
    assert answer_from_json(json.loads(json.dumps(answer_json(first))), Answer) == first


def test_fields_of_a_newer_version_are_left_out():
    told = answer_json(answer("report"))
    newer = told | {"mood": "good", "citations": [told["citations"][0] | {"colour": "red"}]}
    assert answer_from_json(newer, Answer) == answer("report")


def test_an_answer_of_before_there_were_threads_stands_alone():
    first = answer("report")
    older = {name: value for name, value in answer_json(first).items() if name not in {"asked_as", "follows", "thread"}}
    assert answer_from_json(older, Answer) == first


def test_a_missing_field_is_named():
    told = answer_json(answer("report"))
    del told["gate"]["saturation"]
    with pytest.raises(CodecError, match=r"gate\.saturation.*ask the question again"):
        answer_from_json(told, Answer)


def test_what_utf8_cannot_hold_is_written_as_an_escape():
    told = answer_json(replace(answer("report", question="caf\udce9?"), scope={"pages": ["\ud800"]}))
    assert told["question"] == "caf\\udce9?" and told["scope"] == {"pages": ["\\ud800"]}
    assert json.dumps(told, ensure_ascii=False).encode()


@pytest.mark.parametrize("number", [math.nan, math.inf, np.float32(0.5)])
def test_a_number_that_json_has_no_word_for_is_refused(number):
    with pytest.raises(CodecError):
        answer_json(replace(answer("report"), gate=replace(answer("report").gate, consistency=number)))


@pytest.mark.parametrize(("probability", "refuses"), [(None, False), (0.39, False), (0.4, True), (0.9, True)])
def test_a_refusal_is_kept_with_what_it_was_made_of_and_refuses_from_its_threshold_on(probability, refuses):
    refusal = Refusal({"a name is missing": 1.0}, probability, None if probability is None else 0.4)
    opened = answer_from_json(json.loads(json.dumps(answer_json(replace(answer("report"), refusal=refusal)))), Answer)
    assert opened.refusal == refusal and opened.refusal.refuses is refuses
