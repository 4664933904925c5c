"""A file of weights is refused by its name where it is cut, of another version, not of numbers, or of another embedder."""

import json
from dataclasses import replace

import pytest

from storage.records.documents import EmbedderIdentity
from tasks.algorithms.flow.sizes import FEATURES
from tasks.asking.weights import SHIPPED, WeightsError, model_of, read_weights, shipped_weights, weights_of, write_weights

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
    assert weights_of("", MINI) == weights_of("", OTHER) == shipped_weights() == read_weights(SHIPPED)
    assert shipped_weights().holds_for(MINI) and shipped_weights().holds_for(replace(MINI, precision="fp32"))
    assert not shipped_weights().holds_for(OTHER)


def test_a_file_from_before_benchmarks_were_named_is_read(path):
    written = json.loads(path.read_text())
    assert len(written["fitted"].pop("benchmark")) == 64
    path.write_text(json.dumps(written))
    assert read_weights(path).fitted.benchmark == ""


def test_weights_are_made_for_as_many_pages_as_can_be_asked_for():
    for weights in (shipped_weights().document, shipped_weights().corpus):
        assert sorted(weights.prices) == [3, 5, 8] and weights.prices[3] > weights.prices[5] > weights.prices[8] > 0


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        (["version"], 2, "is of version 2, 1 is read here"),
        (["version"], None, "is of version None"),
        (["document", "bias"], float("nan"), "is damaged: document.bias 'nan': input should be a finite number"),
        (["corpus", "weights", 0], float("inf"), "is damaged: corpus.weights.0 'inf'"),
        (["document", "weights"], [0.5], "is damaged: document.weights"),
        (["document", "prices", "5"], 1.5, "is damaged: document.prices.5 '1.5'"),
        (["document", "prices"], {"5": 0.1}, "a price is needed for each of 3, 5, 8 pages"),
        (["fitted", "reader"], "plan", "is damaged: fitted.reader 'plan': input should be 'flow'"),
        (["fitted", "documents"], 0, "is damaged: fitted.documents '0'"),
        (["more"], 1, "is damaged: more '1': extra inputs are not permitted"),
    ],
)
def test_a_file_of_another_version_or_not_of_numbers_is_refused_by_name(path, keys, value, words):
    changed(path, *keys, value=value)
    with pytest.raises(WeightsError) as refused:
        weights_of(str(path), MINI)
    assert words in str(refused.value)
    assert repr(str(path)) in str(refused.value) and "`flowreader evaluate fit DATASET` writes one" in str(refused.value)


@pytest.mark.parametrize("text", ["", "{", "\xff", "[" * 100_000])
def test_a_file_that_is_cut_is_refused_by_name(path, text):
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(WeightsError, match=r"mine.json' is cut or no JSON"):
        read_weights(path)


def test_a_file_of_other_json_and_one_that_is_not_there_are_refused_by_name(path):
    path.write_text("[1]")
    with pytest.raises(WeightsError, match="is of version None"):
        read_weights(path)
    with pytest.raises(WeightsError, match="is none: no plain file of at most 1,000,000 bytes"):
        read_weights(path.parent)
    path.unlink()
    with pytest.raises(WeightsError, match=r"mine.json' cannot be read: No such file"):
        read_weights(path)


def test_a_users_file_of_another_embedder_is_refused_by_name(path):
    assert weights_of(str(path), MINI).fitted.dataset == "mine"
    with pytest.raises(WeightsError) as refused:
        weights_of(str(path), OTHER)
    assert "'all-MiniLM-L6-v2/384', this corpus has 'multilingual-e5-small/384'" in str(refused.value)
