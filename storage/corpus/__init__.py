"""A corpus: open for writing, open for reading, tidied, examined, exported, pushed and pulled.

It imports the catalog, the graph and the runs; the stages import it.
"""
