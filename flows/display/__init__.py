"""What people and programs see: tables, lines, bars, JSON.

It imports records and the wording of the stages; it decides nothing.
"""
