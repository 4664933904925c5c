"""Every number of reading documents, once: what users turn with its bounds, the method with its reason.

What changes the result of reading a document stands in ReadingSettings and enters the document's version;
limits, concurrency and publishing do not.
"""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from storage.records.documents import EdgeKind
from tasks.settings.base import Settings, Share
from tasks.settings.models import ModelSettings


class ParseSettings(Settings):
    """How a file becomes pages of blocks."""

    tier: Literal["flash", "basic", "standard", "advanced"] = Field(
        "flash", description="MinerU's tier; all but flash need its models or a server"
    )
    pages_per_range: int = 24  # pages parsed by one child; bounds its memory, and what one bad page can cost
    crop_dpi: int = 144  # resolution of the crops of figures and tables; letters of 6 points stay readable
    minimum_crop_share: Share = 0.003  # what has less of the page is an ornament and gets no crop


class OcrSettings(Settings):
    """When and how words are read from pictures."""

    enabled: bool = Field(True, description="read pages and figures without text by OCR")
    page_dpi: int = 108  # few characters are lost between 72 and 144 dpi, time doubles
    minimum_page_characters: int = 16  # a page whose text layer has fewer characters is read by OCR
    minimum_figure_share: Share = 0.03  # smaller figures (share of the page) are not read
    repeated_pages: int = 3  # a picture on this many pages is a logo and is not read
    minimum_confidence: Share = 0.5  # RapidOCR's own threshold for a line of text


class StructureSettings(Settings):
    """How blocks become nodes."""

    merge_words: int = 90  # short neighbours in a section are joined up to this many words
    split_words: int = 180  # longer paragraphs are cut at a sentence; the embedder reads 256 tokens
    repeated_share: Share = 0.3  # a line at the edge of this share of the pages (three at least) is a header or footer
    edge_band: float = 0.12  # share of the page's height at its top and bottom where headers live


class ShortFormSettings(Settings):
    """How a model of a short context is asked, to describe and to judge: by one node a call."""

    characters_per_node: int = 800  # of a node that is described; 200 to 270 tokens
    characters_per_summary: int = 200  # of each summary where links are judged
    keywords: int = 4  # keywords of a node at most
    standing: Share = 0.75  # of a summary's words that stand in the node; one with fewer was made up, and the rules' stays
    neighbours: int = 3  # nodes that a node's links are judged with, its nearest


class ModelAnalysisSettings(Settings):
    """How a model is asked what nodes say (eq. 11)."""

    # small: one node a call and a short reply; auto: small where the model has a short context
    forms: Literal["auto", "full", "small"] = "auto"
    short: ShortFormSettings = ShortFormSettings()
    nodes_per_call: int = 16  # small nodes in one call; the rules are read once for all of them
    # what a model that sees is shown; figures: and tables without cells; all: every table, and the page of what OCR read, too
    pictures: Literal["figures", "all"] = "figures"
    pictures_per_call: int = 4  # pictures in one call; servers have a limit
    characters_per_call: int = 12_000  # of all nodes in a call; 3,000 to 4,000 tokens
    characters_per_node: int = 4000  # of a node; what is longer is cut, with a mark
    context_characters: int = 300  # of the text before and behind a figure or table
    minimum_words: int = 6  # titles, and texts with fewer words, say what they are themselves
    keywords: int = 16  # keywords of a node at most, the most telling first


class ModelMapSettings(Settings):
    """How a model is asked to sum up pages and sections."""

    entries_per_call: int = 8  # pages or sections in one call
    characters_per_call: int = 24_000  # of all summaries shown in a call; each page and section has an equal part of it


class ModelPagesSettings(Settings):
    """How a model is asked to read a document page by page."""

    elements_per_call: int = 10  # of a page in one call, each with a summary; a fuller page is shown again with the next
    dpi: int = 108  # of the pictures of pages; a server's limit of pixels may make them smaller


