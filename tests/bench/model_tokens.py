"""How many tokens Analyze and three Evolve rounds take: `python -m tests.bench.model_tokens [--data FOLDER] [--rewritten SHARE]`.

Documents are read as an ingest reads them, against a scripted server whose replies are as long as a model's: what it says is
made up, how much is read and written is not. Tokens are counted by the client's estimates, which are rather too high.
"""

import argparse
import hashlib
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from storage.artifacts import ArtifactStore
from storage.kept_replies import CallCache
from tasks.analysis import analyze_nodes, embedding_text
from tasks.description_calls import described_places, describing
from tasks.document_steps import embed_nodes
from tasks.link_judgements import Judge
from tasks.model_analysis import describe_nodes
from tasks.model_evolution import evolve_by_model
from tasks.models.chat import ChatModel, open_chat
from tasks.models.chat_request import picture_tokens, text_tokens
from tasks.models.embedder import Embedder, default_identity, open_embedder
from tasks.models.endpoints import ChatEndpoint
from tasks.parsing import ParseError, parse_file, rules_for, stop_children
from tasks.picture_reading import read_words
from tasks.settings import IngestSettings
from tasks.structure import structure_document
from tests.bench.measuring import ROOT, Figure, Part, Verdict
from tests.chat_server import ChatRequest, chat_server
from tests.scripted_reader import pieces_of

SETTINGS = IngestSettings.model_validate({"reading": {"analysis": {"by": "model"}, "evolution": {"mode": "model"}}})
FOLDERS = (ROOT / "tests" / "corpus", ROOT.parent / "shared" / "data" / "mmlongbench" / "documents")
G2_READER_TOKENS = 2_174_531
"""What G2-Reader's full evolution takes for a document (its Table 5)."""
BOUND_TOKENS, GOAL_TOKENS, LONGEST_PAGES = 540_000, G2_READER_TOKENS // 10, 25
SUMMARY_WORDS, KEYWORDS, PICTURE_WORDS, LINKED_SHARE = 24, 9, 50, 0.4
WORDS = [
    "the",
    "array",
    "of",
    "turbines",
    "in",
    "the",
    "sound",
    "delivered",
    "more",
    "power",
    "during",
    "spring",
    "tides",
    "than",
    "the",
    "model",
    "of",
    "growth",
    "had",
    "said",
]
RELATIONS = ("reference", "cause", "part", "elaboration", "sequence", "contrast", "hierarchy", "dependency")


@dataclass
class Reader:
    """Replies at a model's length, and counts what is read and written; of the notes it rewrites this share in every round."""

    rewritten: float
    calls: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    def reply(self, request: ChatRequest) -> str:
        """Reply, and count."""
        purpose = "evolve" if request.form == "NoteJudgements" else "analyze"
        text = json.dumps({"nodes": [self._node(name, *piece, request.form) for name, piece in self._asked(request)]})
        estimates = SETTINGS.models.estimates
        read = text_tokens(len(request.text), 1, estimates) + picture_tokens(len(request.images), SETTINGS.models)
        self.calls[purpose] += 1
        self.tokens[purpose] += read + text_tokens(len(text), 0, estimates)
        self.tokens[f"{purpose} written"] += text_tokens(len(text), 0, estimates)
        return text

    def _asked(self, request: ChatRequest) -> list[tuple[str, tuple[str, str]]]:
        pieces = pieces_of(request.prompt).items()
        return [piece for piece in pieces if request.form != "NoteJudgements" or "candidates" in piece[1][0]]

    def _node(self, name: str, heading: str, text: str, form: str) -> dict[str, Any]:
        dice = random.Random(hashlib.sha256(f"{heading}{text}".encode()).digest())
        said = {"id": name, "keywords": _words(text, KEYWORDS, dice), "summary": " ".join(dice.choices(WORDS, k=SUMMARY_WORDS))}
        if form == "NoteJudgements":
            others = [other.strip(",") for other in heading.split()[2:]]
            links = [{"to": other, "relation": dice.choice(RELATIONS)} for other in others if dice.random() < LINKED_SHARE]
            again = dice.random() < self.rewritten
            said |= {"links": links, "update": again} | ({} if again else {"summary": "", "keywords": []})
            return said
        said["tags"] = ["tidal energy", "operating results", "comparison"][: 2 if form == "Descriptions" else 3]
        return said | (
            {"words": " ".join(dice.choices(WORDS, k=PICTURE_WORDS if "no picture" not in heading else 0))}
            if "Visual" in form
            else {}
        )


def _words(text: str, count: int, dice: random.Random) -> list[str]:
    words = sorted({word for word in text.split() if len(word) > 4 and word.isalpha()}) or ["none"]
    return [" ".join(dice.choices(words, k=2)) for _ in range(count)]


@dataclass(frozen=True, slots=True)
class Spent:
    """What a document took."""

    name: str
    pages: int
    nodes: int
    asked: int
    pictures: int
    document_tokens: int
    calls: int
    analyze_tokens: int
    evolve_tokens: int
    written_tokens: int

    @property
    def tokens(self) -> int:
        return self.analyze_tokens + self.evolve_tokens


