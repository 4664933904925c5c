"""What families of models want before a text."""

PREFIXES = {"nomic-embed-text-v1.5": ("search_document: ", "search_query: ")} | {
    f"{kind}{size}{version}": ("passage: ", "query: ")
    for kind, version in (("e5-", ""), ("e5-", "-v2"), ("multilingual-e5-", ""))
    for size in ("small", "base", "large")
}
"""Before a document and before a question, by the last part of the model's name; a model on this machine that has prompts of its
own gets those."""
