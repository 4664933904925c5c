"""The pages for people: each file is a group of them, as HTML that is read without script, too."""
