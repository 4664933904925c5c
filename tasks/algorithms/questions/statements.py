"""Financial quantities that a question names, and the statements of an annual report that show them, by a glossary."""

import re
from collections.abc import Mapping
from enum import StrEnum

import numpy as np

from tasks.algorithms.arrays import FloatArray, require_range
from tasks.algorithms.text.kept import asked_part, kept_stems
from tasks.algorithms.text.stems import stem


class Statement(StrEnum):
    """The three statements that accounts consist of."""

    BALANCE = "balance sheet"
    INCOME = "income statement"
    CASH = "cash flow statement"


_WORDING = {
    Statement.BALANCE: "consolidated balance sheets total current assets total current liabilities and shareholders' equity",
    Statement.INCOME: "consolidated statements of income, earnings, operations: revenue, cost of sales, gross profit, operating"
    " income, income before income taxes, net income per share, basic, diluted",
    Statement.CASH: "consolidated statements of cash flows: operating activities, investing activities, financing activities,"
    " net increase or decrease in cash, end of year",
}

STATEMENT_STEMS: Mapping[Statement, tuple[str, ...]] = {
    statement: tuple(dict.fromkeys(kept_stems(wording, named=frozenset()))) for statement, wording in _WORDING.items()
}
"""The standard wording of each statement as stems, each once: headings and lines that hardly any company words otherwise."""

_BALANCE, _INCOME, _CASH = Statement.BALANCE, Statement.INCOME, Statement.CASH

_RATIOS = (
    # A year's flow over a stock: the flow is a line of the income statement, the stock one of the balance sheet.
    (
        "inventory turnover, asset turnover, receivables turnover, payables turnover, capital turnover, equity turnover",
        _INCOME,
        _BALANCE,
    ),
    ("turnover ratio, days sales, days inventory, days payable, days receivable, DSO, DIO, DPO", _INCOME, _BALANCE),
    ("cash conversion cycle, operating cycle", _INCOME, _BALANCE),
    ("return on assets, return on total assets, return on average assets, return on net assets, ROA", _INCOME, _BALANCE),
    ("return on equity, return on common equity, return on average equity, ROE", _INCOME, _BALANCE),
    ("return on capital, return on invested capital, return on investment, ROIC, ROCE, ROI", _INCOME, _BALANCE),
    # What is owned over what is owed, both on one day.
    ("current ratio, quick ratio, cash ratio, acid test, liquidity ratio, working capital", _BALANCE),
    (
        "debt to equity, debt to assets, debt to total assets, debt to capital, debt ratio, equity ratio, equity multiplier",
        _BALANCE,
    ),
    ("financial leverage, leverage ratio, gearing, capitalization ratio, capital structure", _BALANCE),
    ("invested capital, capital employed", _BALANCE),
    # One line of the income statement over another.
    ("gross margin, operating margin, net margin, profit margin, income margin, EBIT margin, return on sales", _INCOME),
    ("interest coverage, times interest earned, fixed charge coverage, effective tax, effective income tax", _INCOME),
    ("earnings per share, earnings per common share, earnings per ordinary share, EPS", _INCOME),
    # Depreciation is seldom a line of the income statement; the cash flow statement always adds it back.
    ("ebitda", _INCOME, _CASH),
    ("debt to ebitda", _INCOME, _BALANCE, _CASH),
    # Dividends are paid in cash, out of the year's income.
    ("dividend payout, payout ratio, retention ratio", _INCOME, _CASH),
    ("free cash flow, operating cash flow, cash flow from", _CASH),
)
"""What is computed from the statements, so that it needs them even where the text names its value."""

_LINES = (
    ("revenue, net sales, total sales, cost of sales, cost of goods, cost of revenue, COGS, gross profit", _INCOME),
    ("operating income, operating profit, operating expense, EBIT, SG&A, R&D, research and development", _INCOME),
    ("interest expense, income tax, net income, net earnings, net profit, net loss", _INCOME),
    ("total assets, current assets, fixed assets, net assets, intangible assets, average assets, to assets, goodwill", _BALANCE),
    ("inventory, receivables, cash and cash equivalents, property plant and equipment, PP&E", _BALANCE),
    ("total liabilities, current liabilities, payables, accrued liabilities, accrued expenses, accruals", _BALANCE),
    ("total debt, current debt, net debt, long term debt", _BALANCE),
    ("total equity, average equity, shareholders equity, stockholders equity, retained earnings", _BALANCE),
    ("cash flow, operating activities, investing activities, financing activities", _CASH),
    ("capital expenditure, capex, depreciation, dividends paid, repurchase", _CASH),
)
"""Lines of the statements, which other pages of a report speak of, too."""

_WORD = re.compile(r"[^\W_]+(?:&[^\W_]+)*")
_GENITIVE = re.compile(r"['\u2019]s\b")


def _framed(text: str, *, folded: bool) -> str:
    """Return the words, or their stems, between spaces, so that a term is found by whole words; "debt/equity" is a "to"."""
    words = _WORD.findall(_GENITIVE.sub("", text.casefold() if folded else text).replace("/", " to "))
    return f" {' '.join(map(stem, words) if folded else words)} "


def _read(table: tuple[tuple[str | Statement, ...], ...]) -> tuple[tuple[str, bool, tuple[Statement, ...]], ...]:
    """Return each term as it is looked for, whether by stems, and its statements; abbreviations only count in capitals.

    "ROE" and "COGS" are words in lower case.
    """
    return tuple(
        (_framed(term, folded=not term.strip().isupper()), not term.strip().isupper(), tuple(map(Statement, statements)))
        for terms, *statements in table
        for term in terms.split(",")
    )


_READ_RATIOS, _READ_LINES = _read(_RATIOS), _read(_LINES)


def named_statements(question: str, *, ratio: float, item: float) -> dict[Statement, float]:
    """Return the statements that show what a question names, with the larger weight of what names each.

    `ratio` is the weight of what is computed from a statement, `item` that of a line of it, both at least 0. What says how to write
    the answer names nothing.
    """
    asked = asked_part(question)
    stems, words = _framed(asked, folded=True), _framed(asked, folded=False)
    found: dict[Statement, float] = {}
    for weight, terms in ((ratio, _READ_RATIOS), (item, _READ_LINES)):
        for term, folded, statements in terms:
            if term in (stems if folded else words):
                found |= {statement: max(weight, found.get(statement, 0.0)) for statement in statements}
    return {statement: found[statement] for statement in Statement if statement in found}


def statement_page(*, counts: FloatArray, scores: FloatArray, share: float) -> int | None:
    """Return the place of the page that shows a statement, None where no page does; of equal ones the first.

    Args:
        counts: (P, m), how often each stem of the statement's wording stands on each page.
        scores: (P,), how well the wording matches each page, at least 0.
        share: of the wording's stems that the best page must hold, in [0, 1]; a page without any of them shows nothing.
    """
    require_range(name="scores of pages for a statement", values=scores, low=0.0, high=np.inf)
    if not len(scores):
        return None
    best = int(np.argmax(scores))
    held = np.count_nonzero(counts[best])
    return best if held and held >= share * counts.shape[1] else None
