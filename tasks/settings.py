"""Every tuned number, once: with its bounds, its unit and its reason.

What changes the result of reading a document stands in ReadingSettings and enters the document's version;
limits, concurrency and publishing do not.
"""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from storage.records import EdgeKind
from tasks.model_settings import ModelSettings
from tasks.setting_group import Settings, dotted

__all__ = ["IngestSettings", "Settings", "SettingsError", "load_settings"]

S = TypeVar("S", bound=Settings)


class SettingsError(ValueError):
    """A settings file that cannot be used; the message names the value and the remedy."""


class ParseSettings(Settings):
    """How a file becomes pages of blocks."""

    tier: Literal["flash", "basic", "standard", "advanced"] = Field(
        "flash", description="MinerU's tier; all but flash need its models or a server"
    )
    pages_per_range: int = Field(
        24, ge=1, le=200, description="pages parsed by one child; bounds its memory, and what one bad page can cost"
    )
    crop_dpi: int = Field(144, ge=72, le=300, description="resolution of figure crops; letters of 6 points stay readable")
    minimum_crop_share: float = Field(
        0.003, ge=0, le=1, description="figures under this share of the page are ornaments and get no crop"
    )


class OcrSettings(Settings):
    """When and how words are read from pictures."""

    enabled: bool = Field(True, description="read pages and figures without text by OCR")
    page_dpi: int = Field(108, ge=72, le=300, description="few characters are lost between 72 and 144 dpi, time doubles")
    minimum_page_characters: int = Field(
        16, ge=0, le=1000, description="a page whose text layer has fewer characters is read by OCR"
    )
    minimum_figure_share: float = Field(0.03, ge=0, le=1, description="smaller figures (share of the page) are not read")
    repeated_pages: int = Field(3, ge=2, le=1000, description="a picture on so many pages is a logo and is not read")
    minimum_confidence: float = Field(0.5, ge=0, le=1, description="RapidOCR's own threshold for a line of text")


class StructureSettings(Settings):
    """How blocks become nodes."""

    merge_words: int = Field(90, ge=1, le=1000, description="short neighbours in a section are joined up to so many words")
    split_words: int = Field(
        180, ge=20, le=2000, description="longer paragraphs are cut at a sentence; the embedder reads 256 tokens"
    )
    repeated_share: float = Field(
        0.3,
        gt=0,
        le=1,
        description="a line at the edge of this share of the pages (three at least) is a header or footer",
    )
    edge_band: float = Field(0.12, gt=0, le=0.3, description="share of the page's height at its top and bottom where headers live")


class ModelAnalysisSettings(Settings):
    """How a model is asked what nodes say (eq. 11)."""

    nodes_per_call: int = Field(16, ge=1, le=64, description="small nodes in one call; the rules are read once for all of them")
    pictures_per_call: int = Field(4, ge=1, le=16, description="pictures in one call; a server takes only so many")
    characters_per_call: int = Field(12_000, ge=500, le=200_000, description="of all nodes in a call; 3,000 to 4,000 tokens")
    characters_per_node: int = Field(4000, ge=200, le=100_000, description="of a node; what is longer is cut, with a mark")
    context_characters: int = Field(300, ge=0, le=5000, description="of the text before and behind a figure or table")
    minimum_words: int = Field(6, ge=1, le=50, description="titles, and texts with fewer words, say what they are themselves")
    keywords: int = Field(16, ge=1, le=50, description="keywords of a node at most, the most telling first")
    reply_tokens: int = Field(300, ge=50, le=4000, description="room in the reply for each node")
    picture_reply_tokens: int = Field(1000, ge=100, le=8000, description="room for each picture, whose words are written down")


class AnalysisSettings(Settings):
    """What a node says of itself."""

    by: Literal["rules", "model"] = Field(
        "rules", description="rules: extracts and statistics; model: the chat model at FLOWREADER_CHAT_BASE_URL describes nodes"
    )
    summary_words: int = Field(40, ge=5, le=200, description="words of the summary; the papers ask for one sentence")
    keywords: int = Field(10, ge=1, le=50, description="keywords of a node, by rule")
    model: ModelAnalysisSettings = ModelAnalysisSettings()


