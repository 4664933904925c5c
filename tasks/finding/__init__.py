"""What is to be read: files, folders, object stores, and what of it is new, changed, moved or gone.

It imports `parsing`, whose version decides what is read again, and storage; `ingest` stands on it.
"""
