"""One careful client of an OpenAI-compatible server: attempts, deadlines, budget, cache, schema with one re-ask.

It knows calls and replies, and nothing of what is asked.
"""
