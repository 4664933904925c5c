"""What decides an answer: the code, whose hash is known, and weights, refused by name; and how all of it is loaded."""

import ast
import asyncio
import fcntl
import importlib.metadata
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from storage.catalog.current import pin, read_current, snapshot_path
from storage.errors import RequestError
from storage.locations import corpus_location
from storage.records.documents import EmbedderIdentity
from tasks.algorithms.flow.sizes import FEATURES
from tasks.asking import deciding
from tasks.asking.deciding import EVALUATING, FITTING, LIBRARIES, ROOT, deciding_files, fitting_identity
from tasks.asking.deciding import code_identity as identity_of_code
from tasks.asking.opening import open_in_thread, warm_up_questions
from tasks.asking.weights import (
    SHIPPED,
    model_of,
    piece_weights,
    read_weights,
    shipped_weights,
    weights_of,
    weights_with,
    write_weights,
)
from tests.hung_corpus import HungCorpus


def imported_by(path: Path) -> set[Path]:
    """Return the files of ours that a file imports, packages' own among them."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            inner = (ROOT.joinpath(*parts[:end]) for end in range(1, len(parts) + 1))
            found.update(file for place in inner for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file())
    return found


def reached_from(*starts: Path) -> set[Path]:
    reached, left = set(), set(starts)
    while left:
        reached |= left
        left = {file for path in left for file in imported_by(path)} - reached
    return reached


def test_all_that_answers_import_is_in_the_hash():
    readers = (ROOT / "flows" / "readers").glob("*.py")
    reached = reached_from(ROOT / "flows" / "ask.py", *readers)
    assert ROOT / "tasks" / "algorithms" / "flow" / "min_cost.py" in reached and len(reached) > 100
    assert reached - set(deciding_files()) == {ROOT / "flows" / "__init__.py"}


def test_all_that_reads_documents_in_is_in_the_hash_what_runs_in_children_too():
    workers = [path for room in ("models", "parsing") for path in (ROOT / "tasks" / room).rglob("*.py")]
    reached = reached_from(ROOT / "flows" / "document_graph.py", *workers)
    assert ROOT / "tasks" / "ingest" / "steps.py" in reached
    assert reached <= set(deciding_files())


def test_every_prompt_but_the_judge_s_and_that_of_training_is_in_the_hash():
    prompts = set((ROOT / "tasks" / "prompts").glob("*.md"))
    assert {path.name for path in prompts - set(deciding_files())} == {"judge_answer.md", "triple_question.md"}


def test_what_only_evaluates_is_not_and_each_pattern_names_something():
    names = {path.relative_to(ROOT).as_posix() for path in deciding_files()}
    assert names.isdisjoint(
        {"tasks/evaluation/probing.py", "tasks/evaluation/plan.py", "tasks/report/page.py", "tasks/algorithms/metrics/bootstrap.py"}
    )
    assert {"tasks/evaluation/asking.py", "storage/catalog/schema.sql"} <= names
    assert all(list(ROOT.glob(pattern)) for pattern in EVALUATING)


def identities(folder, monkeypatch, *written):
    """Return the identity after each file that is written, beginning with none."""
    for room in ("prompts", "evaluation"):
        (folder / "tasks" / room).mkdir(parents=True)
    monkeypatch.setattr(deciding, "ROOT", folder)
    found = []
    for name, text in (("README.md", ""), *written):
        (folder / name).write_text(text)
        identity_of_code.cache_clear()
        found.append(identity_of_code())
    identity_of_code.cache_clear()
    return found


def test_another_line_of_code_of_a_prompt_or_of_a_glossary_is_another_identity(tmp_path, monkeypatch):
    changes = ("tasks/a.py", "x = 1\n"), ("tasks/a.py", "x = 2\n"), ("tasks/prompts/b.md", "Read."), ("tasks/c.toml", "d = 1\n")
    assert len(set(identities(tmp_path, monkeypatch, *changes))) == 5


def test_what_is_no_code_or_only_evaluates_changes_nothing(tmp_path, monkeypatch):
    changes = ("tasks/c.pyc", ""), ("tasks/evaluation/probing.py", "x = 1\n"), ("tasks/prompts/judge_answer.md", "Judge.")
    assert len(set(identities(tmp_path, monkeypatch, *changes))) == 1


def test_another_way_to_fit_is_another_identity_of_the_fit_alone(tmp_path, monkeypatch):
    (tmp_path / "tasks" / "evaluation").mkdir(parents=True)
    monkeypatch.setattr(deciding, "ROOT", tmp_path)
    identity_of_code.cache_clear()
    answers, fits = set(), set()
    for name in ("", *FITTING):
        for path in FITTING:
            (tmp_path / path).write_text("STRENGTH = 2.0\n" if path == name else "STRENGTH = 1.0\n")
        answers.add(identity_of_code())
        fits.add(fitting_identity())
    identity_of_code.cache_clear()
    assert len(answers) == 1 and len(fits) == 1 + len(FITTING)


def test_another_version_of_a_library_is_another_identity(monkeypatch):
    identity_of_code.cache_clear()
    seen = {identity_of_code()}
    known = importlib.metadata.version
    for library in LIBRARIES:
        monkeypatch.setattr(importlib.metadata, "version", lambda name, other=library: known(name) + "+ours" * (name == other))
        identity_of_code.cache_clear()
        seen.add(identity_of_code())
    identity_of_code.cache_clear()
    assert len(seen) == len(LIBRARIES) + 1 and all(len(identity) == 64 for identity in seen)


MINI = EmbedderIdentity("all-MiniLM-L6-v2", "bf16", 384)
OTHER = EmbedderIdentity("multilingual-e5-small", "fp32", 384)


@pytest.fixture
def path(tmp_path):
    """A file of the user's, fitted with the usual embedder."""
    found = tmp_path / "mine.json"
    fitted = shipped_weights().fitted.model_copy(update={"dataset": "mine", "embedder": model_of(MINI)})
    write_weights(found, shipped_weights().model_copy(update={"fitted": fitted}))
    return found


