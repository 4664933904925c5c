"""Words, stems, counts: what a text says, as numbers.

It imports no other room of the algorithms.
"""
