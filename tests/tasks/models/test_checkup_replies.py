import pytest
from pydantic import BaseModel

from tasks.models.chat_call import ChatCall
from tasks.models.chat_faults import FaultError, FaultKind
from tasks.models.chat_stream import Completion
from tasks.models.checkup_replies import context_check, model_check, picture_check, space_check, talk_checks
from tasks.models.served_models import ServedModel


class Form(BaseModel):
    colour: str


CALL = ChatCall("doctor", "", "doctor", "prompt", "", Form, max_output_tokens=9)


def completion(text='{"colour": "green"}', **more):
    said = {"finish_reason": "stop", "refusal": "", "model": "m", "input_tokens": 7, "output_tokens": 5, "problem": ""}
    return Completion(text, **(said | more))


def talk(reply):
    return {check.check: check for check in talk_checks(CALL, reply)}


def test_a_reply_that_is_right_is_three_times_well():
    found = talk(completion())
    assert [check.remedy for check in found.values()] == ["", "", ""] and found["usage"].found == "7 tokens read, 5 written"


@pytest.mark.parametrize("untold", [{"input_tokens": None}, {"output_tokens": None}])
def test_tokens_that_are_not_told_are_a_finding(untold):
    assert "budgets" in talk(completion(**untold))["usage"].remedy


def test_a_reply_that_does_not_end_by_itself_is_a_finding():
    assert talk(completion(finish_reason=""))["finish reason"].found == "none was told"
    assert talk(completion(finish_reason="length"))["finish reason"].remedy


def test_a_server_that_is_busy_is_waited_for():
    busy = FaultError(FaultKind.BUSY, "http://host/v1 answered 429")
    assert "loaded its model" in talk(busy)["structured output"].remedy
    assert "loaded its model" in picture_check(CALL, busy).remedy


def test_white_space_is_counted_and_only_without_end_a_finding():
    assert space_check(completion("\n" * 50 + "{}")).remedy == ""
    cut = space_check(completion(" " * 60 + "{", finish_reason="length"))
    assert cut.found.startswith("60 of 61 characters") and "xgrammar" in cut.remedy


def test_the_model_that_answers_must_be_the_one_that_was_asked():
    assert model_check(ServedModel("m", 0), completion()).remedy == ""
    assert "'other'" in model_check(ServedModel("m", 0), completion(model="other")).found
    assert model_check(ServedModel("m", 0), ValueError("lost")).remedy == ""


def test_a_context_nobody_tells_is_no_finding():
    assert context_check(ServedModel("m", 0)).remedy == "" and context_check(ServedModel("m", 100)).remedy
