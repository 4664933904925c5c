"""The errors that a command may end with: said in words, without a traceback."""

from flows.prefect_environment import PrefectServerError
from storage.answers import AmbiguousAnswerError, UnknownAnswerError
from storage.artifacts import ArtifactDamagedError
from storage.catalog import CatalogBusyError, CatalogDamagedError, StoreTooNewError
from storage.codec import CodecError
from storage.current import CurrentDamagedError, PulledError
from storage.evaluations import AmbiguousEvaluationError, UnknownEvaluationError
from storage.graph_checks import GraphError
from storage.graph_store import GraphDamagedError
from storage.lineage_search import AmbiguousLineageError, UnknownLineageError
from storage.locations import LocationError
from storage.lock import CorpusBusyError, FencedError
from storage.object_address import AddressError
from storage.object_client import StoreError
from storage.reconciling import EmbedderMismatchError
from storage.runs import RunGoneError
from storage.snapshot import AmbiguousDocumentError, UnknownCorpusError, UnknownDocumentError
from storage.transfer import TransferError
from tasks.ask_request import QuestionError
from tasks.ask_settings import SettingsError
from tasks.discovery import DiscoveryError
from tasks.errands import WorkersError
from tasks.metrics_endpoint import MetricsError
from tasks.models.chat_errors import ChatEndedError
from tasks.models.endpoints import EndpointError
from tasks.models.ocr import OcrError
from tasks.models.vector_checks import EmbeddingError
from tasks.parsers.supervisor import ParserStartError

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
"""What the world, not the program, did wrong: said in words, without a traceback."""
