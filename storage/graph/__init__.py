"""The graph in LanceDB, and as arrays; what a question asks of them.

It imports records and hashes; it knows nothing of the catalog.
"""
