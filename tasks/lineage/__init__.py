"""What a run leaves, and the walk from an answer to the bytes that it stands on.

It imports the runs and the names of what wrote them; flows write and show by it.
"""