def measure(folders: Sequence[Path] = FOLDERS, rewritten: float = 1.0) -> Part:
    """Read every document of the folders that are there."""
    figures, raw = [], {}
    for folder in (folder for folder in folders if folder.is_dir()):
        spent = [one for path in sorted(folder.iterdir()) if path.is_file() and (one := spend(path, rewritten))]
        raw[folder.parent.name + "/" + folder.name] = [asdict(one) for one in spent]
        figures += told(folder, spent)
    stop_children()
    return Part(figures, {"documents": raw, "rewritten": rewritten})


def told(folder: Path, spent: Sequence[Spent]) -> list[Figure]:
    """Return the rows of a folder."""
    document = sum(one.document_tokens for one in spent)
    rows = [
        Figure(f"{what} tokens per 1,000 of {folder.name}, {len(spent)} documents", f"{1000 * took / max(1, document):,.0f}")
        for what, took in (
            ("Analyze", sum(one.analyze_tokens for one in spent)),
            ("Evolve", sum(one.evolve_tokens for one in spent)),
        )
    ]
    short = [one for one in spent if one.pages <= LONGEST_PAGES]
    most = max(short, key=lambda one: one.tokens, default=None)
    if most is not None:
        within = Verdict.MET if most.tokens <= BOUND_TOKENS else Verdict.MISSED
        verdict = Verdict.GOAL if most.tokens <= GOAL_TOKENS else within
        what = f"most tokens of {len(short)} documents up to {LONGEST_PAGES} pages ({most.name[:24]}, {most.pages} p.)"
        rows.append(Figure(what, f"{most.tokens:,}", f"<= {BOUND_TOKENS:,}", f"<= {GOAL_TOKENS:,}", verdict))
        over = sum(one.tokens > GOAL_TOKENS for one in short)
        rows.append(Figure(f"of these over the goal; mean {sum(one.tokens for one in short) // len(short):,} tokens", f"{over}"))
    return rows


def spend(path: Path, rewritten: float) -> Spent | None:
    """Read a document; None where it cannot be read."""
    reader = Reader(rewritten)
    with tempfile.TemporaryDirectory() as folder, chat_server(reader.reply, keep_requests=False) as server:
        cache = CallCache(Path(folder) / "calls")
        with open_chat(ChatEndpoint(server.base_url), SETTINGS.models, cache=cache) as chat:
            try:
                return _spend(path, Path(folder), reader, chat, open_embedder(default_identity()))
            except ParseError:
                return None


def _spend(path: Path, folder: Path, reader: Reader, chat: ChatModel, embedder: Embedder) -> Spent:
    reading, artifacts = SETTINGS.reading, ArtifactStore(folder / "artifacts")
    document_id = hashlib.sha256(path.read_bytes()).hexdigest()
    quiet: Callable[[int, int], None] = lambda _done, _total: None  # noqa: E731
    parsed = parse_file(path=path, document_id=document_id, password=None, rules=rules_for(SETTINGS, artifacts), on_pages=quiet)
    parsed = read_words(parsed=parsed, settings=reading.ocr, artifacts=artifacts, cache_folder=folder / "words", on_pictures=quiet)
    weights = reading.evolution.structural_weights.by_kind()
    structured = structure_document(parsed=parsed, version="v", settings=reading.structure, structural_weights=weights)
    nodes = analyze_nodes(nodes=structured.nodes, rows=structured.rows, settings=reading.analysis)
    asking = describing(
        document_id=document_id, name=path.name, nodes=nodes, settings=reading.analysis, ocr=reading.ocr, artifacts=artifacts
    )
    described = describe_nodes(asking, chat=chat, on_nodes=quiet)
    assert not described.errors, next(iter(described.errors.values()))

    def embed(texts: Sequence[str]) -> Any:
        return embed_nodes(texts=texts, embedder=embedder, batch_nodes=reading.embedding.batch_nodes, on_nodes=quiet)

    subjects = described_places(described.nodes, reading.analysis, reading.ocr)
    judge = Judge(document_id, path.name, reading.evolution.model, chat, quiet, len(subjects))
    evolved = evolve_by_model(
        nodes=described.nodes,
        initial_vectors=embed([embedding_text(node, reading.embedding.text) for node in described.nodes]),
        subjects=subjects,
        settings=reading.evolution,
        judge=judge,
        embed=embed,
    )
    assert not evolved.errors, next(iter(evolved.errors.values()))
    return Spent(
        name=path.name,
        pages=len(parsed.pages),
        nodes=len(nodes),
        asked=described.asked,
        pictures=sum(node.picture is not None for node in nodes),
        document_tokens=text_tokens(sum(len(node.content) for node in nodes), 0, SETTINGS.models.estimates),
        calls=reader.calls.total(),
        analyze_tokens=reader.tokens["analyze"],
        evolve_tokens=reader.tokens["evolve"],
        written_tokens=reader.tokens["analyze written"] + reader.tokens["evolve written"],
    )


def main() -> None:
    """Print the table, and every document's line."""
    parser = argparse.ArgumentParser(prog="model_tokens", description=__doc__)
    parser.add_argument("--data", type=Path, action="append", help="folder of documents (repeatable)")
    parser.add_argument("--rewritten", type=float, default=1.0, help="share of the notes that a round rewrites (default: all)")
    asked = parser.parse_args()
    from tests.bench.measuring import CONSOLE, show

    part = measure(asked.data or FOLDERS, asked.rewritten)
    for documents in part.raw["documents"].values():
        for one in documents:
            CONSOLE.print(json.dumps(one))
    show("tokens", part)


if __name__ == "__main__":
    main()
