"""What a run leaves, and the walk from an answer to the bytes that it stands on.

It imports storage; steps and flows write by it, the display reads.
"""
