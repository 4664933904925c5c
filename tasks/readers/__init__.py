"""What the readers `plan`, `agent`, `map` and `walk` do: the steps of each, and what they share.

It imports `reading` and what stands below; `flows/readers` has a contents page for each.
"""
