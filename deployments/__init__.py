"""How FlowReader runs beside a Prefect server: what is deployed, and everything up with one command."""
