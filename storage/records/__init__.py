"""The frozen records that cross layers.

It imports nothing of ours.
"""
