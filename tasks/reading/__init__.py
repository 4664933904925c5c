"""Paths into readings, by rules or by a model, and readings into an answer.

It imports asking and routing; citations are checked here.
"""
