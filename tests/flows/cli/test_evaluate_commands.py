"""`flowreader evaluate` as people and programs call it: what cannot be measured is refused at once, what was measured is at hand,
and Ctrl-C loses nothing.
"""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

from flows.cli import evaluate_commands
from flows.cli.evaluate_commands import STOPPED, AskingMeter
from flows.cli.main import main
from storage.evaluations import keep_evaluation
from storage.locations import corpus_location, evaluations_file, evaluations_folder, prefect_folder
from storage.records.evaluations import Figure
from tasks.models.chat.errors import Outcome
from tasks.progress import Progress, forget_stop, report, request_stop
from tests.evaluation_plans import small_benchmark
from tests.flows.cli.test_cli import heavy_loaded_by
from tests.kept_worlds import give_prefect_data
from tests.program import CHEAP, flowreader
from tests.storage.evaluation_worlds import evaluation, scored
from tests.tasks import event_worlds

EARLY, LATE = "0a63db1e-early", "5f9ed5fc-late"
STOP_SECONDS = 10.0
QUESTIONS_MORE = 57
"""With the three usual ones three batches: Ctrl-C comes when the first is kept."""


@pytest.fixture
def call(home, monkeypatch, capsys, tmp_path):
    """Run `evaluate` in this process, in a home without any corpus; return what it wrote to either stream."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=0):
        assert main(["evaluate", *map(str, arguments)]) == code
        return capsys.readouterr()

    return run


@pytest.fixture
def benchmark(tmp_path):
    return small_benchmark(tmp_path / "reports")


@pytest.fixture
def kept(home):
    """Two evaluations of the same questions: recall went up, and the demand."""
    home.mkdir()
    recalls = {EARLY: 0.5, LATE: 0.75}
    for day, (run_id, recall) in enumerate(recalls.items(), start=1):
        printed = [scored("flow", f"q{number}", f"{number}.pdf", **{"recall@5": recall}) for number in range(4)]
        figures = (Figure("flow", "all", "recall@5", recall, recall, recall, 4, 4),)
        other = {"started": f"2026-01-0{day}T10:30:00+00:00", "figures": figures, "settings": {"routing": {"demand": 5.0 + day}}}
        keep_evaluation(evaluations_file(), evaluation(run_id, *printed, **other))
    folder = evaluations_folder() / LATE
    folder.mkdir(parents=True)
    (folder / "recall-5.png").write_bytes(b"\x89PNG")
    return folder


REFUSED = {
    "a folder without questions": (["retrieval", "empty"], "empty", "questions.jsonl"),
    "a folder that is not there": (["answers", "nowhere"], "nowhere", "name the folder"),
    "a reader that nobody knows": (["retrieval", "reports", "--reader", "flow,magic"], "magic", "--help"),
    "no question at all": (["retrieval", "reports", "--limit", "0"], "0", "--help"),
    "too many at once": (["retrieval", "reports", "--at-once", "65"], "65", "--help"),
    "a judge without a server": (["answers", "reports", "--judge", "a-judge"], "a-judge", "FLOWREADER_CHAT_BASE_URL"),
    "a model that reads without a server": (["answers", "reports", "--settings", "model.toml"], "", "FLOWREADER_CHAT_BASE_URL"),
    "an ablation that nobody knows": (["ablations", "reports", "--only", "magic"], "magic", "without BM25"),
    "lines in a folder that is not there": (["retrieval", "reports", "--out", "nowhere/lines.jsonl"], "nowhere", "make it"),
    "lines in place of a folder": (["retrieval", "reports", "--out", "empty"], "empty", "name a file"),
    "settings that are not there": (["retrieval", "reports", "--settings", "nowhere.toml"], "nowhere.toml", "flowreader settings"),
    "a corpus that cannot be named so": (["retrieval", "reports", "--corpus", "../out"], "../out", "letters"),
    "a probe of a corpus that is not there": (["probe", "--corpus", "nothing"], "nothing", "flowreader ingest"),
    "an evaluation that was not kept": (["show", "123456"], "123456", "6 or more characters"),
    "a comparison with what was not kept": (["compare", "123456", "654321"], "123456", "6 or more characters"),
}


@pytest.mark.parametrize(("arguments", "value", "help_in"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_measured_is_refused_before_prefect_starts(call, benchmark, tmp_path, arguments, value, help_in):
    (tmp_path / "empty").mkdir()
    (tmp_path / "model.toml").write_text('[ask.reading]\nby = "model"\n')
    said = call(*arguments, "--json", code=2)
    error = json.loads(said.out)["error"]
    assert value in error["value"] and value in error["what"] and help_in in f"{error['what']}; {error['remedy']}"
    assert error["remedy"] and not said.err and not prefect_folder().exists()
    words = call(*arguments, code=2)
    assert not words.out and words.err.startswith("flowreader: ") and value in words.err


def test_an_estimate_of_a_table_needs_no_model_and_its_run_does(call, benchmark):
    asked = ("table", "molorag-2", benchmark, "--set", "ask.walk.pages=2", "--set", "ask.walk.alpha=1")
    work = json.loads(call(*asked, "--estimate", "--json").out)
    assert work["rows"] == 4 and work["calls"] == 0 < work["most_calls_of_questions"]
    assert "no model reads" in call(*asked, code=2).err and "no model reads" in call(*asked, "--by", "rules", code=2).err
    assert "ask.walk.alpha = 2" in call(*asked, "--set", "ask.walk.alpha=2", code=2).err
    with pytest.raises(SystemExit, match="2"):
        call(*asked, "--set", "alpha")


def test_a_refusal_and_looking_at_what_was_measured_load_nothing_heavy(home, kept, tmp_path):
    assert heavy_loaded_by("evaluate", "retrieval", tmp_path, code=2) == "[]"
    assert heavy_loaded_by("evaluate", "list") == heavy_loaded_by("evaluate", "show", EARLY) == "[]"


def test_where_nothing_was_measured_the_first_step_is_named(call):
    assert "flowreader evaluate probe --corpus" in call("list").out
    assert json.loads(call("list", "--json").out) == {"evaluations": []}


def test_what_was_measured_is_listed_the_newest_first(call, kept):
    listed = json.loads(call("list", "--json").out)["evaluations"]
    assert [one["run_id"] for one in listed] == [LATE, EARLY] and listed[0]["arms"] == ["flow"]
    assert not {"figures", "scored", "settings"} & set(listed[0])
    shown = call("list").out
    assert shown.index(LATE[:8]) < shown.index(EARLY[:8]) and "2026-01-02 10:30" in shown and "reports" in shown


def test_of_many_arms_the_list_names_the_first_and_counts_the_rest(call, kept):
    arms = ["full", *(f"without part {number}" for number in range(30))]
    figures = tuple(Figure(arm, "all", "recall@5", 0.5, 0.5, 0.5, 4, 4) for arm in arms)
    keep_evaluation(evaluations_file(), evaluation("9bcdef01-ablations", what="ablations", figures=figures))
    shown = " ".join(call("list").out.split())
    assert "full, without part 0 and 29 more" in shown and "part 7" not in shown
    assert next(one["arms"] for one in json.loads(call("list", "--json").out)["evaluations"] if one["what"] == "ablations") == arms


def test_an_evaluation_is_shown_again_by_the_beginning_of_its_id_with_its_pictures(call, kept):
    shown = call("show", LATE[:6]).out
    assert "75.0 (75.0-75.0)*" in shown and f"picture: {kept / 'recall-5.png'}" in shown.replace("\n", "")
    printed = json.loads(call("show", LATE[:6], "--json").out)
    assert printed["run_id"] == LATE and printed["pictures"] == [str(kept / "recall-5.png")]
    assert printed["figures"][0] | {"metric": "recall@5", "value": 0.75, "questions": 4} == printed["figures"][0]
    page = call("show", LATE[:6], "--markdown").out
    assert page.startswith("# Evaluation of retrieval: reports\n") and "| 75.0 (75.0-75.0)* |" in page


def heard(*reports):
    meter = AskingMeter(4)
    for subject, step in reports:
        meter.hear(Progress(subject=subject, step=step, done=1, total=1))
    return meter.describe()


def test_while_it_works_people_see_documents_read_in_questions_asked_and_by_whom():
    assert heard() == "0 of 4 questions asked; starting"
    assert heard(("a" * 64, "done"), ("b" * 64, "parse")) == "0 of 4 questions asked; reading documents, 1 done; parse"
    assert heard(("a" * 64, "done"), ("flow", "ask"), ("top-k", "ask")) == "2 of 4 questions asked; asking: top-k"
    request_stop()
    try:
        assert heard(("flow", "ask")) == "stopping; a second Ctrl-C ends it at once"
    finally:
        forget_stop()


def test_a_question_of_minutes_shows_how_many_calls_have_been_answered_those_from_the_cache_not_among_them():
    meter = AskingMeter(1)
    for outcome in (Outcome.OK, Outcome.INVALID, Outcome.CACHED):
        meter.count(event_worlds.call(outcome))
    assert meter.describe() == "0 of 1 questions asked, 2 calls; starting"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_a_line_that_changes_a_pipe_plain_lines_and_programs_nothing(monkeypatch, terminal):
    monkeypatch.setattr("flows.display.progress.LINE_SECONDS", 0.05)
    written = {}
    for quiet in (False, True):
        stream = io.StringIO()
        with evaluate_commands.show_progress(2, console=Console(file=stream, force_terminal=terminal, width=100), quiet=quiet):
            report("flow", "ask", 2, 2)
            time.sleep(0.5)
        written[quiet] = stream.getvalue()
    assert written[True] == "" and ("\x1b[" in written[False]) is terminal
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written[False])
    assert "2 of 2 questions asked; asking: flow" in shown and (re.search(r"flow \(\d+ s\)", shown) is not None) is terminal


def asked_so_far():
    return [line for path in corpus_location("small").evaluations.glob("*.asked") for line in path.read_bytes().splitlines()]


@pytest.mark.torture
def test_ctrl_c_while_questions_are_asked_ends_in_order_and_the_same_command_asks_only_the_rest(own_home, tmp_path):
    page = {"document": CHEAP[0], "evidence_pages": [1]}
    more = [
        page | {"id": f"more-{number}", "question": f"Which bolts of the MT-{number} are tightened?"}
        for number in range(QUESTIONS_MORE)
    ]
    folder = small_benchmark(tmp_path / "reports", *more)
    give_prefect_data(own_home)
    command = ["evaluate", "retrieval", str(folder), "--corpus", "small", "--reader", "flow", "--at-once", "1"]
    running = subprocess.Popen(
        [sys.executable, "-m", "flows.cli.main", *command],
        env={**os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not asked_so_far() and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    begun = time.monotonic()
    out, err = running.communicate(timeout=60)
    assert running.returncode == STOPPED == 130 and time.monotonic() - begun < STOP_SECONDS, err
    assert "the same command goes on" in err and not out and "Traceback" not in err and "leaked" not in err
    before = asked_so_far()
    assert 0 < len(before) < 3 + QUESTIONS_MORE
    done = flowreader(*command, "--json", home=own_home, check=0)
    printed = json.loads(done.stdout)
    assert max(one["questions"] for one in printed["figures"] if one["group"] == "all") == 3 + QUESTIONS_MORE
    after = asked_so_far()
    assert set(before) <= set(after) and len(after) == len(set(after)) == 3 + QUESTIONS_MORE
