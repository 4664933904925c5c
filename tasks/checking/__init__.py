"""Whether what a text claims stands in the documents: its quotes, word by word, and its numbers. No model is asked.

Nothing of this is kept, and no Prefect is needed.
"""
