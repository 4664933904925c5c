"""Words, stems, counts: what a text says, as numbers.

It stands lowest among the algorithms, on `sharing` and `arrays` alone.
"""