class AnalysisSettings(Settings):
    """The summary and keywords of a node, and the summaries of pages and sections."""

    by: Literal["rules", "model"] = Field(
        "rules", description="rules: extracts and statistics; model: the chat model at FLOWREADER_CHAT_BASE_URL describes nodes"
    )
    map: Literal["rules", "model"] = Field(
        "rules",
        description="rules: pages by their best sentences; model: the chat model sums up pages and sections; a small one does not",
    )
    map_model: ModelMapSettings = ModelMapSettings()
    pages: Literal["rules", "model"] = Field(
        "rules",
        description="model: the chat model reads page after page, by its picture where it sees: the outline, what each element "
        "says and has to do with others; then `by` asks nothing more. A small one describes them",
    )
    pages_model: ModelPagesSettings = ModelPagesSettings()
    summary_words: int = 40  # words of the summary; the papers ask for one sentence
    keywords: int = 10  # keywords of a node, by rule
    model: ModelAnalysisSettings = ModelAnalysisSettings()

    @property
    def asks_model(self) -> bool:
        return "model" in (self.by, self.map, self.pages)


class EmbeddingSettings(Settings):
    """What is embedded and how."""

    # content: section titles, caption, raw text and words in the picture; paper: eq. 12, summary and keywords
    text: Literal["content", "paper"] = "content"
    batch_nodes: int = 256  # nodes a batch, cut in node order within a document
    tokens: bool = Field(
        True,
        description="keep a bit for each dimension of a token, some 20 kB a page: by them the best pages are looked at again",
    )
    second: str = Field(
        "",
        description="one more model for a new corpus, by name or folder, or as the server at FLOWREADER_SECOND_BASE_URL has it; "
        "the paper's flow asks it nothing",
    )


class StructuralWeights(Settings):
    """What an edge weighs that the layout itself states: the surer the relation, the more."""

    next: float = 0.5  # to the next element in reading order
    part_of: float = 0.6  # to the title of its section
    refers_to: float = 0.8  # from "see Figure 3" to the figure
    caption_of: float = 0.9  # from a caption to its figure or table
    continues: float = 0.9  # over a page break

    def by_kind(self) -> dict[EdgeKind, float]:
        return {EdgeKind(kind): float(weight) for kind, weight in self.model_dump().items()}


class ModelEvolutionSettings(Settings):
    """How a model is asked what nodes have to do with each other (eq. 14)."""

    nodes_per_call: int = 16  # nodes judged in one call; nearby ones share neighbours
    characters_per_call: int = 24_000  # of all nodes in a call and their candidates
    # of what a node itself says after its summary, and then its picture, too, for a model that sees; eq. 14 has none, A.3 all;
    # 240 took a sixth more tokens
    content_characters: int = 0
    # what a rewritten summary rests on; alone: the node, as in A.3; enriched: its neighbours, too, as in G2-Reader
    summary: Literal["alone", "enriched"] = "alone"
    summary_words: int = 30  # words of a rewritten summary at most
    keywords: int = 10  # keywords of a rewritten node at most
    directed: bool = False  # a node has the links that it keeps, as in eq. 14; else those, too, by which others keep it


