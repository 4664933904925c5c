"""Small evaluations for tests of whatever keeps and compares them."""

from collections.abc import Iterable

import polars as pl

from storage.records.evaluations import FIGURES, SCORED, Evaluation, Figure

SETTINGS = {"routing": {"demand": 6.0, "sources": 8, "only": ["text", "table"]}, "gate": True}
TWO_FIGURES = (
    Figure("flow", "all", "recall@5", 0.75, 0.5, 1.0, 4, 4),
    Figure("flow", "several pages", "recall@5", 1 / 3, 0.0, 0.5, 2, 2),
)


def framed(figures: Iterable[Figure]) -> pl.DataFrame:
    return pl.DataFrame(list(figures), schema=FIGURES)


def scored(arm: str, question: str, document: str, **values: float) -> pl.DataFrame:
    rows = [(arm, question, document, metric, value) for metric, value in values.items()]
    return pl.DataFrame(rows, schema=SCORED, orient="row")


def evaluation(run_id: str, *questions: pl.DataFrame, figures: Iterable[Figure] = TWO_FIGURES, **other: object) -> Evaluation:
    head: dict[str, object] = {
        "what": "retrieval",
        "started": "2026-01-01T00:00:00+00:00",
        "benchmark": "reports",
        "benchmark_hash": "a" * 64,
        "corpus": "default",
        "snapshot": 3,
        "scope": "document",
        "code": "0.1.0",
        "settings": SETTINGS,
    }
    scores = pl.concat([pl.DataFrame(schema=SCORED), *questions])
    return Evaluation(run_id=run_id, figures=framed(figures), scored=scores, **(head | other))  # type: ignore[arg-type]


def plain(evaluation: Evaluation) -> dict[str, object]:
    """Return all of an evaluation as it can be compared."""
    kept = {name: getattr(evaluation, name) for name in Evaluation.__slots__}
    return kept | {"figures": evaluation.figures.rows(named=True), "scored": evaluation.scored.rows(named=True)}
