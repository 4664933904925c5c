"""How many tokens Analyze and three Evolve rounds take, by documents read in with a scripted server as the chat model.

Its replies are as long as a model's, and rewrite every note in every round: what it says is made up, how much is read and written
is not. Tokens are counted by the client's estimates, which are rather too high.
"""

import hashlib
import json
import os
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from tasks.models.chat.request import picture_tokens, text_tokens
from tasks.settings.models import ModelSettings
from tests.bench.measuring import ROOT, Figure, Part, flowreader
from tests.chat_server import ChatRequest, chat_server
from tests.scripted_reader import pieces_of

SETTINGS = '[reading.analysis]\nby = "model"\n[reading.evolution]\nmode = "model"\n'
FOLDERS = (ROOT / "tests" / "corpus", ROOT.parent / "shared" / "data" / "mmlongbench" / "documents")
PROMISED_TOKENS, LONGEST_PAGES = 540_000, 25
"""A quarter of what G2-Reader's full evolution takes for a document (2,174,531, its Table 5)."""
SUMMARY_WORDS, KEYWORDS, PICTURE_WORDS, LINKED_SHARE = 24, 9, 50, 0.4
SENTENCE = "the array of turbines in the sound delivered more power during spring tides than the model of growth had said"
WORDS = SENTENCE.split()
RELATIONS = ("reference", "cause", "part", "elaboration", "sequence", "contrast", "hierarchy", "dependency")


class Reader:
    """Replies at a model's length, and counts the tokens that are read and written."""

    def __init__(self) -> None:
        self.tokens = 0

    def reply(self, request: ChatRequest) -> str:
        evolves = request.form == "NoteJudgements"
        asked = {name: piece for name, piece in pieces_of(request.prompt).items() if not evolves or "candidates" in piece[0]}
        text = json.dumps({"nodes": [self._node(name, *piece, request.form) for name, piece in asked.items()]})
        settings = ModelSettings()
        self.tokens += text_tokens(len(request.text), 1, settings.estimates) + picture_tokens(len(request.images), settings)
        self.tokens += text_tokens(len(text), 0, settings.estimates)
        return text

    def _node(self, name: str, heading: str, text: str, form: str) -> dict[str, Any]:
        dice = random.Random(hashlib.sha256(f"{heading}{text}".encode()).digest())
        words = sorted({word for word in text.split() if len(word) > 4 and word.isalpha()}) or ["none"]
        keywords = [" ".join(dice.choices(words, k=2)) for _ in range(KEYWORDS)]
        said = {"id": name, "keywords": keywords, "summary": " ".join(dice.choices(WORDS, k=SUMMARY_WORDS))}
        if form == "NoteJudgements":
            others = [other.strip(",") for other in heading.split()[2:]]
            links = [{"to": other, "relation": dice.choice(RELATIONS)} for other in others if dice.random() < LINKED_SHARE]
            return said | {"links": links, "update": True}
        said["tags"] = ["tidal energy", "operating results", "comparison"][: 2 if form == "Descriptions" else 3]
        if "Visual" in form:
            said["words"] = " ".join(dice.choices(WORDS, k=PICTURE_WORDS if "no picture" not in heading else 0))
        return said


def measure(folders: Sequence[Path] = FOLDERS) -> Part:
    """Read every document of the folders that are there, each into a home of its own."""
    figures, raw = [], {}
    for folder in filter(Path.is_dir, folders):
        spent = {path.name: spend(path) for path in sorted(folder.iterdir()) if path.is_file()}
        raw[folder.name] = spent
        tokens = [tokens for pages, tokens in spent.values() if pages <= LONGEST_PAGES and tokens]
        if tokens:
            what = f"{folder.name}, {len(tokens)} documents up to {LONGEST_PAGES} pages"
            figures += [
                Figure(f"tokens of a document, mean of {what}", mean(tokens)),
                Figure(f"tokens of a document, most of {what}", max(tokens), most=PROMISED_TOKENS),
            ]
    return figures, {"pages_and_tokens": raw}


def spend(path: Path) -> tuple[int, int]:
    """Return the pages and the tokens of a document; no token where it cannot be read."""
    reader = Reader()
    with (
        tempfile.TemporaryDirectory(prefix="flowreader-bench-") as folder,
        chat_server(reader.reply, keep_requests=False) as server,
    ):
        settings = Path(folder, "model.toml")
        settings.write_text(SETTINGS)
        os.environ["FLOWREADER_CHAT_BASE_URL"] = server.base_url
        run = flowreader(Path(folder), "ingest", path, "--settings", settings)
    return run.reply["totals"]["pages"], reader.tokens
