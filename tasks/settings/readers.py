"""What flags may say, loaded in no time: ways of answering, each the module of its name in `flows/readers`; presets; sizes of
answers."""

from collections.abc import Mapping
from typing import Literal, get_args

Reader = Literal["flow", "top-k", "plan", "agent", "map", "walk"]
READERS: tuple[Reader, ...] = get_args(Reader)
PagesPerAnswer = Literal[3, 5, 8]
PAGES_PER_ANSWER: tuple[PagesPerAnswer, ...] = get_args(PagesPerAnswer)
READERS_HELP = (
    "flow routes evidence through the graph; top-k takes the best passages; plan takes a question apart; agent searches, "
    "queries and looks around; map goes by sections, text and figures; walk goes from page to page"
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
