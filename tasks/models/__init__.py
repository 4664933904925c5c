"""The only code that talks to a chat model, an embedder or an OCR engine.

It imports the settings and the files that keep replies; it knows nothing of the stages, which import it.
"""
