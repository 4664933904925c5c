"""Rows of tables say what stands above them where nothing else does."""

from storage.records import NodeKind
from tests.tasks.structure_worlds import MORE, block, structure


def test_rows_of_a_table_without_header_open_with_the_line_above_it():
    table = block(NodeKind.TABLE, "", 0.3, 0.5, html=MORE)
    near = structure([block(NodeKind.PARAGRAPH, "In millions, 2023", 0.27), table])
    far = structure([block(NodeKind.PARAGRAPH, "In millions, 2023", 0.1), table])
    other = structure([block(NodeKind.FOOTNOTE, "In millions, 2023", 0.27), table])
    assert [found.rows[0].text for found in (near, far, other)] == ["In millions, 2023 | South | 3.9", *["South | 3.9"] * 2]
