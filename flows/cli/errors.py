"""The errors that a command may end with: shown as a message, without a traceback."""

from flows.prefect_runs.server import PrefectServerError
from storage.artifacts import ArtifactDamagedError
from storage.catalog.catalog import CatalogBusyError, CatalogDamagedError, StoreTooNewError
from storage.catalog.current import CurrentDamagedError, PulledError
from storage.codec import CodecError
from storage.corpus.reconciling import EmbedderMismatchError
from storage.corpus.snapshot import AmbiguousDocumentError, UnknownCorpusError, UnknownDocumentError
from storage.corpus.transfer import TransferError
from storage.evaluations import AmbiguousEvaluationError, UnknownEvaluationError
from storage.graph.checks import GraphError
from storage.graph.store import GraphDamagedError
from storage.locations import LocationError
from storage.lock import CorpusBusyError, FencedError
from storage.object_address import AddressError
from storage.object_client import StoreError
from storage.runs.answers import AmbiguousAnswerError, UnknownAnswerError
from storage.runs.log import RunGoneError
from tasks.asking.request import QuestionError
from tasks.finding.files import DiscoveryError
from tasks.ingest.cluster_jobs import WorkersError
from tasks.lineage.search import AmbiguousLineageError, UnknownLineageError
from tasks.models.chat.errors import ChatEndedError
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.endpoints import EndpointError
from tasks.models.ocr import OcrError
from tasks.parsing.supervisor import ParserStartError
from tasks.settings.ask import SettingsError
from tasks.watching.metrics_endpoint import MetricsError

EXPECTED = (
    AddressError,
    AmbiguousAnswerError,
    AmbiguousDocumentError,
    AmbiguousEvaluationError,
    AmbiguousLineageError,
    ArtifactDamagedError,
    CatalogBusyError,
    CatalogDamagedError,
    ChatEndedError,
    CodecError,
    CorpusBusyError,
    CurrentDamagedError,
    DiscoveryError,
    EmbedderMismatchError,
    EmbeddingError,
    EndpointError,
    FencedError,
    GraphDamagedError,
    GraphError,
    LocationError,
    MetricsError,
    OSError,
    OcrError,
    ParserStartError,
    PrefectServerError,
    PulledError,
    QuestionError,
    RunGoneError,
    SettingsError,
    StoreError,
    StoreTooNewError,
    TransferError,
    UnknownAnswerError,
    UnknownCorpusError,
    UnknownDocumentError,
    UnknownEvaluationError,
    UnknownLineageError,
    WorkersError,
)
"""What is wrong with the surroundings, not with the program: shown as a message, without a traceback."""
