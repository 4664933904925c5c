"""Questions in a row, asked of a corpus: what one takes from the one before, and what is left when the thread is removed."""

import pytest

from storage.cleaning.removing import remove_document
from storage.cleaning.threads import remove_thread
from storage.corpus.snapshot import open_for_reading
from storage.errors import UnknownError
from storage.locations import corpus_location, reports_folder
from storage.runs.answers import read_answers
from tasks.asking.request import AskRequest, QuestionError
from tasks.asking.threads import find_thread
from tests.asking_worlds import COAST, TORQUE, WEIGHT, answer_to, answers_to
from tests.waiting import files_below

ON = "and at the Quessant narrows?"


@pytest.fixture
def location(own_home):
    return corpus_location("small")


def test_a_follow_up_is_asked_with_what_it_leaves_out_and_says_so(location):
    first = answer_to(COAST)
    second = answer_to(ON, follow=first.answer_id[:8])
    third = answer_to(WEIGHT, follow=second.answer_id)
    assert (first.asked_as, first.follows, first.thread) == (COAST, None, first.answer_id)
    assert (second.question, second.asked_as) == (ON, f"{ON} (about: {COAST})") and second.pages[0].page == 4
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
    assert other.asked_as == f"why? (about: {TORQUE})" and other.pages[0].document.name == "maintenance_manual.docx"


def test_a_thread_stays_in_the_documents_that_it_began_in_unless_others_are_named(location):
    first = answer_to("How much is planned?", documents=("budget.xlsx",))
    assert {page.document.name for page in answer_to("and why?", follow=first.answer_id).pages} == {"budget.xlsx"}
    wider = answer_to("and why?", follow=first.answer_id, documents=("strategy.pptx", "budget.xlsx"))
    assert {page.document.name for page in wider.pages} == {"budget.xlsx", "strategy.pptx"}


def test_a_conversation_that_its_client_keeps_is_understood_from_its_questions_alone(location):
    first = answer_to(COAST)
    second = answer_to("why?", earlier=("Hello there, who are you?", COAST, ON))
    assert second.asked_as == f"why? (about: {COAST})" and second.follows is None
    lent = answer_to(ON, earlier=(COAST,))
    assert (lent.follows, lent.thread) == (first.answer_id, first.answer_id), "a kept answer lends its passages"
    many = answer_to("why?", earlier=tuple(f"What is the price of part {number}?" for number in range(500)))
    assert many.asked_as == "why? (about: What is the price of part 499?)"


@pytest.mark.parametrize(
    ("limits", "problem", "says"),
    [
        ({"follow": "12345678"}, UnknownError, "no answer '12345678' in corpus 'small'"),
        ({"follow": "why"}, UnknownError, "no answer 'why'"),
        ({"questions": ("why?", "how?"), "follow": "12345678"}, QuestionError, "and 2 were asked"),
        ({"questions": ("why?", "how?"), "earlier": (COAST,)}, QuestionError, "and 2 were asked"),
    ],
)
def test_what_cannot_be_followed_is_refused_in_words(location, limits, problem, says):
    with open_for_reading(location) as snapshot, pytest.raises(problem, match=says):
        find_thread(snapshot, AskRequest(**{"questions": ("why?",), "corpus": "small", **limits}))


def test_a_removed_thread_is_found_nowhere_and_others_stay(location):
    words = "How heavy is a zweihundert MT-3 without its base?"
    other, first = answer_to(COAST), answer_to(words, fresh=False)
    answer_to(words, fresh=False)
    last = answer_to("and a zweihundert of steel?", follow=first.answer_id, fresh=False)
    report = reports_folder(location.home) / f"{last.answer_id}.html"
    report.parent.mkdir(exist_ok=True)
    report.write_text(f"{last.answer_id} zweihundert")
    removed = remove_thread(location, last.answer_id[:8])
    assert (removed.thread, removed.answers, removed.reports) == (first.answer_id, 2, 1)
    assert not [path for path in files_below(location.home) if path.is_file() and b"zweihundert" in path.read_bytes()]
    assert [each.answer_id for each in read_answers(location, present=())] == [other.answer_id]
    with pytest.raises(UnknownError):
        answer_to("why?", follow=first.answer_id)


def test_of_a_batch_the_other_questions_stay(location):
    first, second = answers_to("How heavy is a zweihundert MT-3?", COAST)
    remove_thread(location, first.answer_id)
    assert [each.answer_id for each in read_answers(location, present=())] == [second.answer_id]
    assert not [path for path in files_below(location.runs) if path.is_file() and b"zweihundert" in path.read_bytes()]


def test_a_document_that_goes_takes_what_its_thread_quoted(location):
    first = answer_to(WEIGHT)
    second = answer_to("why?", follow=first.answer_id)
    remove_document(location, "product_page.html", now=True)
    with open_for_reading(location) as snapshot:
        for each in (first, second):
            cited = snapshot.answer(each.answer_id).citations
            assert not any(one.quote for one in cited if one.document.name == "product_page.html")
