"""Removing and cleaning: a document goes from all its owners, at once or when the last reader is gone."""
