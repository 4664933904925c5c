"""Every number of answering, once.

The defaults are the paper's Tables 5 and 6 wherever it gives one; where a measurement went against it, the preset has its value.
"""

import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, ValidationInfo, model_validator
from pydantic_core import ErrorDetails

from storage.errors import RequestError, parts_of
from tasks.settings.base import MethodError, Settings, Share, apply_settings, change_settings, leaves
from tasks.settings.ingest import IngestSettings
from tasks.settings.models import ModelSettings
from tasks.settings.presets import DIFFERENCES
from tasks.settings.reader_methods import AgentSettings, MapSettings, PagesSettings, PlanSettings, WalkSettings
from tasks.settings.readers import WORDS_SHOWN, PagesPerAnswer, Preset

SUM_TOLERANCE = 1e-9


class CandidateSettings(Settings):
    """How much of the corpus a question works on."""

    whole_limit: int = 4000  # nodes; a scope of at most this many is taken whole
    by_vector: int = 128  # nodes taken by the nearest vector from a larger scope
    by_text: int = 128  # nodes taken by full text from a larger scope
    by_name: int = 400  # nodes taken from a larger scope because the question names them or their page, of the best documents
    hops: int = 2  # edges followed from those nodes
    limit: int = 1000  # nodes of a subgraph; routing takes milliseconds at this size
    sample: int = 2000  # nodes from which the rarity of a word in a larger scope is estimated
    # all: the layout's own relations, too; paper: window and semantic arcs only
    arcs: Literal["all", "paper"] = "all"


class RelevanceSettings(Settings):
    """How near a node is to the question: r, in 0..1."""

    lexical_share: Share = 0.5  # alpha: weight of BM25, the rest is the cosine's
    # what BM25 sees; content: headings, caption, text, words in the picture; paper: summary and keywords
    text: Literal["content", "paper"] = "content"
    page_share: Share = 0.33  # weight of the page that a node stands on, against the node; 0: the paper
    pair_share: float = 0.5  # weight of neighbouring words of the question found together, against single ones; 0: the paper
    # what the question is compared with; evolved: the paper, which evolves with a model
    vectors: Literal["initial", "evolved"] = "initial"
    saturation: float = 1.2  # BM25's k1: how soon a word's repetition stops to count
    length_share: Share = 0.75  # BM25's b: how much a long text is held against it


class NamedSettings(Settings):
    """Bonuses in relevance for what a question names outright; all 0: the paper."""

    place: float = 1.0  # a page, figure, table or section: 'page 14', 'Figure 5', 'Appendix B'
    # times `place`, for a second reading: the 14th page where another has 14 printed on it, the rest of a chapter of tables
    second: float = 0.5
    ratio: float = 1.0  # a financial statement from which a named ratio is computed
    item: float = 0.5  # a financial statement that shows a named line
    statement_share: Share = 0.5  # share of a statement's usual wording that a page must hold to be one
    title: float = 0.1  # a section with its whole title in the question, in passing
    modality: float = 0.1  # pages with figures or tables where the question asks for one
    # w: the log of a score grows by w t, t how much of the question the document's pages say; fitted out of fold by document: 0.1
    document: float = 0.1


class ScoreSettings(Settings):
    """How relevance, propagation and diffusion become one score h (section 3.3)."""

    relevance: Share = 0.5  # lambda r
    propagation: Share = 0.3  # lambda phi
    diffusion: Share = 0.2  # lambda psi; the three sum to 1
    anchor: Share = 0.5  # alpha phi of eq. 4, not given in the paper: the neighbours' share
    keep_unreached: bool = True  # a node that no arc reaches keeps its relevance; false: the paper, which lowers it
    propagation_tolerance: float = 1e-4  # largest change of a score at which eq. 4 has settled
    seeds: int = 8  # most relevant nodes that the random walk starts from; not given in the paper
    # what the random walk goes by; edges: the paper, the weights of the edges; propagation: eq. 3 of them
    diffusion_weights: Literal["edges", "propagation"] = "propagation"
    # divide psi by its maximum: it sums to 1 over the graph and does nothing otherwise; false: the paper
    scale_diffusion: bool = True
    damping: Share = 0.85  # PageRank's
    diffusion_tolerance: float = 1e-6  # PageRank's
    # Each step of either leaves at most 0.95 of the last change, and 1 + log(1e-9) / log(0.95) = 405.
    steps: int = 2000  # iterations of either, at most; 405 settle both in any case

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        total = self.relevance + self.propagation + self.diffusion
        if abs(total - 1) > SUM_TOLERANCE:
            raise ValueError(f"relevance, propagation and diffusion sum to {total:g} instead of 1")
        return self


