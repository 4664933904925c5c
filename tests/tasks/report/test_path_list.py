"""Paths in words: what they carried, what stands on them, what their readers said."""

from storage.answer_records import NamedDocument, PagePlace
from tasks.report.path_list import list_paths
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import a_node, a_path, a_record, a_table, evidence_of

PAPER = a_record(document_id("paper"), "paper.pdf")
FIRST, SECOND = a_node(PAPER.id, 0, "the first words", page=3), a_table(PAPER.id, 1, page=4)
EVIDENCE = evidence_of(FIRST, SECOND, records=(PAPER,))


def test_a_path_tells_its_figures_its_nodes_and_its_readers_words():
    shown = list_paths([a_path(0.5, FIRST, SECOND, answer="so <i>it</i> is")], EVIDENCE)
    assert "flow 0.5 · quality 0.5 · share 0.25" in shown
    assert "the first words" in shown
    assert "Table 1 · " in shown
    assert "so &lt;i&gt;it&lt;/i&gt; is" in shown


def test_a_node_on_two_paths_has_its_id_once():
    shown = list_paths([a_path(0.5, FIRST), a_path(0.25, FIRST, SECOND)], EVIDENCE)
    assert shown.count('id="node-1"') == 1
    assert shown.count('id="node-2"') == 1


def test_a_path_without_support_says_so():
    assert "Supports no answer." in list_paths([a_path(0.5, FIRST, answer="")], EVIDENCE)


def test_what_was_removed_or_read_again_is_told_and_not_quoted():
    lost = a_node(PAPER.id, 7)
    assert "read again with other settings" in list_paths([a_path(0.5, lost)], EVIDENCE)
    gone = a_node("f" * 64, 0)
    path = a_path(0.5, gone, answer="secret words")
    assert path.pages == (PagePlace(NamedDocument("f" * 64, "some.pdf"), 1),)
    shown = list_paths([path], evidence_of(FIRST, SECOND, records=(PAPER,), removed=frozenset({"f" * 64})))
    assert shown.count("The document was removed.") == 2
    assert "secret" not in shown


def test_of_what_was_only_replaced_the_readers_words_stay_and_nothing_is_said_to_be_removed():
    shown = list_paths([a_path(0.5, a_node("f" * 64, 0), answer="so it was")], EVIDENCE)
    assert "so it was" in shown and shown.count("The document was replaced, or read again, since this was answered") == 1
    silent = list_paths([a_path(0.5, a_node("f" * 64, 0), answer="")], EVIDENCE)
    assert "The document is not in the corpus any more." in silent
    assert "removed" not in shown + silent
