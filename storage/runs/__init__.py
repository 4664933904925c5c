"""One file a run: lineage, calls, answers; replies of models.

It imports the catalog, which says what may still be shown, and records.
"""
