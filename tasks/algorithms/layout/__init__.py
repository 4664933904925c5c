"""From blocks on pages to a document: order, outline, captions, references.

It imports records only.
"""
