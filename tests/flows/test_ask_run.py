"""A deployed question comes back as JSON, and leaves a page in Prefect and a report on the disk."""


def test_every_answer_is_returned_as_the_command_shows_it(deployed):
    torque, weight = deployed["ask"]["returned"]
    assert torque["status"] == "evidence" and torque["citations"][0]["document"]["name"] == "maintenance_manual.docx"
    assert "163" in str(weight["citations"])


def test_every_answer_leaves_a_page_and_a_report(deployed):
    for answer in deployed["ask"]["returned"]:
        kind, page, description = deployed["pages"][f"answer-{answer['answer_id'][:16]}"]
        assert kind == "markdown" and description.startswith(("With which torque", "What does an MT"))
        assert "## Evidence" in page and "data:image/svg+xml;base64," in page and f"{answer['answer_id']}\\.html" in page
        assert f"{answer['answer_id']}.html" in deployed["reports"]


def test_a_question_that_cannot_be_asked_fails_in_words(deployed):
    assert deployed["ask nobody"]["state"] == "Failed"
    assert "the question '?' holds no word; ask something of the documents" in deployed["ask nobody"]["message"]


def test_the_report_of_an_answer_goes_with_a_document_that_it_shows(deployed):
    reports = {f"{answer['answer_id']}.html" for answer in deployed["ask"]["returned"]}
    assert reports <= set(deployed["reports"]) and reports.isdisjoint(deployed["reports after removal"])
