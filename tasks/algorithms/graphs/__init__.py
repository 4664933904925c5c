"""Plans, queries and walks over the graph: what the readers `plan`, `agent`, `map` and `walk` compute.

It imports arrays, words and records; nothing here knows a question, a model or a setting.
"""
