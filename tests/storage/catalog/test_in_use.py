"""What corpora name is tried in test_tidying.py, with all that clean-up does; here, how their writers are kept out."""

import time

from storage.catalog.in_use import corpora_in, delete_files, in_use, is_older, quiet
from storage.locations import corpora_folder, corpus_location
from tests.storage.worlds import corpus_in, graph, publish, writing


def test_folders_are_listed_by_name(home):
    assert corpora_in(corpora_folder()) == []
    for name in ("b", "a"):
        (corpora_folder() / name).mkdir(parents=True)
    (corpora_folder() / "file").touch()
    assert corpora_in(corpora_folder()) == [corpus_location("a"), corpus_location("b")]


def test_a_corpus_is_quiet_unless_it_is_written_and_stays_so(tmp_path):
    place = corpus_in(tmp_path)
    with writing(place) as corpus, quiet(place) as alone:
        assert not alone
        publish(corpus, graph("report"))
    with quiet(place) as alone, quiet(place) as second:
        assert (alone, second) == (True, False)
    assert in_use([place])[0] == {graph("report").document_id}


def test_files_that_go_meanwhile_are_neither_old_nor_deleted_and_stop_nothing(tmp_path):
    paths = [tmp_path / name for name in ("went", "there")]
    paths[1].write_bytes(b"words")
    assert [is_older(path, time.time() + 60) for path in paths] == [False, True]
    assert not is_older(paths[1], 0)
    assert delete_files(paths) == (("there",), 5) and delete_files(paths) == ((), 0)
