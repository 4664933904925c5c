"""A folder is a copy of one store, or of none."""

import pytest

from storage.shared_copy import StoreMismatchError
from tests.storage.shared_worlds import exports, refused


@pytest.mark.parametrize("file", ["CURRENT", "catalog.duckdb"])
def test_a_corpus_of_this_machine_alone_is_never_taken_for_a_copy(bare, file):
    bare[0].folder.mkdir(parents=True)
    (bare[0].folder / file).write_bytes(b"its own")
    for use in (exports, refused):
        with pytest.raises(StoreMismatchError, match=r"'default' in .* is of this machine alone, not of 's3://"):
            use(bare[0])
    assert (bare[0].folder / file).read_bytes() == b"its own"


def test_a_copy_of_another_store_is_never_taken_for_this_ones(machines):
    machines[0].store_note.write_text("s3://other/corpora/default")
    machines[0].current.unlink()
    with pytest.raises(StoreMismatchError, match=r"is a copy of 's3://other/corpora/default', not of 's3://.*/default'"):
        exports(machines[0])
