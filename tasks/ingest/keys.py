"""What the steps of a document share: their tools, how results are kept, and the keys by which an earlier result is found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from storage.artifacts import ArtifactStore, hash_bytes
from storage.codec import decode_graph, encode_graph, from_json, load_arrays, save_arrays, to_json
from storage.records.documents import ParsedDocument, Vectors, identify
from storage.records.embedded import Embedded, Tokens
from tasks.algorithms.links import EvolvedVectors
from tasks.content_graph.asking import uses_short_forms
from tasks.content_graph.model_evolution import EvolvedNodes
from tasks.content_graph.structure import Structured
from tasks.finding.plan import DocumentWork
from tasks.models.chat.errors import ChatError, Outcome
from tasks.models.chat.model import ChatModel
from tasks.models.embedding.embedder import Embedder
from tasks.models.endpoints import SERVED
from tasks.models.ocr import ocr_identity
from tasks.parsing.parse import parse_inputs
from tasks.settings.ingest import IngestSettings
from tasks.step import MODEL, Codec, StepKey


@dataclass(frozen=True, slots=True)
class IngestTools:
    """What the steps of a run share; `chat` is None where rules read, `second` where the corpus has one embedder."""

    settings: IngestSettings
    artifacts: ArtifactStore
    embedder: Embedder
    chat: ChatModel | None = None
    second: Embedder | None = None

    @property
    def tag_of_chat(self) -> str:
        analysis = self.settings.reading.analysis
        return MODEL if self.chat is not None and "model" in (analysis.by, analysis.pages) and not self.reads_pages else ""

    @property
    def reads_pages(self) -> bool:
        """Whether the model reads page by page; a small one does not."""
        analysis = self.settings.reading.analysis
        return self.chat is not None and analysis.pages == "model" and not uses_short_forms(analysis.model.forms, self.chat)

    @property
    def tag_of_embedder(self) -> str:
        return MODEL if self.embedder.identity.precision == SERVED else ""


Evolved = EvolvedVectors | EvolvedNodes
"""What the rounds of evolution left: of vectors by rule, of nodes by a model."""


def may_be_mended(errors: Mapping[int, ChatError]) -> bool:
    """Say whether asking again may help: no reply came. What the model declined or twice got wrong it will again."""
    return any(error.outcome == Outcome.FAILED for error in errors.values())


def is_unfinished(structured: Structured, evolved: Evolved) -> bool:
    """Say whether another ingest could make more of the document: a model did not reply about some of its nodes."""
    return structured.unfinished or (isinstance(evolved, EvolvedNodes) and may_be_mended(evolved.errors))


def pictures_of(parsed: ParsedDocument) -> set[str]:
    """Return the artifacts that a parsed document points to: page images and figure crops."""
    crops = {block.picture for page in parsed.pages for block in page.blocks}
    return {name for name in crops | {page.image for page in parsed.pages} if name}


PARSED = Codec(
    encode=lambda parsed: [to_json(parsed)],
    decode=lambda parts: from_json(ParsedDocument, parts[0]),
    pictures=pictures_of,
)
VECTORS: Codec[Vectors] = Codec(
    encode=lambda vectors: [save_arrays([vectors], None)], decode=lambda parts: load_arrays(parts[0])[0][0]
)


def _embedded(vectors: Sequence[Vectors], tokens: Tokens | None) -> Embedded:
    return Embedded(vectors[0], tokens)


EMBEDDED: Codec[Embedded] = Codec(
    encode=lambda embedded: [save_arrays([embedded.vectors], embedded.tokens)],
    decode=lambda parts: _embedded(*load_arrays(parts[0])),
)
GRAPH = Codec(
    encode=encode_graph,
    decode=lambda parts: decode_graph(parts[0], parts[1]),
    pictures=lambda graph: {name for name in [*(n.picture for n in graph.nodes), *(p.image for p in graph.pages)] if name},
)


def hash_structured(structured: Structured) -> dict[str, str]:
    """Return the hash of parts that are made anew each time, for the lineage."""
    return {"0": hash_bytes(to_json(structured))}


def nodes_hash(judged: EvolvedNodes) -> dict[str, str]:
    return {"0": hash_bytes(to_json(judged.nodes))}


def vectors_hash(evolved: EvolvedVectors) -> dict[str, str]:
    return {"0": hash_bytes(evolved.vectors.tobytes())}


def parse_key(work: DocumentWork, tools: IngestTools) -> StepKey:
    """Key by the bytes, the parser and its settings; limits may send a page to a fallback, but a ready one is not read again."""
    reading = tools.settings.reading
    return StepKey(work.document_id, parse_inputs(work.document_id, reading.parse, reading.ocr), work.name)


def words_key(work: DocumentWork, _parsed: ParsedDocument, tools: IngestTools) -> StepKey:
    return StepKey(work.document_id, identify(parse_key(work, tools).inputs, ocr_identity()), work.name)


def version_key(work: DocumentWork, *_inputs: object) -> StepKey:
    return StepKey(work.document_id, work.version, work.name)


def round_key(work: DocumentWork, number: int, *_inputs: object) -> StepKey:
    return StepKey(work.document_id, identify(work.version, number), f"{number} {work.name}")


def graph_key(
    work: DocumentWork,
    _parsed: ParsedDocument,
    structured: Structured,
    _initial: Embedded,
    _tools: IngestTools,
    evolved: Evolved,
    _second: Embedded | None = None,
) -> StepKey:
    """Key by the version; an unfinished graph also by its content, so that it is not taken for the finished one."""
    if not is_unfinished(structured, evolved):
        return version_key(work)
    held = (structured, evolved.nodes, sorted(evolved.errors)) if isinstance(evolved, EvolvedNodes) else structured
    return StepKey(work.document_id, identify(work.version, hash_bytes(to_json(held))), work.name)


def vectors_key(work: DocumentWork, texts: Sequence[str], tools: IngestTools) -> StepKey:
    batch = tools.settings.reading.embedding.batch_nodes
    return StepKey(work.document_id, identify(tools.embedder.identity.key, batch, keeps_tokens(tools), *texts), work.name)


def keeps_tokens(tools: IngestTools) -> bool:
    """Say whether tokens are kept: of the first embedder, where nobody turned them off."""
    return tools.settings.reading.embedding.tokens and not tools.embedder.identity.named


def round_vectors_key(work: DocumentWork, number: int, texts: Sequence[str], tools: IngestTools) -> StepKey:
    return replace(vectors_key(work, texts, tools), name=f"{number} {work.name}")
