"""Makes the documents of tests/corpus: one file a document, and the figures of the company they all speak of."""
