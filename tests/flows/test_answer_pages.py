"""What a removed document said does not stay in Prefect either."""


def test_pages_and_reports_of_answers_that_quote_a_removed_document_go(deployed):
    torque, weight = (f"answer-{answer['answer_id'][:16]}" for answer in deployed["ask"]["returned"])
    assert {torque, weight} <= set(deployed["pages"])
    assert torque not in deployed["pages after removal"] and weight in deployed["pages after removal"]
    assert f"{torque.removeprefix('answer-')}.html" not in deployed["reports after removal"]


def test_lineage_that_names_a_removed_document_goes_too(deployed):
    torque = f"answer-{deployed['ask']['returned'][0]['answer_id'][:16]}-lineage"
    assert torque in deployed["pages"] and torque not in deployed["pages after removal"]
    assert "ingest-small-lineage" in deployed["pages"] and "ingest-small-lineage" not in deployed["pages after removal"]
    assert "ingest-tides-lineage" in deployed["pages after removal"]
