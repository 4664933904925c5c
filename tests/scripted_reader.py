"""What a scripted chat server replies when documents are read in: by rule from the prompt, like a model that obeys."""

import re

from tests.chat_server import ChatRequest

MARK = re.compile(r"starts with ([0-9a-f]{8}) is ours")
RELATIONS = ("elaboration", "cause", "part", "contrast")


def pieces_of(prompt: str) -> dict[str, tuple[str, str]]:
    """Return the heading and the text of each piece that the prompt shows, by id."""
    mark = MARK.search(prompt)[1]
    material = prompt[prompt.index(f"\n{mark} ") : prompt.rindex(f"\n{mark} end")]
    found = {}
    for part in material.split(f"\n{mark} ")[1:]:
        heading, _, text = part.partition("\n")
        found[re.match(r"[nps]\d+|memory", heading)[0]] = heading, text
    return found


def reads_well(request: ChatRequest):
    """Reply as asked: describe by the first words, link with every other candidate, rewrite in the first round only."""
    pieces = pieces_of(request.prompt)
    if request.form == "NoteJudgements":
        return {"nodes": [judged(name, *piece) for name, piece in pieces.items() if "candidates" in piece[0]]}
    if request.form == "MapNotes":
        return {"nodes": [{"id": name, "summary": summed_up(text)} for name, (_heading, text) in pieces.items()]}
    if request.form == "PageReading":
        return page_read(request.prompt, pieces)
    visual = request.form == "VisualDescriptions"
    return {"nodes": [described(name, *piece, visual=visual) for name, piece in pieces.items()]}


def described(name: str, heading: str, text: str, *, visual: bool):
    words = re.findall(r"\w+", text)
    told = {
        "id": name,
        "keywords": list(dict.fromkeys(words))[:8],
        "summary": " ".join(["It tells of", *words[:20]]),
        "tags": ["report"],
    }
    return (
        told | {"tags": ["chart", "report", "energy"], "words": "Axis 1 2 3" if "picture 1" in heading else ""} if visual else told
    )


def page_read(prompt: str, pieces):
    """Read a page: titles open sections, the last element explains what is remembered first, figures hold three words."""
    remembered = [name for name, (heading, _) in pieces.items() if "remembered" in heading]
    shown = {name: piece for name, piece in pieces.items() if name != "memory" and name not in remembered}
    asked = re.findall(r"n\d+", re.search(r"entry for each of (.*?), and for no other id", prompt)[1])
    titles = [name for name, (heading, _) in shown.items() if heading.endswith(": title")]
    drawn = [name for name, (heading, _) in shown.items() if heading.endswith((": figure", ": table"))]
    return {
        "sections": [{"id": name, "level": 1 + (place > 0)} for place, name in enumerate(titles[:10])],
        "elements": [{"id": name, "summary": summed_up(shown[name][1]), "looks": "grey"} for name in asked],
        "words": [{"id": name, "words": "Axis 1 2 3"} for name in drawn[:2]],
        "links": [{"source": [*shown][-1], "target": remembered[0], "relation": "explains"}] if remembered and shown else [],
        "memory": {"names": [{"name": "Thing", "ids": [*shown][:1]}], "topics": ["things"], "open": drawn[:5]},
    }


def summed_up(text: str) -> str:
    return " ".join(["It holds", *re.findall(r"\w+", text)[:20]])


def judged(name: str, heading: str, text: str):
    others = re.findall(r"n\d+", heading)[1:]
    summary, *rest = text.split("\n")
    keywords = next(line for line in rest if line.startswith("Keywords: ")).removeprefix("Keywords: ").split("; ")
    update = not summary.startswith("Rewritten")
    return {
        "id": name,
        "links": [{"to": other, "relation": RELATIONS[place % 4]} for place, other in enumerate(others[::2])],
        "update": update,
        "summary": f"Rewritten: {summary}" if update else "",
        "keywords": keywords[:4] if update else [],
    }
