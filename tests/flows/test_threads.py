"""Questions in a row, asked of a corpus: what one takes from the one before, and what is left when the thread is removed."""

import pytest

import flows.ask
from storage.cleaning.threads import remove_thread
from storage.corpus.snapshot import open_for_reading
from storage.errors import UnknownError
from storage.locations import corpus_location, reports_folder
from storage.runs.answers import read_answers
from storage.runs.at_work import at_work
from storage.runs.log import ASKING
from tasks.asking.request import AskRequest, QuestionError
from tasks.asking.threads import find_thread
from tests.asking_worlds import COAST, TORQUE, WEIGHT, answer_to, answers_to
from tests.waiting import files_below

ON, ABOUT = "and at the Quessant narrows?", "How many megawatts are possible at the Aldre coast"


@pytest.fixture
def location(own_home):
    return corpus_location("small")


def test_a_follow_up_is_asked_with_what_it_leaves_out_and_says_so(location):
    first = answer_to(COAST)
    second = answer_to(ON, follow=first.answer_id[:8])
    third = answer_to(WEIGHT, follow=second.answer_id)
    assert (first.asked_as, first.follows, first.thread) == (COAST, None, first.answer_id)
    assert (second.question, second.asked_as) == (ON, f"{ON} (about: {ABOUT})") and second.pages[0].page == 4
    assert (third.asked_as, third.follows) == (WEIGHT, second.answer_id), "what stands by itself stays as it is"
    assert {each.thread for each in (second, third)} == {first.answer_id}
    with open_for_reading(location) as snapshot:
        assert [each.answer_id for each in snapshot.answers(first.thread)] == [each.answer_id for each in (third, second, first)]


def test_the_same_words_in_another_thread_are_another_question_and_in_the_same_one_are_kept(location):
    coast, torque = answer_to(COAST), answer_to(TORQUE)
    first = answer_to("why?", follow=coast.answer_id, fresh=False)
    other = answer_to("why?", follow=torque.answer_id, fresh=False)
    again = answer_to("why?", follow=coast.answer_id, fresh=False)
    assert again.cached and again.answer_id == first.answer_id != other.answer_id and not other.cached
    assert other.asked_as == f"why? (about: {TORQUE[:-1]})" and other.pages[0].document.name == "maintenance_manual.docx"


def test_a_thread_stays_within_its_limits_unless_documents_are_named(location):
    first = answer_to("How much is planned?", documents=("budget.xlsx",))
    on = answer_to("and why?", follow=first.answer_id, pages="2")
    assert {(page.document.name, page.page) for page in on.pages} == {("budget.xlsx", 2)}
    wider = answer_to("and why?", follow=on.answer_id, documents=("strategy.pptx", "budget.xlsx"))
    assert {page.document.name for page in wider.pages} == {"budget.xlsx", "strategy.pptx"} and len(wider.pages) > 4


def test_that_page_is_the_one_that_the_answer_before_cites_first(location):
    first = answer_to(COAST)
    on = answer_to("What else is on that slide?", follow=first.answer_id)
    assert on.asked_as == "What else is on the 4th slide of strategy.pptx?"
    assert (on.pages[0].document.name, on.pages[0].page) == ("strategy.pptx", 4)


def test_a_conversation_that_its_client_keeps_is_understood_from_its_questions_alone(location):
    second = answer_to("why?", earlier=("Hello there, who are you?", COAST, ON))
    assert (
        second.asked_as == f"why? (about: {ABOUT}, at the Quessant narrows)"
        and second.follows is None
        and second.thread == second.answer_id
    )
    many = answer_to("why?", earlier=tuple(f"What is the price of part {number}?" for number in range(500)))
    assert many.asked_as == "why? (about: What is the price of part 499)"


def test_a_kept_answer_with_the_same_limits_lends_its_passages_to_such_a_conversation_and_nothing_else(location):
    asked_on = AskRequest(questions=(ON,), earlier=(COAST,), corpus="small")
    limited = answer_to(COAST, documents=("budget.xlsx",))
    with open_for_reading(location) as snapshot:
        assert not find_thread(snapshot, asked_on).cited, "it may be somebody else's, who asked one document"
    first = answer_to(COAST)
    with open_for_reading(location) as snapshot:
        thread = find_thread(snapshot, asked_on)
        assert thread.lent_to(ON) == tuple(dict.fromkeys(one.node_id for one in first.citations)) != ()
        assert thread.limit(asked_on) is asked_on and thread.follows is None and thread.lent_to(WEIGHT) == ()
    assert limited.thread != first.thread


