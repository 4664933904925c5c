"""Pages of blocks into a content graph: structure, describe, embed, evolve.

It imports algorithms, prompts and models; it knows nothing of runs, corpora or Prefect.
"""
