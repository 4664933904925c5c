"""How FlowReader runs with a Prefect server: what is deployed, and everything up with one command."""
