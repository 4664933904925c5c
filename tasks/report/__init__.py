"""The report of an answer: one self-contained HTML page.

It imports views, the graph and pictures of pages; the templates of views escape whatever documents say.
"""
