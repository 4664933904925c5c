"""Pure functions, one idea a file: arrays and records in, arrays and records out."""
