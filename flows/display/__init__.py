"""What people and programs see: tables, lines, bars, JSON.

It imports the wording of the stages and the records; it decides nothing. The command line and the pages in Prefect import it.
"""
