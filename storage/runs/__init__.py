"""One file a run: lineage, calls, answers; what models said.

It imports records, codec and locations.
"""