class EmbeddingSettings(Settings):
    """What is embedded and how."""

    text: Literal["content", "paper"] = Field(
        "content",
        description="content: section titles, caption, raw text and words in the picture; paper: eq. 12, summary and keywords",
    )
    batch_nodes: int = Field(256, ge=1, le=4096, description="nodes a batch, cut in node order within a document")


class StructuralWeights(Settings):
    """What an edge weighs that the layout itself states: the surer the relation, the more."""

    next: float = Field(0.5, ge=0, le=1, description="to the next element in reading order")
    part_of: float = Field(0.6, ge=0, le=1, description="to the title of its section")
    refers_to: float = Field(0.8, ge=0, le=1, description='from "see Figure 3" to the figure')
    caption_of: float = Field(0.9, ge=0, le=1, description="from a caption to its figure or table")
    continues: float = Field(0.9, ge=0, le=1, description="over a page break")

    def by_kind(self) -> dict[EdgeKind, float]:
        """Return the weight of each kind of edge."""
        return {EdgeKind(kind): float(weight) for kind, weight in self.model_dump().items()}


class ModelEvolutionSettings(Settings):
    """How a model is asked what nodes have to do with each other (eq. 14)."""

    nodes_per_call: int = Field(16, ge=1, le=64, description="nodes judged in one call; those beside each other share neighbours")
    characters_per_call: int = Field(24_000, ge=500, le=200_000, description="of all nodes in a call and their candidates")
    content_characters: int = Field(
        0, ge=0, le=10_000, description="of a node's own text beside its summary; eq. 14 has none, 240 took a sixth more tokens"
    )
    summary_words: int = Field(30, ge=5, le=200, description="words of a rewritten summary at most")
    keywords: int = Field(10, ge=1, le=50, description="keywords of a rewritten node at most")
    reply_tokens: int = Field(300, ge=50, le=4000, description="room in the reply for each node: its links, and what is rewritten")


class EvolutionSettings(Settings):
    """The rounds of evolution, and the edges that come of them."""

    mode: Literal["lite", "model"] = Field(
        "lite",
        description="lite: G2-Reader's rule-based variant; model: summaries, keywords and links rewritten, with the relation",
    )
    rounds: int = Field(3, ge=0, le=10, description="T; more rounds smooth the vectors until nodes look alike, 0 leaves them")
    neighbours: int = Field(5, ge=1, le=50, description="semantic candidates of a node in each round")
    window: int = Field(3, ge=1, le=20, description="w: text nodes start linked this far in reading order")
    minimum_edge: float = Field(0.22, ge=0, le=1, description="r_min: window and semantic edges below this cosine are pruned")
    cross_minimum: float = Field(0.5, ge=0, le=1, description="cosine of round-0 vectors from which two documents are linked")
    cross_links: int = Field(8, ge=0, le=100, description="strongest mutual nearest neighbours linked between two documents")
    structural_weights: StructuralWeights = StructuralWeights()
    model: ModelEvolutionSettings = ModelEvolutionSettings()


class ReadingSettings(Settings):
    """Everything that changes what a document becomes; it enters the document's version."""

    parse: ParseSettings = ParseSettings()
    ocr: OcrSettings = OcrSettings()
    structure: StructureSettings = StructureSettings()
    analysis: AnalysisSettings = AnalysisSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    evolution: EvolutionSettings = EvolutionSettings()

    @model_validator(mode="after")
    def _model_evolves_what_a_model_wrote(self) -> Self:
        """Refuse to have a model rewrite what rules cut out: it sees little more than the summaries, and these must be whole."""
        if self.evolution.mode == "model" and self.analysis.by == "rules":
            raise ValueError('evolution.mode = "model" needs analysis.by = "model" as well')
        return self

    def deciding(self) -> str:
        """Return, as JSON, what decides the result: how a model would be asked does not where none is asked."""
        unused: dict[str, set[str]] = {}
        if self.analysis.by == "rules":
            unused["analysis"] = {"by", "model"}
        if self.evolution.mode == "lite":
            unused["evolution"] = {"model"}
        return self.model_dump_json(exclude=unused)


