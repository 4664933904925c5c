"""Evaluations are kept whole, and found by the beginning of their id."""

import duckdb
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from storage import evaluations
from storage.codec import CodecError
from storage.errors import AmbiguousError, UnknownError
from storage.evaluations import RESULTS, SCORES, find_evaluation, keep_evaluation, list_evaluations
from storage.records.evaluations import Figure
from storage.system import DiskFullError
from tests.storage.evaluation_worlds import evaluation, plain, scored

QUESTIONS = (
    scored("flow", "q1", "a.pdf", recall=1.0, mrr=1 / 3),
    scored("flow", "q2 näive \x00", "b.pdf", mrr=0.1),
    scored("top-k", "q1", "a.pdf", mrr=0.5),
)
FIRST = evaluation("eval-1111111111", *QUESTIONS, notes=("odd \udcff",))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
COUNTS = st.integers(0, 10_000)
SCORES_OF_ONE = st.dictionaries(WORDS, NUMBERS, min_size=1, max_size=3)
SCORED = st.dictionaries(st.tuples(WORDS, WORDS, WORDS), SCORES_OF_ONE, max_size=4)
FIGURES = st.builds(Figure, WORDS, WORDS, WORDS, NUMBERS, NUMBERS, NUMBERS, COUNTS, COUNTS)
TEXTS = st.dictionaries(WORDS, WORDS, max_size=3)


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rows")


@examples(max_examples=15)
@given(questions=SCORED, figures=st.lists(FIGURES, max_size=4), models=TEXTS, settings=TEXTS)
def test_an_evaluation_comes_back_as_it_was_kept_and_in_its_order(shared_folder, questions, figures, models, settings):
    scores = [scored(*names, **values) for names, values in questions.items()]
    kept = evaluation("eval-1", *scores, figures=figures, models=models, settings=settings)
    keep_evaluation(shared_folder, kept)
    assert plain(find_evaluation(shared_folder, "eval-1")) == plain(kept)


def test_the_list_shows_the_newest_first_and_no_single_question(tmp_path):
    folder = tmp_path / "evaluations"
    assert list_evaluations(folder) == [] and not folder.exists()
    second = evaluation("eval-0", *QUESTIONS, started="2026-01-02T00:00:00+00:00", figures=())
    for each in (FIRST, second):
        keep_evaluation(folder, each)
    assert [plain(one) for one in list_evaluations(folder)] == [plain(one) | {"scored": []} for one in (second, FIRST)]


def test_the_results_can_be_asked_in_sql(tmp_path):
    keep_evaluation(tmp_path, FIRST)
    rows = duckdb.sql(f"SELECT arm, avg(value) FROM '{tmp_path}/*/{SCORES}' WHERE metric = 'mrr' GROUP BY arm ORDER BY arm")
    assert rows.fetchall() == [("flow", pytest.approx((1 / 3 + 0.1) / 2)), ("top-k", 0.5)]


def test_the_beginning_of_an_id_names_its_evaluation(tmp_path):
    for run_id in ("abcdef-1", "abcdef-12", "abcxyz-1"):
        keep_evaluation(tmp_path, evaluation(run_id))
    assert find_evaluation(tmp_path, "abcxyz").run_id == "abcxyz-1"
    assert find_evaluation(tmp_path, "abcdef-1").run_id == "abcdef-1", "a whole id is never ambiguous"
    with pytest.raises(AmbiguousError, match="'abcdef' names 2 evaluations: 'abcdef-1', 'abcdef-12'; take more"):
        find_evaluation(tmp_path, "abcdef")


@pytest.mark.parametrize("asked", ["abcxy", "abcxyy", "abcxyz-1-longer", "ABCXYZ"])
def test_a_name_of_no_evaluation_is_refused(tmp_path, asked):
    keep_evaluation(tmp_path, evaluation("abcxyz-1"))
    with pytest.raises(UnknownError, match=f"no evaluation '{asked}'; name it by 6 or more .* `flowreader evaluate list` shows"):
        find_evaluation(tmp_path, asked)


@pytest.mark.parametrize("lost", [SCORES, RESULTS])
def test_an_end_between_its_files_leaves_no_half_and_the_same_run_again_puts_it_right(tmp_path, monkeypatch, lost):
    write = evaluations.write_durably

    def stopped(path, data):
        if path.name == lost:
            raise OSError(28, "No space left on device")
        write(path, data)

    with monkeypatch.context() as patched, pytest.raises(DiskFullError):
        patched.setattr(evaluations, "write_durably", stopped)
        keep_evaluation(tmp_path, FIRST)
    assert list_evaluations(tmp_path) == []
    for code in ("0.1.0", "0.2.0"):
        again = evaluation(FIRST.run_id, *QUESTIONS[1:], code=code)
        keep_evaluation(tmp_path, again)
        assert plain(find_evaluation(tmp_path, FIRST.run_id)) == plain(again)


@pytest.mark.parametrize("written", ["junk", "{}", '{"figures": [], "notes": [], "newer": 1}'])
def test_what_is_no_evaluation_of_this_version_is_named(tmp_path, written):
    keep_evaluation(tmp_path, FIRST)
    path = tmp_path / FIRST.run_id / RESULTS
    path.write_text(written)
    with pytest.raises(CodecError, match=f"'{path}' holds no evaluation that this FlowReader knows: .*move its folder away"):
        list_evaluations(tmp_path)
