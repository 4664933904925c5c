"""One careful client of an OpenAI-compatible server: attempts, deadlines, budget, cache, schema.

It imports settings and the endpoints; nothing of the stages.
"""
