"""Make the documents of tests/corpus.

.venv/bin/python tests/make_corpus.py [FOLDER]

The same versions of the libraries give the same bytes, whenever and wherever it is run.
"""

from __future__ import annotations

import sys
from pathlib import Path

from corpus_maker import annual_report, budget, manual, page, paper, questions, slides, strategy

DOCUMENTS = {
    "annual_report.pdf": annual_report.make,
    "quarterly_slides.pdf": slides.make,
    "paper.pdf": paper.make,
    "maintenance_manual.docx": manual.make,
    "budget.xlsx": budget.make,
    "strategy.pptx": strategy.make,
    "product_page.html": page.make,
}


def make_corpus(folder: Path) -> None:
    """Write the seven documents into a folder, made when it is missing, and their questions beside it: they are no document."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {name: make() for name, make in DOCUMENTS.items()}
    for name, content in made.items():
        (folder / name).write_bytes(content)
    folder.with_name(f"{folder.name}_questions.json").write_bytes(questions.make(made))


if __name__ == "__main__":
    make_corpus(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "corpus")
