"""The report of an answer: one self-contained HTML page, and its page in Prefect.

It imports lineage and the records of answers; markup.py is the one place where text becomes HTML.
"""
