"""What the readers `plan`, `agent`, `map` and `walk` share, and the steps of each: what was found for which question, and in which order.

It imports `reading` and what stands below; `flows/readers` has a contents page for each.
"""
