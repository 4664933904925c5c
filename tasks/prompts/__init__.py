"""Every prompt, a file each, and the one place where their slots are filled and documents are fenced.

It imports records and hashes; stages with a model import it.
"""
