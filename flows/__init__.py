"""What runs: one file for each flow, and the command line."""
