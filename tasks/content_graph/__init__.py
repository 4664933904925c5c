"""Pages of blocks into a content graph: structure, describe, embed, evolve.

It imports algorithms and models; it knows nothing of runs or corpora.
"""
