"""The command `ingest` makes a run only where there is something to do."""

from tests.program import CHEAP, said


def test_a_second_ingest_does_nothing_and_makes_no_run(library, cheap_documents):
    runs = set((library / "corpora" / "small" / "runs").iterdir())
    before = said("status", "--corpus", "small", home=library)
    assert said("ingest", cheap_documents, "--corpus", "small", home=library) == before
    assert set((library / "corpora" / "small" / "runs").iterdir()) == runs


def test_an_estimate_does_nothing(home, cheap_documents):
    estimate = said("ingest", cheap_documents, "--estimate", home=home)
    assert estimate["documents"] == len(CHEAP) and estimate["seconds"] > 0
    assert not (home / "corpora").exists()
