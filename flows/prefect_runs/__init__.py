"""How a flow meets Prefect: its server, its runs, the pages in its UI.

It imports `flows.display` and the stages; flows and the command line import it.
"""
