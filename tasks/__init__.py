"""The steps of FlowReader, a folder a stage, in the order in which data passes.

Documents: finding, parsing, content_graph, ingest. Questions: asking, routing, reading, report. About both: evaluation, lineage,
watching. What all stages share: step (the one decorator), progress, events, settings, prompts, models, algorithms.
"""
