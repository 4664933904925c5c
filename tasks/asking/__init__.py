"""A question: what it says, its candidates and their scores (section 3.3), its calls.

It imports algorithms, models and the graph; `routing` and `reading` stand on it.
"""
