"""What happens while work is done, and who hears of it: log, metrics, Prefect.

It imports the events alone; no stage knows who listens.
"""