class SecondSettings(Settings):
    """What a second look changes. The log of a page's score grows by w z, z what is found on it, standardised over these pages.

    A weight w that is not set is the one that `evaluate fit` found, else 0.1; 0: no such look. For multilingual-e5-small the fit is
    0.10 to 0.15 on 55 documents, +3.3 recall@1, and 0.0 to 0.1 without a gain on the 38 of ours; for tokens 0.1 to 0.2, +4.1, and
    0.05 to 0.1, -0.3. No trained reranker was to be had.
    """

    pages: int = 12  # the best pages, which are looked at again
    weight: float | None = None  # of the best cosine to a second embedder, where the corpus has one
    tokens_weight: float | None = None  # of how much of the question a passage speaks of, token by token
    rerank_weight: float | None = None  # of a reranker's best score


class RoutingSettings(Settings):
    """Which network evidence is routed over; all else is the paper's (section 3.4)."""

    # pages: a unit of flow for each page that is worth its price, chains within these pages; paper: between sources and sinks
    network: Literal["pages", "paper"] = "pages"
    sources: int = 8  # paper: nodes where flow enters, at most; what System 2 adds to them, at most
    sinks: int = 8  # paper: nodes where flow leaves, at most
    diversity: float = 0.7  # paper: lambda of MMR: 1 takes the best sources, 0 the most unlike
    visual_bonus: float = 0.05  # paper: added to the answerability of figures and tables, by which sinks are chosen
    dense_percentile: float = 95.0  # paper: a node with this percentile of words has density rho = 1; not given in the paper
    demand: float = 6.0  # paper: F, evidence to route, no more than fits
    minimum_similarity: float = 0.22  # paper: r_min, arcs below are not used
    paths: int = 60  # paper: paths that the flow is taken apart into, at most


class SelectionSettings(Settings):
    """Which paths are read (section 3.5.1); all but `read` are the paper's."""

    # replicator: a compact, diverse set of good paths; greedy: those that carry most, an ablation
    rule: Literal["replicator", "greedy"] = "replicator"
    # what the first shares are in proportion to; the paper's is quality, its ablation the others
    start: Literal["quality", "flow", "both"] = "quality"
    flow_exponent: float = 0.2  # a of path quality: the share of the largest flow
    peak_exponent: float = 0.5  # b: the best score on the path
    mean_exponent: float = 0.3  # c: the mean score of the path
    mixing: Share = 0.2  # epsilon rd of eq. 10
    tolerance: float = 1e-4  # change of the shares at which the dynamics ended
    steps: int = 20  # steps of eq. 9, at most
    extinction: float = 5e-4  # paths with a smaller share are not read
    read: int = Field(11, ge=1, le=100, description="paths read, at most; of more chains neighbours are read together")


class GateSettings(Settings):
    """When and how the evidence is refined, once (section 3.5.2, appendix C); by default only where a model reads."""

    consistency: float = 0.65  # answers that agree less fire the gate
    saturation: float = 0.6  # paper: a flow that fits less fires the gate
    enabled: bool = Field(True, description="false: the first pass is the answer")
    pairs: int = 32  # pairs of passages that are rated, at most: four calls of eight
    scorer_temperature: float | None = None  # of the model that rates them; the paper's is 0.2, none: that of all calls
    bridge_above: float = 0.1  # paper: a bridge rated higher becomes an arc
    depth: int = 2  # paper: hops from the sources within which new ones are found
    damping: Share = 0.6  # lambda of the re-weighting
    bound: float = 0.3  # the most that a weight changes
    cited_boost: float = 0.1  # added to the score of nodes that readers quoted