def changed(path, *keys, value):
    found = json.loads(path.read_text())
    part = found
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    path.write_text(json.dumps(found))


def test_what_is_written_is_read_again_by_people_and_by_us(path):
    weights = read_weights(path)
    assert weights.fitted.dataset == "mine" and weights.document == shipped_weights().document
    assert path.read_text().endswith("}\n") and len(path.read_text().splitlines()) > 20
    assert len(weights.corpus.logistic.weights) == len(FEATURES) and weights.corpus.logistic.bias == weights.corpus.bias


def test_the_shipped_weights_are_taken_where_no_file_is_named_and_say_what_they_hold_for():
    assert weights_of("", MINI, "") == weights_of("", OTHER, "x") == shipped_weights() == read_weights(SHIPPED)
    for tokens in (True, False):
        weights = shipped_weights(tokens=tokens)
        assert weights.holds_for(MINI, "", tokens=tokens)
        assert weights.holds_for(replace(MINI, precision="fp32"), "", tokens=tokens)
        for embedder, reranker, compared in ((OTHER, "", tokens), (MINI, "a-model", tokens), (MINI, "", not tokens)):
            assert not weights.holds_for(embedder, reranker, tokens=compared)
        assert weights_with(shipped_weights(), tokens=tokens) == weights


def test_weights_are_made_for_as_many_pages_as_can_be_asked_for():
    for weights in (shipped_weights().document, shipped_weights().corpus):
        assert sorted(weights.prices) == [3, 5, 8] and weights.prices[3] > weights.prices[5] > weights.prices[8] > 0


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        (["version"], 2, "is damaged: version '2': input should be 1"),
        (["version"], None, "is damaged: version 'None': input should be 1"),
        (["document", "bias"], float("nan"), "is damaged: document.bias 'nan': input should be a finite number"),
        (["corpus", "weights", 0], float("inf"), "is damaged: corpus.weights.0 'inf'"),
        (["document", "weights"], [0.5], "is damaged: document.weights"),
        (["document", "prices", "5"], 1.5, "is damaged: document.prices.5 '1.5'"),
        (["document", "prices"], {"5": 0.1}, "give a price for each of 3, 5, 8 pages"),
        (["fitted", "reader"], "plan", "is damaged: fitted.reader 'plan': input should be 'flow'"),
        (["fitted", "documents"], 0, "is damaged: fitted.documents '0'"),
        (["more"], 1, "is damaged: more '1': extra inputs are not permitted"),
    ],
)
def test_a_file_of_another_version_or_not_of_numbers_is_refused_by_name(path, keys, value, words):
    changed(path, *keys, value=value)
    with pytest.raises(RequestError) as refused:
        weights_of(str(path), MINI, "")
    assert words in str(refused.value)
    assert repr(str(path)) in str(refused.value) and "`flowreader evaluate fit DATASET` writes one" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((text, "is damaged: invalid json") for text in ("", "{", "\xff", "[" * 100_000)),
        ("[1]", "is damaged: input should be an object"),
        (" " * 1_000_001, "is not a plain file of at most 1,000,000 bytes"),
        (None, "cannot be read: No such file"),
    ],
    ids=range(7),
)
def test_a_file_of_other_json_and_one_that_is_not_there_are_refused_by_name(path, text, words):
    path.unlink() if text is None else path.write_bytes(text.encode("latin-1"))
    with pytest.raises(RequestError, match=f"mine.json' {words}"):
        read_weights(path)


