"""The steps of FlowReader, one file a stage."""