class ModelReadingSettings(Settings):
    """What a chat model is shown, and how often it is asked, where `by` is model.

    At most one call for each path and each pair of answers; where the gate fires as many again and those that rate; one for the
    answer: 11 + 10, 4 + 11 + 10 and 1 are 47. The paper's worst case is 48, with one for keywords.
    """

    forms: Literal["auto", "full", "plain", "small"] = Field(
        "auto",
        description="plain: one call with the pages, an answer and its quotes; small: one with the words nearest to the question, "
        "a short answer; auto: by what the model can do and how fast it is",
    )
    small_characters: int = 1500  # small: text that is read, the sentences and rows nearest to the question
    plain_characters: int = 2500  # plain: text of the pages, at most; less where the model is slow or its context short
    compared_pairs: int = 10  # pairs of different answers that are compared, at most; one call each
    rating_calls: int = 4  # calls in which System 2 has pairs of passages rated, at most; half for bridges, half for steps
    pictures: int = 3  # pictures shown with a path, at most, the worthiest first; some 1,000 tokens each
    path_characters: int = 24_000  # text of a path, at most; less where the model's context is shorter
    evidence_passages: int = 2  # passages of a path that the answer is put together from, at most
    evidence_pictures: int = 0  # pictures shown to what plans, checks and answers by what was read, at most; G2-Reader shows all
    evidence_characters: int = 40_000  # text that the answer is put together from, at most; less in a short context
    pair_characters: int = 1500  # text of each of two passages that are rated, at most


class ReadingOutSettings(Settings):
    """What reads the paths; what is quoted without a model, and when nothing supports the question."""

    by: Literal["auto", "rules", "model"] = Field(
        "auto",
        description="model: the chat model at FLOWREADER_CHAT_BASE_URL, or a local one that runs, reads, judges and answers; "
        "rules: quotes, no calls; auto: the model where there is one, else rules",
    )
    unproven: bool = Field(
        True, description="what a model answers and nothing proves is shown, marked, above the evidence; false: evidence alone"
    )
    whole_support: Share = 0.5  # share of the question, by its words' rarity, from which on a quote answers all of it
    words: int = Field(150, ge=WORDS_SHOWN[0], le=WORDS_SHOWN[1], description="words that are quoted without a model, all together")
    quotes: int = 3  # of a path, at most
    quote_words: int = 40  # of a path or of a model, at most; of a longer text those around the question's
    beside_share: Share = 0.5  # weight of a word in the heading or caption, against one in the quote
    worth_share: Share = 0.33  # weight of the score of the node, against the words of the quote
    misfit: float = 0.5  # factor for a quote without the number, date or share that is asked for, or that says nothing new
    context_share: Share = 0.25  # weight of the rest of a question where a part of it is answered by itself
    least: Share = 0.6  # share of the best quote's score that a further one needs
    gain: float = 0.15  # share of the question's words, by rarity, that a further quote must add
    model: ModelReadingSettings = ModelReadingSettings()


class AskSettings(Settings):
    """All settings of a question; what answer you get depends on nothing else but the corpus and the models."""

    pages_per_answer: PagesPerAnswer = Field(
        5, description="pages that an answer stands on, on average; how many each takes is decided by their probabilities"
    )
    seconds: float | None = Field(
        120.0,
        gt=0,
        le=86400,
        description="what a model has not read by then is left unread, and rules quote; --batch and evaluate wait without end",
    )
    weights: str = Field("", description="a file that `flowreader evaluate fit` wrote; empty: the weights that are shipped")
    keywords: bool = False  # what a model that reads names of the question is looked for, not all its words: the paper (B.1)
    candidates: CandidateSettings = CandidateSettings()
    relevance: RelevanceSettings = RelevanceSettings()
    named: NamedSettings = NamedSettings()
    score: ScoreSettings = ScoreSettings()
    second: SecondSettings = SecondSettings()
    rerank: str = Field(
        "",
        description="cross-encoder or model of late interaction, by name or folder, that looks again at the best pages; empty: the "
        "one at FLOWREADER_RERANK_BASE_URL, if any; the paper's flow asks it nothing",
    )
    routing: RoutingSettings = RoutingSettings()
    selection: SelectionSettings = SelectionSettings()
    gate: GateSettings = GateSettings()
    reading: ReadingOutSettings = ReadingOutSettings()
    plan: PlanSettings = PlanSettings()
    agent: AgentSettings = AgentSettings()
    map: MapSettings = MapSettings()
    walk: WalkSettings = WalkSettings()
    pages: PagesSettings = PagesSettings()
    models: ModelSettings = ModelSettings()


