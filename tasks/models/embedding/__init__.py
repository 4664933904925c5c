"""Texts in, unit vectors out: a model on this machine or behind a server.

It imports settings and the endpoints; torch only in its worker.
"""
