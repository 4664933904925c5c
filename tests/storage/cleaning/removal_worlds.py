"""A machine that has words of documents in every place that a removal looks at."""

from storage.artifacts import ArtifactStore
from storage.locations import (
    CorpusLocation,
    artifacts_folder,
    calls_folder,
    mirrors_folder,
    reports_folder,
    steps_folder,
)
from storage.memo import StepMemo
from storage.object_copies import copy_sign
from storage.records.documents import identify
from storage.records.evaluations import Asked
from storage.runs.asked_questions import AskedQuestions
from storage.runs.replies import CachedReply, CallCache, questions_owner
from tests.storage.answer_worlds import answer, keep, words_of
from tests.storage.worlds import document_id


def keep_words(place: CorpusLocation, name: str, run: str = "r1") -> None:
    """Leave words of a document on a machine, as asking, evaluating and reading it in do."""
    words, document, home = words_of(name).encode(), document_id(name), place.home
    keep(place, answer(name), run=run)
    AskedQuestions(place.evaluations).keep(identify("flow"), [Asked(identify(name), "q", "flow", (), (), 0.1, words_of(name), "?")])
    for owner in (document, questions_owner(place.name)):
        CallCache(calls_folder(home)).keep(owner, identify(name), CachedReply(words_of(name), "scripted", 1, 1))
    memo = StepMemo(steps_folder(home), ArtifactStore(artifacts_folder(home)))
    artifact = memo.artifacts.put(words)
    memo.remember(document, "parse", document, {"text": artifact})
    kept = {
        reports_folder(home) / f"{name}.html": words + document.encode(),
        mirrors_folder(home) / f"{copy_sign(f's3://files/{name}.pdf')}-1.pdf": words,
        home / "words" / artifact[:2] / artifact / "engine.json": words,
        place.catalog.with_name(f"{place.catalog.name}.damaged-1"): b"all",
    }
    for path, data in kept.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def has_words(place: CorpusLocation, name: str) -> list[str]:
    """Return the files of a machine that hold words of the document."""
    signs = (f"s of {name}".encode(), f"path of {name}".encode(), f"heading of {name}".encode())
    files = [path for path in place.home.rglob("*") if path.is_file()]
    return [str(path.relative_to(place.home)) for path in files if any(sign in path.read_bytes() for sign in signs)]
