"""What happens while work is done, and who hears of it: log, metrics, Prefect.

It imports the events; no stage imports what it does with them.
"""