def test_pieces_are_weighed_by_a_users_file_and_by_what_is_shipped_where_it_has_no_weights_for_them(path):
    shipped = shipped_weights().pieces
    write_weights(path, read_weights(path).model_copy(update={"pieces": shipped.model_copy(update={"bias": 7.0})}))
    assert piece_weights(str(path)) == replace(shipped.logistic, bias=7.0)
    write_weights(path, read_weights(path).model_copy(update={"pieces": None}))
    assert piece_weights(str(path)) == piece_weights("") == shipped.logistic


def test_a_users_file_of_another_embedder_or_reranker_is_refused_by_name(path):
    assert weights_of(str(path), MINI, "").fitted.dataset == "mine"
    with pytest.raises(RequestError) as refused:
        weights_of(str(path), OTHER, "")
    assert "'all-MiniLM-L6-v2/384', this corpus has 'multilingual-e5-small/384'" in str(refused.value)
    with pytest.raises(RequestError, match="fitted with the reranker '', there is 'bge' now; "):
        weights_of(str(path), MINI, "bge")


def is_free(path):
    """Whether nobody pins the snapshot."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


@pytest.fixture
def small_corpus(own_home):
    location = corpus_location("small")
    return location, snapshot_path(location, read_current(location).snapshot)


def test_the_snapshot_is_pinned_inside_the_block_only(small_corpus):
    location, path = small_corpus

    async def world():
        async with open_in_thread(location) as snapshot:
            assert snapshot.documents() and not is_free(path)
        assert is_free(path)

    asyncio.run(world())


def test_who_is_cancelled_while_the_store_is_slow_leaves_and_nothing_stays_pinned(small_corpus, monkeypatch):
    location, path = small_corpus
    slow = asyncio.Event()

    async def entered():
        async with open_in_thread(location):
            pytest.fail("it was cancelled before")

    async def world():
        loop = asyncio.get_running_loop()
        monkeypatch.setattr("storage.corpus.snapshot.pin", held_back(loop, slow))
        opening = asyncio.create_task(entered())
        await asyncio.wait_for(slow.wait(), 5)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(opening, 1)

    asyncio.run(world())
    assert is_free(path)


def held_back(loop, slow):
    """The real pin, half a second after it was asked for."""

    def later(*place):
        loop.call_soon_threadsafe(slow.set)
        time.sleep(0.5)
        return pin(*place)

    return later


def test_a_disk_that_hangs_leaves_the_loop_to_others(home):
    disk = HungCorpus("far")

    async def world():
        async def entered():
            async with open_in_thread(corpus_location("far")):
                pytest.fail("nothing comes from a disk that hangs")

        opening = asyncio.create_task(entered())
        await asyncio.wait_for(disk.asked(), 20)
        await asyncio.wait_for(asyncio.sleep(0.1), 1)
        assert not opening.done()
        opening.cancel()
        disk.end()

    asyncio.run(world())


PROGRAM = """
import asyncio, sys
from flows.ask import ask
from tasks.asking.request import AskRequest
from tasks.asking.opening import warm_up_questions

async def one():
    async for answer in ask(AskRequest(questions=("What is the weight of an MT-3 without its base?",), corpus="small")):
        return answer

warm_up_questions()
before = set(sys.modules)
assert asyncio.run(one()).citations
print(len(set(sys.modules) - before))
"""


@pytest.mark.torture
def test_a_question_loads_next_to_nothing_afterwards(asked_home):
    environment = {**os.environ, "FLOWREADER_HOME": str(asked_home)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20


def test_a_corpus_that_cannot_be_read_hinders_no_other_and_is_named(home, caplog):
    folder = corpus_location("torn").folder
    folder.mkdir(parents=True)
    (folder / "CURRENT").write_bytes(b"\xff")
    warm_up_questions()
    assert "corpus torn could not be loaded before it is asked" in caplog.text
