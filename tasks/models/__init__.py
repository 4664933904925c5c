"""The only code that talks to a chat model, an embedder or an OCR engine.

It imports settings and prompts; stages import it.
"""