class LimitSettings(Settings):
    """What a parser child may use. Never part of a version; a document that failed is tried again when they change."""

    memory_megabytes: int = Field(3072, ge=256, le=65536, description="private memory of one parser child")
    cpu_seconds_per_range: float = Field(30.0, gt=0, le=3600, description="CPU time of a child, whatever its pages")
    cpu_seconds_per_page: float = Field(4.0, gt=0, le=3600, description="CPU time added for each page; flash needs 0.25")
    cpu_seconds_per_document: float = Field(1800.0, gt=0, le=86400, description="CPU time of all children of one document")
    wall_factor: float = Field(6.0, ge=1, le=100, description="wall time allowed, in multiples of the CPU limit; ends a hang only")
    output_megabytes: int = Field(512, ge=1, le=16384, description="what one child may write, pictures included")
    answer_megabytes: int = Field(64, ge=1, le=1024, description="text and boxes of one child's pages; we read them whole")
    file_megabytes: int = Field(1024, ge=1, le=65536, description="larger files are refused")
    image_megapixels: int = Field(120, ge=1, le=10000, description="larger pictures are refused before they are decoded")
    archive_megabytes: int = Field(1024, ge=1, le=65536, description="an Office file may unpack to so much by its own directory")
    archive_ratio: int = Field(200, ge=10, le=100000, description="an archive that unpacks to more times its size is a bomb")
    undescribed_share: float = Field(
        0.2, ge=0, le=1, description="of the nodes that a model was to describe or link; where more got no usable reply, it failed"
    )
    archive_entries: int = Field(20000, ge=10, le=1000000, description="files in an Office document; large decks have some 2,000")


class WorkSettings(Settings):
    """How the work is spread and published."""

    documents_at_once: int = Field(3, ge=1, le=64, description="documents in work at the same time")
    parsers_at_once: int = Field(2, ge=1, le=64, description="parser children at the same time, of each process; one a core")
    runner: Literal["local", "dask"] = Field(
        "local", description="who computes up to artifacts: this process, or the processes of a cluster, on other machines too"
    )
    runner_address: str = Field(
        "",
        pattern=r"^(([a-z]+://)?[^/@\s]+:[0-9]{1,5})?$",
        description='the cluster\'s scheduler, as "tls://HOST:8786"; "" starts a cluster on this machine',
    )
    runner_processes: int = Field(2, ge=1, le=256, description="processes of the cluster; one more document is on its way to them")
    publish_seconds: float = Field(30.0, ge=0, le=3600, description="finished documents wait at most so long for publishing")
    publish_documents: int = Field(50, ge=1, le=1000, description="so many finished documents are published at once")
    lock_wait_seconds: float = Field(
        5.0, ge=0, le=86400, description="how long a second ingest waits for the first; 0 says who holds it"
    )

    @property
    def documents_in_work(self) -> int:
        """How many documents are in work at the same time, so that no process of a cluster waits for one."""
        return self.documents_at_once if self.runner == "local" else max(self.documents_at_once, self.runner_processes + 1)


class IngestSettings(Settings):
    """All settings of the ingest flow."""

    reading: ReadingSettings = ReadingSettings()
    limits: LimitSettings = LimitSettings()
    work: WorkSettings = WorkSettings()
    models: ModelSettings = ModelSettings()


def load_settings(path: Path, form: type[S]) -> S:
    """Read a TOML file of settings; raise SettingsError where a name is unknown or a value out of its bounds."""
    try:
        return form.model_validate(tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        raise SettingsError(
            f"settings file {str(path)!r} cannot be read: {error.strerror}; `flowreader settings` lists what may stand in it"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"settings file {str(path)!r} is not TOML: {error}; `flowreader settings` shows the form") from error
    except ValidationError as error:
        wrong = ", ".join(_complaint(found, form) for found in error.errors())
        raise SettingsError(f"settings file {str(path)!r}: {wrong}; `flowreader settings` lists names and bounds") from error


def _complaint(found: ErrorDetails, form: type[Settings]) -> str:
    name = ".".join(str(part) for part in found["loc"])
    if found["type"] == "value_error":
        return f"{name}: {found['ctx']['error']}"
    if found["type"] == "extra_forbidden":
        near = get_close_matches(name, [known for known, _ in dotted(form().model_dump())], n=1)
        return f"there is no setting {name}" + (f" (did you mean {near[0]}?)" if near else "")
    return f"{name} = {found['input']!r}: {found['msg'][:1].lower()}{found['msg'][1:]}"
