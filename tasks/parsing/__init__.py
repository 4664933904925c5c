"""A file into pages of blocks, in confined child processes; words out of pictures.

It imports the layout, the settings and the OCR engine; what a child loads stays light. The file formats are a table in formats.py.
"""