class AllSettings(IngestSettings):
    """What a settings file may hold: each command takes its part."""

    ask: AskSettings = AskSettings()

    def for_ingest(self) -> IngestSettings:
        return IngestSettings(reading=self.reading, limits=self.limits, work=self.work, models=self.models)


def method_of(preset: Preset) -> AllSettings:
    """Return the method of a preset, and every setting as it is unless a user turns it."""
    return change_settings(AllSettings(), DIFFERENCES[preset])


def settings_over_preset(part: Callable[[AllSettings], Settings]) -> BeforeValidator:
    """Have a request's settings, as a form or a program sends them, turn its preset; settings made by us stay as they are.

    What an experiment sets of the method counts as its method.
    """

    def over(given: object, request: ValidationInfo) -> object:
        if not isinstance(given, Mapping):
            return given
        method, values = part(method_of(request.data.get("preset", "default"))), request.data.get("set")
        return apply_settings(set_values(method, values) if values and isinstance(method, AllSettings) else method, given)

    return BeforeValidator(over)


def set_values(settings: AllSettings, values: Mapping[str, Any]) -> AllSettings:
    """Return the settings with these values, by dotted names, of the method too; RequestError for a name or value that is wrong."""
    names = [name for name, _field in leaves(AllSettings)]
    for name, value in values.items():
        if isinstance(value, int | float) and value < 0:
            raise RequestError(f"{name} = {value}: nothing here is below 0", name, "`flowreader settings --method` lists values")
        if name not in names:
            near = get_close_matches(name, names, n=1)
            raise RequestError(
                f"there is nothing called {name!r} to set" + (f" (did you mean {near[0]}?)" if near else ""),
                name,
                "`flowreader settings --method` lists the method, `flowreader settings` the rest",
            )
    try:
        return change_settings(settings, values)
    except ValidationError as error:
        wrong = ", ".join(map(_complaint, error.errors()))
        raise RequestError(wrong, ", ".join(values), "`flowreader settings --method` shows usual values") from error


def without_hurry(method: AllSettings) -> AllSettings:
    """Return the method for questions that nobody waits for: no deadline, unless settings over it name one."""
    return change_settings(method, {"ask.seconds": None})


def load_settings(path: Path | None, preset: Preset = "default", *, hurry: bool = True) -> AllSettings:
    """Return the settings of a TOML file, if any, over a preset; RequestError where a name is unknown or a value out of bounds."""
    try:
        given = tomllib.loads(path.read_text("utf-8")) if path else {}
        method = method_of(preset) if hurry else without_hurry(method_of(preset))
        settings = AllSettings.model_validate(apply_settings(method, given))
        if path and settings.ask.weights:
            # Named next to the settings, wherever the command is run.
            return change_settings(settings, {"ask.weights": str((path.parent / settings.ask.weights).absolute())})
        return settings
    except OSError as error:
        raise RequestError(
            f"settings file {str(path)!r} cannot be read: {error.strerror}",
            str(path),
            "`flowreader settings` lists what may stand in it",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RequestError(
            f"settings file {str(path)!r} is not TOML: {error}", str(path), "`flowreader settings` shows the form"
        ) from error
    except MethodError as error:
        what, remedy = parts_of(error)
        raise RequestError(f"settings file {str(path)!r}: {what}", str(path), remedy) from error
    except ValidationError as error:
        wrong = ", ".join(map(_complaint, error.errors()))
        raise RequestError(
            f"settings file {str(path)!r}: {wrong}", str(path), "`flowreader settings` lists names and bounds"
        ) from error


def _complaint(found: ErrorDetails) -> str:
    name = ".".join(str(part) for part in found["loc"])
    if found["type"] == "value_error":
        return f"{name}: {found['ctx']['error']}"
    if found["type"] == "extra_forbidden":
        near = get_close_matches(name, [known for known, _field in leaves(AllSettings)], n=1)
        return f"there is no setting {name}" + (f" (did you mean {near[0]}?)" if near else "")
    return f"{name} = {found['input']!r}: {found['msg'][:1].lower()}{found['msg'][1:]}"
