"""The pages for people: each file is a group of them, as HTML that works without script, too."""
