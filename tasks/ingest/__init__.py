"""A document through its steps, what came of it, publishing, maintenance.

It imports `finding`, `parsing`, `content_graph` and the corpus; flows import it.
"""
