"""What is published: the catalog in DuckDB, CURRENT, what corpora name, what was removed.

The rename of CURRENT (current.py) is the commit. It knows nothing of the graph.
"""
