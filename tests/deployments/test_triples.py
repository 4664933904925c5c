"""Triples for a page rater: a scripted model writes questions about pages of a small corpus, and rates them."""

import csv
import io
import json
import re
import shutil
from collections import Counter
from dataclasses import replace

import pytest
from PIL import Image

from deployments.training.records import read_triples
from deployments.training.train_rater import prompt_of
from deployments.training.triples import Draw, draw_pages, main
from storage.artifacts import ArtifactStore, hash_bytes
from storage.locations import artifacts_folder, corpus_location
from storage.records.documents import NodeKind
from storage.runs.views import read_run
from tests.asking_worlds import AxisEmbedder, Passage, answer_at, at_context, published, written
from tests.chat_server import chat_server
from tests.scripted_answers import Reader, forms, model_settings, of_form, pieces_of, question_of, read_by
from tests.storage.worlds import document_id

WORDS = ("tide", "blade", "cable", "price", "storm", "harbour")


def document(name, pages=6):
    passages = [Passage(f"The {WORDS[page % 6]} of {name} is {page} metres.", page=page + 1) for page in range(pages)]
    table = Passage("steel: price\n12: 40", page=1, kind=NodeKind.TABLE)
    vectors = AxisEmbedder().unit([f"{passage.text} {WORDS[0]}" for passage in passages])
    return replace(written(name, *passages, table), page_vectors=vectors)


def writes(request):
    """Write a question that says how it is to be rated, and rate it so."""
    if request.form == "WrittenQuestion":
        target = re.search(r"of the rating: (\d)", request.prompt)[1]
        return {"question": f"What is it, {target}?\n{pieces_of(request)[0][1][-20:]}", "answer": "metres"}
    return {"needed": "the metres", "relevance": int(re.search(r"What is it, (\d)", question_of(request))[1])}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return published(tmp_path_factory.mktemp("world"), document("alpha"), document("beta"), document("gamma", 3)).home


@pytest.fixture
def corpus(world, home):
    shutil.copytree(world, home)
    return corpus_location("default")


def made(out, monkeypatch, *arguments, reply=writes, **server):
    """Run the command; return its exit code and the server."""
    settings = out.parent / "settings.toml"
    settings.write_text("[ask.models.retries]\nattempts = 1\n")
    with chat_server(reply, **server) as served:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", served.base_url)
        code = main(["--corpus", "default", "--out", str(out), "--settings", str(settings), *arguments])
    return code, served


def lines(out, part="train"):
    return [json.loads(line) for line in (out / f"{part}.jsonl").read_text("utf-8").splitlines()]


def both(out):
    return lines(out) + lines(out, "held_out")


def test_pages_are_drawn_evenly_over_documents_and_targets_even_to_one():
    foci = {(name, page): ["text"] for name, pages in {"a": 30, "b": 30, "c": 2}.items() for page in range(1, pages + 1)}
    draws = draw_pages(foci, 33, seed=3)
    assert len({draw.page for draw in draws}) == 33
    assert sorted(Counter(draw.page[0] for draw in draws).values()) == [2, 15, 16]
    targets = Counter(draw.target for draw in draws)
    assert set(targets) == {1, 2, 3, 4, 5} and max(targets.values()) - min(targets.values()) <= 1
    assert draws == draw_pages(foci, 33, seed=3) != draw_pages(foci, 33, seed=4)
    assert Draw(("a", 1), 3, "table").wanted == "3, about a table on it" and Draw(("a", 1), 2, "table").wanted == "2"
    assert len(draw_pages(foci, 1000, seed=3)) == 62 and all(isinstance(draw, Draw) for draw in draws)


def test_a_triple_says_what_was_asked_of_which_page_and_no_document_is_in_both_parts(tmp_path, monkeypatch, corpus):
    code, server = made(tmp_path / "out", monkeypatch, "--neighbours", "0")
    assert code == 0 and forms(server) == {"WrittenQuestion": 15, "RatedPage": 15}
    train, held = lines(tmp_path / "out"), lines(tmp_path / "out", "held_out")
    assert len(train) + len(held) == 15 and held
    assert not {one["document"] for one in train} & {one["document"] for one in held}
    for one in train + held:
        assert one["label"] == one["target"] and one["needed"] == "the metres" and one["picture"] == ""
        assert one["question"].startswith(f"What is it, {one['target']}? ") and "\n" not in one["question"]
        assert f"is {one['page'] - 1} metres." in one["text"] and one["document_id"] == document_id(one["document"][:-4])
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "triples.csv").read_text())))
    assert {row["id"] for row in rows} == {one["id"] for one in train + held} and len({row["id"] for row in rows}) == 15
    (log,) = corpus_location("default").runs.glob("*.jsonl")
    calls = [entry["purpose"] for entry in read_run(log).entries if entry["kind"] == "call"]
    assert Counter(calls) == {"triple_question": 15, "rate_page": 15}
    code, server = made(tmp_path / "again", monkeypatch, "--neighbours", "0")
    first, again = ({path.name: path.read_bytes() for path in (tmp_path / name).glob("*.*")} for name in ("out", "again"))
    assert code == 0 and server.calls == 0 and first == again


