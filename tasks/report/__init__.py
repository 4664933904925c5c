"""The report of an answer: one HTML page that needs nothing beside itself."""
