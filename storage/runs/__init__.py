"""One file a run: lineage, calls, answers; what models said.

It imports the catalog, which says what may still be shown, and records.
"""
