"""What a run leaves, and how it is found again.

It imports the runs and the names of what wrote them; flows write and show by it.
"""
