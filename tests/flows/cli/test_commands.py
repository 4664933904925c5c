"""The commands, run as people run them, on a corpus that was really ingested."""

import json
import shutil
import subprocess
import sys

import pytest

from flows.cli.corpus_commands import show_corpus
from flows.display.output import Output
from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.locations import corpus_location
from storage.records.documents import SkippedFile
from storage.runs.at_work import at_work
from storage.runs.log import RunLog
from tasks.settings.ask import AllSettings, load_settings, method_of
from tasks.views.corpora import view_corpus
from tests.program import CHEAP, flowreader, said
from tests.storage.worlds import EMBEDDER, corpus_in, graph, record, writing


def test_status_lists_every_document_with_its_sums(library):
    status = said("status", "--corpus", "small", home=library)
    assert {document["name"] for document in status["documents"]} == set(CHEAP)
    assert status["totals"]["states"] == {"ready": len(CHEAP)} and status["skipped"] == []
    assert status["totals"]["nodes"] == sum(document["nodes"] for document in status["documents"]) > 40


def test_a_long_list_of_what_was_skipped_is_cut_for_people_alone(in_library, capsys):
    skipped = [SkippedFile(path=f"/in/{number}\n.pdf", reason="a symbolic link") for number in range(30)]
    with open_for_reading(corpus_location("small")) as snapshot:
        corpus = view_corpus(snapshot, [], skipped)
    show_corpus(corpus, [], Output(as_json=False))
    shown = capsys.readouterr().out
    assert shown.count("\nskipped ") == 20 and "10 more skipped" in shown and "\n.pdf" not in shown and len(corpus.skipped) == 30


def test_a_file_with_the_bytes_of_another_is_said_to_be_the_same_document(home):
    report = graph("report")
    with writing(corpus_location("small")) as corpus:
        corpus.publish(graphs=[report], records=[record(report, "/a/report.pdf", "/b/copy.pdf", "/c/report.pdf")])
    assert "report.pdf: copy.pdf is the same document" in flowreader("status", "--corpus", "small", home=home, check=0).stdout
    (document,) = said("status", "--corpus", "small", home=home)["documents"]
    assert (document["name"], document["other_names"]) == ("report.pdf", ["copy.pdf"])
    assert said("documents", "show", "copy.pdf", "--corpus", "small", home=home)["id"] == report.document_id


def test_status_shows_an_ingest_that_is_at_work_and_one_that_was_killed(own_home, tmp_path):
    log = RunLog(own_home / "corpora" / "small" / "runs" / "0123456789ab.jsonl")
    with at_work(log.path):
        log.begin(run_id="0123456789ab", parameters={"paths": [str(tmp_path)]}, settings={}, code_version="1")
        log.plan(documents=9)
        going = flowreader("status", "--corpus", "small", home=own_home, check=0).stdout.splitlines()[0]
        (told,) = said("status", "--corpus", "small", home=own_home)["at_work"]
    assert going.startswith(f"01234567: {tmp_path} is being read in already, since ") and going.endswith("0 of 9 documents done")
    assert (told["run_id"], told["paths"], told["done"], told["documents"]) == ("0123456789ab", [str(tmp_path)], 0, 9)
    after = said("status", "--corpus", "small", home=own_home)
    assert after["at_work"] == [] and [each["run_id"] for each in after["killed"]] == ["0123456789ab"]


def test_a_document_is_shown_by_name_or_id(library):
    shown = said("documents", "show", "maintenance_manual.docx", "--corpus", "small", home=library)
    assert shown["sections"] and shown["kinds"]["title"] >= 3
    assert said("documents", "show", shown["id"][:8], "--corpus", "small", home=library) == shown


def test_the_export_is_canonical(library, tmp_path):
    flowreader("documents", "export", "--corpus", "small", "--output", tmp_path / "all.json", home=library, check=0)
    exported = json.loads((tmp_path / "all.json").read_bytes())
    assert len(exported) == len(CHEAP)
    text = (tmp_path / "all.json").read_text()
    assert str(library) not in text and "run_id" not in text
    assert flowreader("documents", "export", "--corpus", "small", home=library, check=0).stdout == text


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (("status", "--corpus", "absent"), "absent"),
        (("status", "--corpus", "../evil"), "../evil"),
        (("documents", "show", "absent.pdf", "--corpus", "small"), "absent.pdf"),
        (("documents", "show", "abc", "--corpus", "small"), "abc"),
        (("ingest", "/absent/folder"), "/absent/folder"),
        (("ingest",), "PATH"),
        (("ingest", "--stages", "parse,analyze"), "parse,analyze"),
        (("ingest", "--stages", "analyze,embed,evolve", "--include", "*.pdf"), "--include"),
        (("ingest", "--stages", "analyze,embed,evolve", "--corpus", "absent"), "absent"),
        (("nonsense",), "nonsense"),
        (("ingest", "/tmp", "--settings", "/absent.toml"), "/absent.toml"),
    ],
)
def test_errors_name_the_value_and_exit_with_2(library, arguments, value):
    done = flowreader(*arguments, home=library, check=2)
    assert value in done.stderr and not done.stdout and "Traceback" not in done.stderr
    error = json.loads(flowreader(*arguments, "--json", home=library, check=2).stdout)["error"]
    assert set(error) == {"what", "value", "remedy"} and value in error["what"] + error["value"] and error["remedy"]


