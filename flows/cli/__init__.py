"""The command line: what can be said, and what is done then.

It imports everything below; nothing imports it. Heavy libraries are imported inside the commands that need them.
"""
