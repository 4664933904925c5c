"""What is shown: one model for each thing, which is its JSON, and the ways to draw it: text, Markdown, HTML, and text for chats.

Views are made from open snapshots; templates hold the words. This room imports what reads and finds, and no page or command.
"""
