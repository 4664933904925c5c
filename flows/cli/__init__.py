"""The command line: what can be said, and what is done then.

It imports whatever it needs, heavy libraries inside the command that needs them; only `deployments` imports it.
"""
