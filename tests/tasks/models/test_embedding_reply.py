import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.models.served_embedder import rows_of
from tasks.models.vector_checks import EmbeddingError


def body(data, **more):
    return json.dumps({"object": "list", "model": "m", "data": data} | more).encode()


def entry(index, numbers=(1.0, 2.0)):
    return {"index": index, "embedding": list(numbers)}


def rows(reply, texts=2):
    return rows_of(reply, texts=texts, model="m", source="server S")


def test_each_text_gets_its_numbers_as_they_came():
    found = rows(body([entry(0), entry(1, (3, 4))]))
    np.testing.assert_array_equal(found, [[1, 2], [3, 4]])
    assert len(rows(body([entry(0), entry(1)], model=None))) == 2, "some servers do not name the model"
    assert rows(body([]), texts=0) == []


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (body([entry(0)]), "gave 1 vectors for 2 texts"),
        (body([entry(0), entry(1), entry(2)]), "gave 3 vectors for 2 texts"),
        (body([entry(1), entry(0)]), r"in the order \[1, 0\], not in that of the texts"),
        (body([entry(0), entry(0)]), r"in the order \[0, 0\]"),
        (body([entry(0), {"embedding": [1.0]}]), "no vectors as the OpenAI protocol has them"),
        (body([entry(0), entry(1)], model="another"), "was asked for m and answered as 'another'.*FLOWREADER_EMBED_MODEL"),
        (body([entry(0), entry(1)], model=["m"]), "answered as"),
        (body([entry(0), entry(1, ["1.0", "2.0"])]), r"\['1.0', '2.0'\] where a list of numbers belongs"),
        (body([entry(0), entry(1, [None, 1.0])]), "where a list of numbers belongs"),
        (body([entry(0), entry(1, [[1.0], [2.0]])]), "where a list of numbers belongs"),
        (body([entry(0), {"index": 1, "embedding": "AAAA"}]), "'?AAAA'? where a list of numbers belongs"),
        (body([entry(0), {"index": 1, "embedding": []}]), None),
        (b"<html>", "no vectors as the OpenAI protocol has them .*FLOWREADER_EMBED_BASE_URL"),
        (b"[]", "no vectors"),
        (b'{"data": null}', "no vectors"),
        (b'{"data": [1, 2]}', "no vectors"),
        (b"\xff\xfe", "no vectors"),
        (b"[" * 100_000, "no vectors"),
    ],
)
def test_what_is_not_text_by_text_is_refused(reply, says):
    if says is None:
        assert rows(reply)[1].shape == (0,), "its length is looked at by whoever knows the dimension"
        return
    with pytest.raises(EmbeddingError, match=says) as refused:
        rows(reply)
    assert str(refused.value).startswith("server S") and "nothing was stored" in str(refused.value)


NAMES = st.sampled_from(["data", "index", "embedding", "model"])


def nested(inner):
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), nested, max_leaves=12))
def test_no_json_breaks_it(value):
    try:
        found = rows(json.dumps(value).encode())
    except EmbeddingError:
        return
    assert len(found) == 2