class EvolutionSettings(Settings):
    """The rounds of evolution, and the edges that come of them."""

    mode: Literal["lite", "model"] = Field(
        "lite",
        description="lite: G2-Reader's rule-based variant; model: summaries, keywords and links rewritten, with the relation",
    )
    rounds: int = 3  # T; more rounds smooth the vectors until nodes look alike, 0 leaves them
    neighbours: int = 5  # semantic candidates of a node in each round
    window: int = 3  # w: text nodes start linked this far in reading order
    minimum_edge: float = 0.22  # r_min: window and semantic edges below this cosine are pruned
    cross_minimum: float = 0.5  # cosine of round-0 vectors from which two documents are linked
    cross_links: int = 8  # strongest mutual nearest neighbours linked between two documents
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
        if self.evolution.mode == "model" and "model" not in (self.analysis.by, self.analysis.pages):
            raise ValueError('evolution.mode = "model" needs analysis.by = "model" as well, or analysis.pages')
        return self

    def deciding(self) -> str:
        """Return, as JSON, what decides the result: how a model would be asked does not where none is asked.

        What a second embedder is called does not either: its identity stands in that of the corpus's embedder.
        """
        unused: dict[str, Any] = {"embedding": {"second"}, "analysis": {}, "evolution": {}}
        unused["analysis"] = dict.fromkeys(() if self.analysis.asks_model else ("by", "model"), True)
        for name in ("map", "pages"):
            if getattr(self.analysis, name) == "rules":
                unused["analysis"] |= {name: True, f"{name}_model": True}
        if self.evolution.mode == "lite":
            unused["evolution"] = {"model": True}
        # Came later: written at its first value, it would have every document read again.
        later: dict[str, dict[str, Any]] = {
            "analysis": {"pictures": "figures"},
            "evolution": {"directed": False, "summary": "alone"},
        }
        for group, firsts in later.items():
            model = getattr(self, group).model
            unused[group].setdefault("model", {name for name, first in firsts.items() if getattr(model, name) == first})
        return self.model_dump_json(exclude=unused)


class LimitSettings(Settings):
    """What a parser child may use. Never part of a version; a document that failed is tried again when they change."""

    memory_megabytes: int = Field(3072, ge=256, le=65536, description="private memory of one parser child")
    cpu_seconds_per_range: float = Field(30.0, gt=0, le=3600, description="CPU time of a child, whatever its pages")
    cpu_seconds_per_page: float = Field(4.0, gt=0, le=3600, description="CPU time added for each page; flash needs 0.25")
    cpu_seconds_per_document: float = Field(1800.0, gt=0, le=86400, description="CPU time of all children of one document")
    wall_factor: float = 6.0  # wall time allowed, in multiples of the CPU limit; ends a hang only
    output_megabytes: int = Field(512, ge=1, le=16384, description="what one child may write, pictures included")
    answer_megabytes: int = 64  # text and boxes of one child's pages; we read them whole
    file_megabytes: int = Field(1024, ge=1, le=65536, description="larger files are refused")
    uploads_megabytes: int = Field(
        10_000, ge=1, le=10_000_000, description="all uploads of the query service together; FLOWREADER_ASK_SETTINGS names its file"
    )
    image_megapixels: int = Field(120, ge=1, le=10000, description="larger pictures are refused before they are decoded")
    archive_megabytes: int = Field(1024, ge=1, le=65536, description="size that an Office file may unpack to, by its own directory")
    archive_ratio: int = 200  # an archive that unpacks to more times its size is a bomb
    undescribed_share: Share = 0.2  # of the nodes that a model was to describe or link; where more got no usable reply, it failed
    archive_entries: int = 20000  # files in an Office document; large decks have some 2,000


class WorkSettings(Settings):
    """How the work is spread and published."""

    documents_at_once: int = Field(3, ge=1, le=64, description="documents in work at the same time")
    parsers_at_once: int = Field(2, ge=1, le=64, description="parser children at the same time, of each process; one a core")
    runner: Literal["local", "dask"] = Field(
        "local", description="what computes up to artifacts: this process, or the processes of a cluster, on other machines too"
    )
    runner_address: str = Field(
        "",
        pattern=r"^(([a-z]+://)?[^/@\s]+:[0-9]{1,5})?$",
        description='the cluster\'s scheduler, as "tls://HOST:8786"; "" starts a cluster on this machine',
    )
    runner_processes: int = Field(2, ge=1, le=256, description="processes of the cluster; one more document is on its way to them")
    publish_seconds: float = 30.0  # longest wait of a finished document for publishing
    publish_documents: int = Field(50, ge=1, le=1000, description="number of finished documents that are published at once")
    lock_wait_seconds: float = Field(
        5.0, ge=0, le=86400, description="how long a second ingest waits for the first; 0 names its holder"
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
