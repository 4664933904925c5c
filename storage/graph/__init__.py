"""The graph in LanceDB, and as arrays; what a question asks of them.

It imports records and filters; nothing of the catalog.
"""