def test_settings_show_value_bounds_and_reason_and_can_stand_in_a_file(home, tmp_path):
    text = flowreader("settings", home=home, check=0).stdout
    lines = text.splitlines()
    assert "limits.memory_megabytes = 3072  # private memory of one parser child (ge=256, le=65536)" in lines
    assert "# models.budget.calls is not set" in text and len(lines) <= 70 and "rounds" not in text
    (tmp_path / "all.toml").write_text(text)
    assert load_settings(tmp_path / "all.toml") == AllSettings()
    assert load_settings(tmp_path / "all.toml", "paper") == method_of("paper"), "what users turn no preset sets"
    assert "reading.evolution.rounds = 3" in flowreader("settings", "--method", home=home, check=0).stdout
    assert said("settings", home=home)["settings"]["limits"]["memory_megabytes"] > 0


def test_removing_gives_a_receipt_and_leaves_nothing(own_home):
    receipt = said("documents", "remove", "strategy.pptx", "--now", "--corpus", "small", home=own_home)
    assert receipt["gone"]["nodes"] > 0 and receipt["gone"]["files"] > 0 and receipt["document"]["name"] == "strategy.pptx"
    status = said("status", "--corpus", "small", home=own_home)
    assert "strategy.pptx" not in {document["name"] for document in status["documents"]}
    assert said("doctor", "--corpus", "small", home=own_home)["findings"] == []
    assert not (own_home / "steps" / receipt["document"]["id"][:2] / receipt["document"]["id"]).exists()
    assert b"strategy.pptx" not in b"".join(path.read_bytes() for path in (own_home / "artifacts").rglob("*") if path.is_file())
    flowreader("corpora", "remove", "small", home=own_home, check=0)
    assert said("corpora", "list", home=own_home) == {"corpora": []}
    assert not [path for path in (own_home / "artifacts").rglob("*") if path.is_file()]


def test_removing_a_corpus_says_what_its_files_wait_for(library, own_home):
    other = corpus_in(own_home, "other")
    with open_for_writing(other, embedder=EMBEDDER, wait_seconds=0):
        removed = flowreader("corpora", "remove", "small", home=own_home, check=0).stdout
        assert "its files stay for now: corpus 'other' is being written; a later ingest deletes them" in " ".join(removed.split())
        shutil.copytree(library / "corpora" / "small", own_home / "corpora" / "small")
        told = said("corpora", "remove", "small", home=own_home)
    assert (told["files"], told["postponed"]) == (0, "corpus 'other' is being written")


def test_head_may_leave_early(library):
    done = subprocess.run(
        f"FLOWREADER_HOME={library} {sys.executable} -m flows.cli.main documents export --corpus small | head -c 10",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert len(done.stdout) == 10 and "Traceback" not in done.stderr


def test_a_second_ingest_does_nothing_and_makes_no_run(library, cheap_documents):
    runs = set((library / "corpora" / "small" / "runs").iterdir())
    before = said("status", "--corpus", "small", home=library)
    assert said("ingest", cheap_documents, "--corpus", "small", home=library) == before
    assert set((library / "corpora" / "small" / "runs").iterdir()) == runs


def test_an_estimate_does_nothing(home, cheap_documents):
    estimate = said("ingest", cheap_documents, "--estimate", home=home)
    assert estimate["documents"] == len(CHEAP) and estimate["seconds"] > 0 and set(estimate["calls_of_a_question"].values()) == {0}
    assert not (home / "corpora").exists()


def test_verify_ends_with_0_where_all_is_found_with_1_where_not_and_with_2_where_nothing_can_be_checked(in_library, tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with open_for_reading(corpus_location("small")) as snapshot:
        words = next(
            node.content for record in snapshot.documents() for node in snapshot.nodes(record.id) if len(node.content) > 80
        )
    quote = " ".join(words.split()[:8])
    well = flowreader("verify", "-", "--corpus", "small", home=in_library, check=0, input=f"“{quote}”")
    assert well.stdout.startswith(f'✓ "{quote}"') and "1 of 1" in well.stdout
    text = f"“{quote}” (nowhere.pdf) and “nobody ever said this”"
    (tmp_path / "reply.md").write_text(text)
    some = flowreader("verify", tmp_path / "reply.md", "--corpus", "small", home=in_library, check=1).stdout
    assert "↪" in some and "nowhere.pdf" in some and '✗ "nobody ever said this" does not stand in the documents' in some
    shown = said("verify", tmp_path / "reply.md", "--corpus", "small", home=in_library, check=1)
    assert [check["verdict"] for check in shown["checks"]] == ["elsewhere", "missing"] and not shown["left_out"]
    for source, corpus, what in (
        ("bytes", "small", "UTF-8"),
        ("gone", "small", "cannot be read"),
        ("reply.md", "smal", "no corpus"),
    ):
        refused = said("verify", tmp_path / source, "--corpus", corpus, home=in_library, check=2)["error"]
        assert what in refused["what"] and refused["remedy"]
    assert said("verify", "-", "--corpus", "small", home=in_library, check=2)["error"]["what"] == "the text is empty"
