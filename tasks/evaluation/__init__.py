"""From questions with known answers to figures with intervals.

It imports what answers and what measures; only flows import it.
"""
