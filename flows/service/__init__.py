"""Where people and programs ask over HTTP: questions taken in, and answered in runs of the flow `ask` in this process.

It imports the flows; the command line and `deployments`, which starts it, import it.
"""
