"""The command line: the arguments, and what each command does.

It imports what it needs, heavy libraries inside the command that needs them; only `deployments` imports it.
"""
