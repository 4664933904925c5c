"""What corpora name is tried with all that clean-up does; here, how their writers are kept out."""

from storage.catalog.in_use import corpora_in, in_use, quiet
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
