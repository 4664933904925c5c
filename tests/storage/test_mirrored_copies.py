import fcntl
import os
from dataclasses import replace

import pytest

from storage.corpus import open_for_writing
from storage.current import snapshot_path
from storage.locations import mirrors_folder
from storage.mirrored_copies import LOCK, copies_unused, copy_sign, entries, forget_copies, forget_unshown_copies
from tests.storage.worlds import EMBEDDER, corpus_in, graph, record


def test_copies_go_from_every_mirror_by_their_sign_which_no_name_is_too_odd_for(tmp_path):
    odd, other = "s3://in/\udcff\ud800.pdf", "s3://in/other.pdf"
    for mirror in ("a", "b"):
        (mirrors_folder(tmp_path) / mirror).mkdir(parents=True)
        for shown in (odd, other):
            (mirrors_folder(tmp_path) / mirror / f"{copy_sign(shown)}-1.pdf").touch()
    forget_copies([copy_sign(odd)], tmp_path)
    left = {path.name for path in mirrors_folder(tmp_path).rglob("*.pdf")}
    assert left == {f"{copy_sign(other)}-1.pdf"} and len(copy_sign(odd)) == 40
    forget_copies([copy_sign(odd)], tmp_path / "nowhere")


def test_what_is_no_folder_of_copies_holds_none(tmp_path):
    mirrors_folder(tmp_path).mkdir(parents=True)
    (mirrors_folder(tmp_path) / "file").touch()
    forget_copies([copy_sign("x")], tmp_path)
    assert entries(mirrors_folder(tmp_path) / "gone") == []


SHOWN, ONLY_OURS = "s3://in/shown.pdf", "s3://in/ours.pdf"
SIGNS = [copy_sign(shown) for shown in (SHOWN, ONLY_OURS)]


@pytest.fixture
def other(tmp_path):
    """Another corpus of a machine with two copies, that shows the one."""
    (mirrors_folder(tmp_path) / "a").mkdir(parents=True)
    for sign in SIGNS:
        (mirrors_folder(tmp_path) / "a" / f"{sign}-1.pdf").touch()
    place = corpus_in(tmp_path, "other")
    with open_for_writing(place, embedder=EMBEDDER, wait_seconds=0) as corpus:
        corpus.publish(graphs=[graph("shown")], records=[replace(record(graph("shown")), paths=(SHOWN,))])
    return place


def left(home):
    return {path.name.partition("-")[0] for path in mirrors_folder(home).rglob("*.pdf")}


def test_what_another_corpus_shows_keeps_its_copy(other, tmp_path):
    assert forget_unshown_copies(SIGNS, corpus_in(tmp_path)) and left(tmp_path) == {SIGNS[0]}


def test_nothing_goes_while_somebody_reads_copies(other, tmp_path):
    with (mirrors_folder(tmp_path) / LOCK).open("w") as reader:
        fcntl.flock(reader, fcntl.LOCK_SH)
        assert not forget_unshown_copies(SIGNS, corpus_in(tmp_path)) and left(tmp_path) == set(SIGNS)
    with copies_unused(tmp_path) as unused:
        assert unused


def test_nothing_goes_where_a_corpus_cannot_be_asked_what_it_shows(other, tmp_path):
    os.truncate(snapshot_path(other, 1), 100)
    assert not forget_unshown_copies(SIGNS, corpus_in(tmp_path)) and left(tmp_path) == set(SIGNS)


def test_without_mirrors_none_is_made(tmp_path):
    assert forget_unshown_copies(SIGNS, corpus_in(tmp_path)) and not mirrors_folder(tmp_path).exists()
