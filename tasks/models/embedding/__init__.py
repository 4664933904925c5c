"""Texts in, unit vectors out: by a model on this machine or behind a server.

torch is imported in its worker only; the question of a cold command goes without it.
"""
