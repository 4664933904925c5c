"""A corpus: open for writing, open for reading, tidied, examined, copied to an object store.

It imports the catalog, the graph and the runs; the stages import it.
"""
