"""What runs in the parser's child process."""
