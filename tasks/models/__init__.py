"""The only code that talks to a chat model, an embedder or an OCR engine."""
