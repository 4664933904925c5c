"""What a question says: its terms, its kind, the places that it names.

It imports the rooms `text` and `layout`.
"""
