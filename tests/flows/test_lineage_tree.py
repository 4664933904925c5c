"""One tree, two ways to write it; on a page of Markdown nothing that somebody wrote works as markup."""

import re

from flows.lineage_tree import SHOWN, MarkdownTree, TerminalTree
from flows.showing import Output


def written(tree):
    tree.heading("run <b>1</b>")
    tree.line(0, "![a](http://x)")
    tree.line(1, "paths: /in")
    tree.line(2, "`node`\n# torn")
    tree.some(1, [f"line {number}" for number in range(SHOWN + 2)])
    tree.go_on("small", "lineage 12345678")
    return tree


def test_a_page_has_headings_and_lists_below_lists_and_all_else_is_text():
    page = written(MarkdownTree()).markdown
    assert page.startswith("## run \\<b\\>1") and "\n- paths\\: \\/in\n  - \\`node\\` \\# torn\n" in page
    assert not re.search(r"(?<!\\)<", page) and "](http" not in page
    assert "- line 9\n- and 2 more\\; \\-\\-json has all" in page and "line 10" not in page
    assert page.endswith("- flowreader lineage 12345678 \\-\\-corpus small\n")


def test_a_terminal_shows_the_same_lines_indented(capsys):
    written(TerminalTree(Output(as_json=False)))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["run <b>1</b>", "![a](http://x)", "  paths: /in"] and "  and 2 more; --json has all" in lines
