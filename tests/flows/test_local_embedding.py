"""A corpus whose vectors come from a model that the user names by its folder."""

import json

from tests.program import CORPUS, flowreader
from tests.tasks.models.embedding.tiny_bert import WIDTH, write_tiny_bert

QUESTION = "What is the budget for travel?"


def test_a_model_of_another_dimension_makes_a_corpus_of_its_own(home, monkeypatch, tmp_path):
    monkeypatch.setenv("FLOWREADER_EMBED_MODEL", str(write_tiny_bert(tmp_path / "tiny-bert", seed=1)))
    document = CORPUS / "budget.xlsx"
    flowreader("ingest", document, home=home, check=0)
    answer = json.loads(flowreader("ask", QUESTION, "--json", home=home, check=0).stdout)
    assert answer["models"]["embedder"].startswith("tiny-bert@") and answer["models"]["embedder"].endswith(f"/{WIDTH}")
    assert answer["pages"][0]["document"]["name"] == document.name

    monkeypatch.setenv("FLOWREADER_EMBED_MODEL", str(write_tiny_bert(tmp_path / "other" / "tiny-bert", seed=2)))
    refused = flowreader("ask", QUESTION, "--fresh", home=home, check=2)
    assert "embedded by tiny-bert@" in refused.stderr and "FLOWREADER_EMBED_MODEL is tiny-bert@" in refused.stderr
    monkeypatch.delenv("FLOWREADER_EMBED_MODEL")
    refused = flowreader("ask", QUESTION, "--fresh", home=home, check=2)
    assert "FLOWREADER_EMBED_MODEL is not set\nset it to the folder or name of that model" in refused.stderr
    refused = flowreader("ingest", document, home=home, check=2)
    assert "ingest into a new corpus with --corpus NAME" in refused.stderr
    flowreader("ingest", document, "--corpus", "another", home=home, check=0)
    assert json.loads(flowreader("ask", QUESTION, "--corpus", "another", "--json", home=home, check=0).stdout)["pages"]

    monkeypatch.setenv("FLOWREADER_EMBED_MODEL", "nobody/no-such-model")
    missing = flowreader("ingest", document, "--corpus", "third", home=home, check=2)
    assert "is not on this machine" in missing.stderr and "Traceback" not in missing.stderr
