"""What is published: the catalog in DuckDB, CURRENT, what corpora name, what was removed.

It imports records and locations; the rename of CURRENT is the commit.
"""
