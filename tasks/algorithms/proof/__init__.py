"""What proves an answer, part by part: words that stand in a passage, or arithmetic on values that do."""
