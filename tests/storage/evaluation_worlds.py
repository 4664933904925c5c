"""Small evaluations for tests of whatever keeps and compares them."""

from collections.abc import Mapping

from storage.records.evaluations import Evaluation, Figure, Scored


def scored(arm: str, question: str, document: str, **values: float) -> Scored:
    return Scored(arm, question, document, values)


def evaluation(run_id: str, *questions: Scored, **other: object) -> Evaluation:
    settings: Mapping[str, object] = {"routing": {"demand": 6.0, "sources": 8, "only": ["text", "table"]}, "gate": True}
    said: dict[str, object] = {
        "what": "retrieval",
        "started": "2026-01-01T00:00:00+00:00",
        "benchmark": "reports",
        "benchmark_hash": "a" * 64,
        "corpus": "default",
        "snapshot": 3,
        "scope": "document",
        "code": "0.1.0",
        "settings": settings,
        "figures": (
            Figure("flow", "all", "recall@5", 0.75, 0.5, 1.0, 4, 4),
            Figure("flow", "several pages", "recall@5", 1 / 3, 0.0, 0.5, 2, 2),
        ),
    }
    return Evaluation(run_id=run_id, scored=questions, **(said | other))  # type: ignore[arg-type]
