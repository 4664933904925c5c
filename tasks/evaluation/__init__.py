"""From questions with known answers to figures with intervals.

It imports the readers and the metrics; flows import it.
"""
