"""What flags may say, loaded in no time: ways of answering, each the module of its name in `flows/readers`; presets; sizes of
answers."""

from collections.abc import Mapping
from typing import Literal, get_args

Reader = Literal["flow", "top-k", "plan", "agent", "map", "walk", "pages", "direct"]
READERS: tuple[Reader, ...] = get_args(Reader)
MeasuredReader = Literal[Reader, "oracle", "adjusted"]
MEASURED_READERS: tuple[MeasuredReader, ...] = get_args(MeasuredReader)
READ_BY: Mapping[str, Reader] = {**{name: name for name in READERS}, "oracle": "pages", "adjusted": "pages"}
"""What reads for each reader of an evaluation: which pages are right, and how many `agent` read, is known nowhere else."""
PagesPerAnswer = Literal[3, 5, 8]
PAGES_PER_ANSWER: tuple[PagesPerAnswer, ...] = get_args(PagesPerAnswer)
READERS_HELP = (
    "flow routes evidence through the graph; top-k takes the best passages; plan takes a question apart; agent searches, "
    "queries and looks around; map goes by sections, text and figures; walk goes from page to page; pages takes the best pages "
    "whole; direct takes the first ones"
)
WORDS_SHOWN = (10, 5000)
"""The fewest and the most words that are quoted where no model answers."""
Preset = Literal["default", "paper", "flowreader", "g2", "lad", "dmap", "molorag"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
PRESETS_HELP = "the method: what measured better, or the steps and numbers of a paper; paper is flowreader"
READER_OF_PRESET: Mapping[Preset, Reader] = {
    "default": "flow",
    "paper": "flow",
    "flowreader": "flow",
    "g2": "plan",
    "lad": "agent",
    "dmap": "map",
    "molorag": "walk",
}
"""The reader that a preset is of; another may be named."""
