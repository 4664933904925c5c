"""An ingest shows how far it is, and ends at a hundred."""


def test_an_ingest_leaves_a_bar_that_is_full(deployed):
    assert deployed["ingest"]["state"] == "Completed"
    kind, percent, told = deployed["pages"]["ingest-tides-progress"]
    assert (kind, percent, told) == ("progress", 100.0, "2\\/2 documents\\, 1 pages\\; done")
    assert "ingest-tides" in deployed["pages"]
