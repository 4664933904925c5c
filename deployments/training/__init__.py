"""Apart from all else: the page rater of the reader `walk`, trained on documents of one's own. See its README."""
