"""Paths into readings, by rules or by a model, and readings into an answer; citations are checked here.

It imports `routing` and `asking`; the report, the evaluation and the readers stand on it.
"""
