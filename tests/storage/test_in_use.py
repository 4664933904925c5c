"""What corpora name is tried in test_garbage.py, with all that clean-up does; here, how their writers are kept out."""

from storage.in_use import in_use, quiet
from tests.storage.shared_worlds import writing
from tests.storage.worlds import corpus_in, graph, publish


def test_a_corpus_is_quiet_unless_somebody_writes_it_and_stays_so(tmp_path):
    place = corpus_in(tmp_path)
    with writing(place) as corpus, quiet(place) as alone:
        assert not alone
        publish(corpus, graph("report"))
    with quiet(place) as alone, quiet(place) as second:
        assert (alone, second) == (True, False)
    assert in_use([place])[0] == {graph("report").document_id}
