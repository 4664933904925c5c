"""A document through its steps, what came of it, publishing, removing, upkeep.

It imports finding, parsing and content_graph; flows import it.
"""
