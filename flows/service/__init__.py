"""The query service: takes questions over HTTP, and answers them in runs of the flow `ask` in this process.

It imports the flows; the command line and `deployments`, which starts it, import it.
"""