def test_what_stands_by_itself_is_kept_whatever_a_client_says_was_before(location):
    answer_to(WEIGHT, fresh=False)
    assert answer_to(WEIGHT, earlier=(COAST, TORQUE), fresh=False).cached


@pytest.mark.parametrize(
    ("limits", "problem", "says"),
    [
        ({"follow": "12345678"}, UnknownError, "no answer '12345678' in corpus 'small'"),
        ({"follow": ""}, UnknownError, "no answer ''"),
        ({"follow": "why"}, UnknownError, "no answer 'why'"),
        ({"questions": ("why?", "how?"), "follow": "12345678"}, QuestionError, "and 2 were asked"),
        ({"questions": ("why?", "how?"), "earlier": (COAST,)}, QuestionError, "and 2 were asked"),
        ({"follow": "12345678", "earlier": (COAST,)}, QuestionError, "both were given"),
    ],
)
def test_what_cannot_be_followed_is_refused_in_words(location, limits, problem, says):
    with open_for_reading(location) as snapshot, pytest.raises(problem, match=says):
        find_thread(snapshot, AskRequest(**{"questions": ("why?",), "corpus": "small", **limits}))


def holding(location, words):
    return [path for path in files_below(location.home) if path.is_file() and words.encode() in path.read_bytes()]


def test_a_removed_thread_is_found_nowhere_and_others_stay(location):
    words = "How heavy is  a zweihundert MT-3 without its base?\n"
    other, first = answer_to(COAST), answer_to(words, fresh=False)
    answers_to(words, TORQUE, fresh=False)
    last = answer_to("and a zweihundert of steel?", follow=first.answer_id[:8], fresh=False)
    report = reports_folder(location.home) / f"{last.answer_id}.html"
    report.parent.mkdir(exist_ok=True)
    report.write_text(f"{last.answer_id} zweihundert")
    removed = remove_thread(location, last.answer_id[:8])
    assert (removed.thread, removed.answers, removed.reports) == (first.answer_id, 2, 1)
    assert not holding(location, "zweihundert")
    assert [each.question for each in read_answers(location, present=())] == [TORQUE, COAST]
    assert read_answers(location, present=())[-1].answer_id == other.answer_id
    with pytest.raises(UnknownError):
        answer_to("why?", follow=first.answer_id)


def test_of_a_batch_that_is_at_work_the_other_questions_stay(location):
    first, second = answers_to("How heavy is a zweihundert MT-3?", COAST)
    (path,) = location.runs.glob(f"{ASKING}*.jsonl")
    with at_work(path):
        remove_thread(location, first.answer_id)
    assert [each.answer_id for each in read_answers(location, present=())] == [second.answer_id]
    assert not holding(location, "zweihundert")


def test_the_same_words_asked_in_another_thread_stay(location):
    coast, torque = answer_to(COAST), answer_to(TORQUE)
    answer_to("why?", follow=coast.answer_id, fresh=False)
    answer_to("why?", follow=torque.answer_id, fresh=False)
    answer_to("why?", follow=torque.answer_id, fresh=False)
    before = len(list(location.runs.glob(f"{ASKING}*.jsonl")))
    assert remove_thread(location, coast.answer_id).answers == 2
    assert len(list(location.runs.glob(f"{ASKING}*.jsonl"))) == before - 2


def test_a_removal_that_was_killed_is_finished_by_the_same_call(location, monkeypatch):
    first = answer_to("How heavy is a zweihundert MT-3?")
    on = answer_to("and a zweihundert of steel?", follow=first.answer_id)
    answer_to("How heavy is a zweihundert MT-3?", fresh=False)
    for _killed in range(3):
        files = list(location.runs.glob(f"{ASKING}*.jsonl"))
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("storage.cleaning.threads.is_at_work", dies_at_second_call())
            remove_thread(location, on.answer_id)
        assert len(list(location.runs.glob(f"{ASKING}*.jsonl"))) == len(files) - 1
        if len(files) == 2:
            break
    remove_thread(location, on.answer_id)
    assert not holding(location, "zweihundert")


def dies_at_second_call():
    calls = iter((False, KeyboardInterrupt))

    def look(_path):
        if (found := next(calls)) is KeyboardInterrupt:
            raise KeyboardInterrupt
        return found

    return look


def test_a_thread_that_is_removed_meanwhile_gets_no_more_answers(location, monkeypatch):
    first = answer_to("How heavy is a zweihundert MT-3?")
    real = flows.ask.gather_answer

    def gathered(**parts):
        remove_thread(location, first.answer_id)
        return real(**parts)

    monkeypatch.setattr(flows.ask, "gather_answer", gathered)
    with pytest.raises(UnknownError):
        answer_to("and a second one?", follow=first.answer_id)
    assert not read_answers(location, present=())
