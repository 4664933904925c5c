"""Where FlowReader keeps things: the records, the catalog, the graph, the artifacts and the lineage."""