def test_what_is_rated_otherwise_than_was_wanted_by_two_is_dropped_and_by_one_is_kept_as_rated(tmp_path, monkeypatch, corpus):
    def off(by):
        def reply(request):
            told = writes(request)
            return told | {"relevance": min(5, told["relevance"] + by)} if "relevance" in told else told

        return reply

    assert made(tmp_path / "two", monkeypatch, "--neighbours", "0", reply=off(2))[0] == 0
    assert {(one["target"], one["label"]) for one in both(tmp_path / "two")} == {(4, 5), (5, 5)}
    assert made(tmp_path / "one", monkeypatch, "--neighbours", "0", "--seed", "1", reply=off(1))[0] == 0
    assert {(one["target"], one["label"]) for one in both(tmp_path / "one")} == {(1, 2), (2, 3), (3, 4), (4, 5), (5, 5)}


def test_the_nearest_page_of_one_that_answers_is_rated_too_and_kept_whatever_it_is_rated(tmp_path, monkeypatch, corpus):
    def near(request):
        told = writes(request)
        if "relevance" in told and question_of(request)[-10:].strip() not in pieces_of(request)[0][1].replace("\n", " "):
            return told | {"relevance": 1}
        return told

    code, server = made(tmp_path / "out", monkeypatch, reply=near)
    assert code == 0 and forms(server)["RatedPage"] == 15 + 6
    neighbours = [one for one in both(tmp_path / "out") if one["target"] is None]
    assert len(neighbours) == 6 and {one["label"] for one in neighbours} == {1}
    for one in neighbours:
        (asked,) = [
            other for other in both(tmp_path / "out") if other["question"] == one["question"] and other["target"] is not None
        ]
        assert asked["label"] >= 4 and asked["document"] == one["document"] and asked["page"] != one["page"]


@pytest.mark.parametrize("listed", ["beta.pdf", "BETA", document_id("beta")])
def test_a_document_on_the_list_is_refused_by_name_and_never_shown(tmp_path, monkeypatch, corpus, capsys, listed):
    (tmp_path / "list.txt").write_text(f"another.pdf\n\n{listed}\n")
    code, server = made(tmp_path / "out", monkeypatch, "--not-in", str(tmp_path / "list.txt"))
    assert code == 0 and "beta.pdf is refused: " in capsys.readouterr().out
    assert not any("beta" in request.text for request in server.requests)
    assert {one["document"] for one in both(tmp_path / "out")} == {"alpha.pdf", "gamma.pdf"}


def test_a_page_is_rated_by_the_very_prompt_of_a_walk_and_learned_from_by_it(tmp_path, monkeypatch, corpus):
    _, server = made(tmp_path / "out", monkeypatch, "--neighbours", "0")
    triples = [*read_triples(tmp_path / "out", "train"), *read_triples(tmp_path / "out", "held_out")]
    assert {request.prompt for request in of_form(server, "RatedPage")} == {prompt_of(triple) for triple in triples}
    with (
        at_context(corpus) as context,
        read_by(context, Reader({}, instead={"RatedPage": writes}), settings=model_settings(walk={"everything": True})) as (
            place,
            _,
        ),
    ):
        answer = answer_at(place, triples[0].question, reader="walk")
    assert (answer.usage.cached, answer.usage.counts["pages rated"]) == (1, 15), "the reply of the triple is that of the walk"


def test_the_picture_that_was_seen_lies_beside_the_triples_by_its_hash(tmp_path, monkeypatch, home):
    shown = io.BytesIO()
    Image.new("RGB", (64, 64)).save(shown, "PNG")
    name = ArtifactStore(artifacts_folder()).put(shown.getvalue())
    alpha = document("alpha", 2)
    published(home, replace(alpha, pages=tuple(replace(page, image=name) for page in alpha.pages)))
    code, server = made(tmp_path / "out", monkeypatch, "--neighbours", "0", sees=True)
    assert code == 0 and {len(request.images) for request in server.requests} == {1}
    assert {one["picture"] for one in both(tmp_path / "out")} == {f"{hash_bytes(shown.getvalue())}.png"}
    assert [path.read_bytes() for path in (tmp_path / "out" / "pages").iterdir()] == [shown.getvalue()]


def test_a_line_that_is_struck_out_is_not_learned_from_and_no_cell_is_a_formula(tmp_path, monkeypatch, corpus):
    def formula(request):
        told = writes(request)
        return told | {"answer": '=HYPERLINK("http://example.org")'} if "answer" in told else told

    made(tmp_path / "out", monkeypatch, reply=formula)
    table = tmp_path / "out" / "triples.csv"
    assert all(row["answer"].startswith("'=") for row in csv.DictReader(io.StringIO(table.read_text())))
    before = read_triples(tmp_path / "out", "train")
    table.write_text("".join(line for line in table.read_text().splitlines(keepends=True) if before[0].id not in line))
    assert read_triples(tmp_path / "out", "train") == before[1:]


def test_what_cannot_be_done_is_said_with_the_remedy(tmp_path, monkeypatch, corpus, capsys):
    out, empty = tmp_path / "out", tmp_path / "list.txt"
    empty.write_text("\n")

    def said(*arguments, **more):
        assert made(out, monkeypatch, *arguments, **more)[0] == 2
        return " ".join(capsys.readouterr().err.split())

    assert "lists no document" in said("--not-in", str(empty))
    missed = said(reply=lambda request: writes(request) | misses(request), models=("weak",))
    assert "none of 15 pages of corpus 'default' was rated as was wanted" in missed
    assert made(out, monkeypatch)[0] == 0
    assert "holds triples already" in said()


def misses(request):
    """Rate the other end of the scale."""
    told = writes(request)
    return {"relevance": 5 if told["relevance"] <= 3 else 1} if "relevance" in told else {}
