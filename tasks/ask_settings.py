"""Every tuned number of answering, once; the defaults are the paper's Tables 5 and 6 wherever it gives one.

Where the paper leaves a hole, or a measurement went against it, the paper's reading is the setting's other value.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from tasks.model_settings import ModelSettings
from tasks.settings import IngestSettings, Settings

SUM_TOLERANCE = 1e-9


class CandidateSettings(Settings):
    """How much of the corpus a question works on."""

    whole_limit: int = Field(4000, ge=1, le=20000, description="nodes; a scope of at most so many is taken whole")
    by_vector: int = Field(128, ge=1, le=5000, description="nodes taken by the nearest vector from a larger scope")
    by_text: int = Field(128, ge=1, le=5000, description="nodes taken by full text from a larger scope")
    hops: int = Field(2, ge=0, le=3, description="edges followed from those nodes")
    limit: int = Field(1000, ge=10, le=20000, description="nodes of a subgraph; routing takes milliseconds at so many")
    sample: int = Field(2000, ge=100, le=20000, description="nodes that tell how rare a word is in a larger scope")


class RelevanceSettings(Settings):
    """How near a node is to the question: r, in 0..1."""

    lexical_share: float = Field(0.5, ge=0, le=1, description="alpha: weight of BM25 beside the cosine")
    text: Literal["content", "paper"] = Field(
        "content", description="what BM25 sees; content: headings, caption, text, words in the picture; paper: summary and keywords"
    )
    page_share: float = Field(
        0.33, ge=0, le=1, description="weight of the page that a node stands on beside the node; 0: the paper"
    )
    pair_share: float = Field(
        0.5, ge=0, le=5, description="weight of neighbouring words of the question found together, beside single ones; 0: the paper"
    )
    vectors: Literal["initial", "evolved"] = Field(
        "initial", description="what the question is compared with; evolved: the paper, which evolves with a model"
    )
    saturation: float = Field(1.2, ge=0, le=10, description="BM25's k1: how soon a word's repetition stops to count")
    length_share: float = Field(0.75, ge=0, le=1, description="BM25's b: how much a long text is held against it")


class NamedSettings(Settings):
    """What is added to the relevance of what a question names outright; all 0: the paper."""

    place: float = Field(1.0, ge=0, le=10, description="a page, figure, table or section: 'page 14', 'Figure 5', 'Appendix B'")
    beside_printed: float = Field(0.5, ge=0, le=1, description="of it, for the 14th page where another has 14 printed on it")
    in_section: float = Field(1.0, ge=0, le=1, description="of it, for what stands in a named section")
    near_title: float = Field(0.5, ge=0, le=1, description="of it, where the section's title only holds the words")
    ratio: float = Field(1.0, ge=0, le=10, description="a financial statement from which a named ratio is computed")
    item: float = Field(0.5, ge=0, le=10, description="a financial statement that shows a named line")
    statement_share: float = Field(0.5, ge=0, le=1, description="of a statement's usual wording a page must hold to be it")
    title: float = Field(0.1, ge=0, le=10, description="a section whose whole title the question says in passing")
    modality: float = Field(0.1, ge=0, le=10, description="pages with figures or tables where the question asks for one")


class ScoreSettings(Settings):
    """How relevance, propagation and diffusion become one score h (section 3.3)."""

    relevance: float = Field(0.5, ge=0, le=1, description="lambda r")
    propagation: float = Field(0.3, ge=0, le=1, description="lambda phi")
    diffusion: float = Field(0.2, ge=0, le=1, description="lambda psi; the three sum to 1")
    anchor: float = Field(0.5, ge=0, le=0.95, description="alpha phi of eq. 4, not given in the paper: the neighbours' share")
    keep_unreached: bool = Field(
        True, description="a node that no arc reaches keeps its relevance; false: the paper, which lowers it"
    )
    propagation_tolerance: float = Field(1e-4, ge=1e-9, le=0.1, description="largest change of a score at which eq. 4 has settled")
    seeds: int = Field(8, ge=1, le=100, description="most relevant nodes that the random walk starts from; not given in the paper")
    scale_diffusion: bool = Field(
        True, description="divide psi by its maximum: it sums to 1 over the graph and does nothing otherwise; false: the paper"
    )
    damping: float = Field(0.85, gt=0, le=0.95, description="PageRank's")
    diffusion_tolerance: float = Field(1e-6, ge=1e-9, le=0.1, description="PageRank's")
    # Each step of either leaves at most 0.95 of the last change, and 1 + log(1e-9) / log(0.95) = 405.
    steps: int = Field(2000, ge=500, le=100000, description="at most so many iterations of either; 405 settle both in any case")

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        total = self.relevance + self.propagation + self.diffusion
        if abs(total - 1) > SUM_TOLERANCE:
            raise ValueError(f"relevance, propagation and diffusion sum to {total:g} instead of 1")
        return self


class RoutingSettings(Settings):
    """Sources, sinks and the flow between them (section 3.4)."""

    formulation: Literal["prizes", "paper"] = Field(
        "prizes",
        description="prizes: as many chains of related passages as pay; paper: eq. 5 and 6, which find no more than the ranking",
    )
    start_pages: int = Field(12, ge=1, le=100, description="prizes: chains begin at the best node of so many pages, at most")
    entry: float = Field(
        0.7, ge=0, le=1, description="prizes: share of the best score that a passage needs to be evidence by itself"
    )
    entry_surveying: float = Field(
        0.4, ge=0, le=1, description="prizes: the same where a question counts or collects all over a document, or has parts"
    )
    step: float = Field(
        1.0, ge=0, le=1, description="prizes: share of the best score that a step costs which no relation makes cheaper"
    )
    onward: float = Field(
        0.8, ge=0, le=1, description="prizes: trust in the next page and in more of the same page; of references, their weight"
    )
    title_page: float = Field(
        0.9, ge=0, le=1, description="prizes: trust in a document's first page where the question speaks of the document; 0: none"
    )
    sources: int = Field(
        8, ge=1, le=100, description="paper: nodes where flow enters, at most; of either: what System 2 adds to them, at most"
    )
    sinks: int = Field(
        8, ge=1, le=100, description="paper: nodes where flow leaves, at most; prizes: only the gate's saturation looks there"
    )
    diversity: float = Field(0.7, ge=0, le=1, description="paper: lambda of MMR: 1 takes the best sources, 0 the most unlike")
    visual_bonus: float = Field(
        0.05,
        ge=0,
        le=1,
        description="added to the answerability of figures and tables, by which sinks are chosen; prizes: only for the saturation",
    )
    dense_percentile: float = Field(
        95.0,
        ge=1,
        le=100,
        description="a node with so many words is as dense as can be (rho = 1 in answerability); prizes: only for the saturation",
    )
    demand: float = Field(
        6.0, gt=0, le=100, description="paper: F, evidence to route, no more than fits; prizes: only what saturation is told by"
    )
    demand_by: Literal["fixed", "question"] = Field(
        "fixed", description="paper: fixed: F for every question; question: the part of F that its search terms call for"
    )
    demand_terms: int = Field(10, ge=1, le=100, description="paper: search terms that call for all of F, by question")
    minimum_similarity: float = Field(
        0.22,
        ge=0,
        le=1,
        description="r_min: window and semantic arcs below are not used; prizes: only for the saturation, and for where to expand",
    )
    paths: int = Field(60, ge=1, le=1000, description="paths that the flow is taken apart into, at most")


class SelectionSettings(Settings):
    """Which paths are read (section 3.5.1)."""

    rule: Literal["replicator", "greedy"] = Field(
        "replicator", description="replicator: a compact, diverse set of good paths; greedy: those that carry most, an ablation"
    )
    start: Literal["quality", "flow", "both"] = Field(
        "quality", description="what the first shares are in proportion to; the paper's is quality, its ablation the others"
    )
    flow_exponent: float = Field(0.2, ge=0, le=5, description="a of path quality: the share of the largest flow")
    peak_exponent: float = Field(0.5, ge=0, le=5, description="b: the best score on the path")
    mean_exponent: float = Field(0.3, ge=0, le=5, description="c: the mean score of the path")
    diagonal_power: float = Field(2.0, ge=0, le=4, description="of quality on the diagonal of eq. 8; the paper's 2, 1 the ablation")
    mixing: float = Field(0.2, ge=0, le=1, description="epsilon rd of eq. 10")
    tolerance: float = Field(1e-4, gt=0, le=0.1, description="change of the shares at which the dynamics ended")
    steps: int = Field(20, ge=1, le=10000, description="at most so many steps of eq. 9")
    extinction: float = Field(5e-4, ge=0, le=0.5, description="paths with a smaller share are not read")
    extinct_before_mixing: bool = Field(
        True,
        description="judge extinction on the share before mixing, which lifts every share over the threshold; false: the paper",
    )
    read: int = Field(11, ge=1, le=100, description="paths read, at most")


class GateSettings(Settings):
    """When and how the evidence is refined, once (section 3.5.2, appendix C)."""

    consistency: float = Field(0.65, ge=0, le=1, description="answers that agree less fire the gate")
    saturation: float = Field(0.6, ge=0, le=1, description="a flow that fits less fires the gate")
    saturation_of: Literal["connection", "paper"] = Field(
        "connection",
        description=(
            "connection: of the network with its sinks opened, which is low only where the graph falls apart (0.999 on average, so "
            "it hardly ever fires); paper: of the whole, which measures the sinks, and no bridge across its cut can raise it"
        ),
    )
    enabled: bool = Field(True, description="false: the first pass is the answer")
    pairs: int = Field(32, ge=1, le=1000, description="pairs of passages that are rated, at most: four calls of eight")
    bridge_above: float = Field(0.1, ge=0, le=1, description="a bridge rated higher becomes an arc")
    depth: int = Field(2, ge=1, le=5, description="hops from the sources within which new ones are found")
    entry_share: float = Field(
        0.5, ge=0, le=1, description="prizes: what is left of the entry where nothing is supported, so that more pages are read"
    )
    damping: float = Field(0.6, ge=0, le=1, description="lambda of the re-weighting")
    bound: float = Field(0.3, ge=0, le=1, description="a weight changes by so much at most")
    cited_boost: float = Field(0.1, ge=0, le=1, description="added to the score of nodes that readers quoted")


class ModelReadingSettings(Settings):
    """What a chat model is shown, and how often it is asked, where `by` is model.

    At most 1 call for keywords, one for each path and each pair of answers; where the gate fires as many again and those that
    rate; one for the answer: 1 + 11 + 10, 4 + 11 + 10 and 1 are 48, the paper's own worst case.
    """

    compared_pairs: int = Field(
        10, ge=0, le=1000, description="pairs of different answers that are compared, at most; one call each"
    )
    rating_calls: int = Field(
        4,
        ge=2,
        le=100,
        description="calls in which System 2 has pairs of passages rated, at most; half for bridges, half for steps",
    )
    pictures: int = Field(
        3, ge=0, le=50, description="pictures shown with a path, at most, the worthiest first; some 1,000 tokens each"
    )
    path_characters: int = Field(
        24_000, ge=1000, le=1_000_000, description="text of a path, at most; less where the model's context is shorter"
    )
    evidence_passages: int = Field(2, ge=1, le=20, description="passages of a path that the answer is put together from, at most")
    evidence_characters: int = Field(
        40_000, ge=1000, le=1_000_000, description="text that the answer is put together from, at most; less in a short context"
    )
    pair_characters: int = Field(1500, ge=100, le=100_000, description="text of each of two passages that are rated, at most")
    keyword_tokens: int = Field(300, ge=50, le=10_000, description="room for the question's keywords")
    reading_tokens: int = Field(1200, ge=100, le=50_000, description="room for what is read out of a path")
    judging_tokens: int = Field(300, ge=50, le=10_000, description="room for a comparison of two answers")
    rating_tokens: int = Field(1000, ge=100, le=50_000, description="room for the rates of some pairs")
    answer_tokens: int = Field(1500, ge=100, le=50_000, description="room for the answer")


class ReadingOutSettings(Settings):
    """Who reads the paths; what is quoted without a model, and when nothing supports the question."""

    by: Literal["rules", "model"] = Field(
        "rules", description="rules: quotes, no calls; model: the chat model at FLOWREADER_CHAT_BASE_URL reads, judges and answers"
    )
    minimum_support: float = Field(
        0.3, ge=0, le=1, description="score of a quote, of its words and its node, under which nothing is found"
    )
    whole_support: float = Field(
        0.5, ge=0, le=1, description="share of what is asked, by the words' rarity, from which on a quote answers all of it"
    )
    quotes: int = Field(3, ge=1, le=20, description="quotes of a path, and of the answer, at most")
    words: int = Field(40, ge=5, le=1000, description="words of a quote, at most; of a longer text those around the question's")
    beside_share: float = Field(
        0.5, ge=0, le=1, description="what a word in the heading or caption counts, against one in the quote"
    )
    worth_share: float = Field(0.33, ge=0, le=1, description="what the score of the node counts, against the words of the quote")
    misfit: float = Field(
        0.5,
        ge=0,
        le=1,
        description="what is left of a quote without the number, date or share that is asked for, or that says nothing new",
    )
    context_share: float = Field(
        0.25, ge=0, le=1, description="what the rest of a question counts where a part of it is answered by itself"
    )
    least: float = Field(0.6, ge=0, le=1, description="a further quote needs so much of the best one's score")
    gain: float = Field(
        0.15, ge=0, le=1, description="a further quote holds so much of the question's words, by rarity, that no other quote has"
    )
    same_subject: float = Field(0.5, ge=0, le=1, description="share of words from which on two values are said of the same thing")
    value_tolerance: float = Field(0.005, ge=0, le=1, description="relative difference up to which two numbers agree")
    compared_pairs: int = Field(10, ge=1, le=1000, description="pairs of values compared, at most")
    model: ModelReadingSettings = ModelReadingSettings()


class AskSettings(Settings):
    """All settings of a question; what answer you get depends on nothing else but the corpus and the models."""

    candidates: CandidateSettings = CandidateSettings()
    relevance: RelevanceSettings = RelevanceSettings()
    named: NamedSettings = NamedSettings()
    score: ScoreSettings = ScoreSettings()
    routing: RoutingSettings = RoutingSettings()
    selection: SelectionSettings = SelectionSettings()
    gate: GateSettings = GateSettings()
    reading: ReadingOutSettings = ReadingOutSettings()
    models: ModelSettings = ModelSettings()


class AllSettings(IngestSettings):
    """What a settings file may hold: each command takes its part."""

    ask: AskSettings = AskSettings()

    def for_ingest(self) -> IngestSettings:
        """Return what an ingest takes."""
        return IngestSettings(reading=self.reading, limits=self.limits, work=self.work, models=self.models)
