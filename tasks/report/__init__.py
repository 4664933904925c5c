"""The report of an answer: one self-contained HTML page.

It imports answers, the graph and pictures of pages; its templates escape whatever documents say.
"""
