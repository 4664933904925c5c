"""Terrain, flow, chains, refinement (sections 3.4 and 3.5).

It imports `asking` and the algorithms of the flow; `reading` stands on it.
"""
