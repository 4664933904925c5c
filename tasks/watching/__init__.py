"""Listeners to the events of a run: the log, the metrics, Prefect.

It imports the events alone; no stage knows what listens.
"""
