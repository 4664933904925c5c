"""The frozen records that cross layers.

They import nothing of ours.
"""
