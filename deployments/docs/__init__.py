"""The documentation: pages of Markdown, and what makes a site of them."""
