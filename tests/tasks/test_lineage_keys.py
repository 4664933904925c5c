"""A page of lineage is found from the page of what it explains."""

from tasks.lineage_keys import lineage_key, lineage_link


def test_the_link_leads_to_the_key_as_the_ui_has_it():
    assert lineage_key("ingest-a") == "ingest-a-lineage"
    assert lineage_link("ingest-a").endswith("(/artifacts/key/ingest-a-lineage)")
