"""The one place that knows where things lie; the only reader of FLOWREADER_HOME."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from storage.errors import RequestError

ID_PREFIX = re.compile(r"[0-9a-f]{8,64}")
"""How people may begin an id."""
LIKENESS = 0.5
"""From which share of common letters on a name may be a misspelling of another."""
USUAL_CORPUS = "default"
"""The corpus of the first ingest, if it names none."""
CORPUS_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def home() -> Path:
    """Return the folder of all FlowReader data, absolute; it need not exist yet."""
    named = os.environ.get("FLOWREADER_HOME")
    return Path(named).expanduser().absolute() if named else Path.home() / ".local" / "share" / "flowreader"


def artifacts_folder(of: Path | None = None) -> Path:
    """Return the folder of artifacts, shared by all corpora; here and below, `of` is the home where it is not this process's."""
    return (of or home()) / "artifacts"


def steps_folder(of: Path | None = None) -> Path:
    return (of or home()) / "steps"


def pictures_folder(of: Path | None = None) -> Path:
    """Return the folder that remembers the words that OCR found, by the picture's hash."""
    return (of or home()) / "words"


def calls_folder(of: Path | None = None) -> Path:
    """Return the folder that remembers what models replied, by the document or the corpus that they were asked for."""
    return (of or home()) / "calls"


def abilities_folder() -> Path:
    """Return the folder that remembers what served models can do, in a file for each."""
    return home() / "abilities"


def evaluations_file() -> Path:
    """Return the DuckDB file with the results of all evaluations of all corpora."""
    return home() / "evaluations.duckdb"


def evaluations_folder() -> Path:
    """Return the folder of an evaluation's other files, in a folder named by its run's id."""
    return home() / "evaluations"


def reports_folder(of: Path | None = None) -> Path:
    """Return the folder of deployed runs' answers: an HTML page for each, and the results that Prefect keeps."""
    return (of or home()) / "reports"


def mirrors_folder(of: Path | None = None) -> Path:
    """Return the folder of our copies of objects in object stores."""
    return (of or home()) / "mirrors"


def uploads_folder(of: Path | None = None) -> Path:
    """Return the folder of uploads, as the catalog names it: in a folder for each corpus and content."""
    return (of or home()).resolve() / "uploads"


def prefect_folder() -> Path:
    """Return Prefect's folder: PREFECT_HOME where it is set, else inside ours."""
    named = os.environ.get("PREFECT_HOME")
    return Path(named).expanduser().absolute() if named else home() / "prefect"


@dataclass(frozen=True, slots=True)
class CorpusLocation:
    """The folder of one corpus and the places in it."""

    name: str
    folder: Path

    @property
    def home(self) -> Path:
        """The folder of all FlowReader data that the corpus lies in."""
        return self.folder.parents[1]

    @property
    def lance(self) -> Path:
        """The LanceDB database: nodes, pages, rows and edges."""
        return self.folder / "lance"

    @property
    def catalog(self) -> Path:
        """The writer's DuckDB file; no reader opens it."""
        return self.folder / "catalog.duckdb"

    @property
    def set_aside(self) -> list[Path]:
        """Catalogs that were damaged, kept; they name documents and their headings."""
        kinds = ("damaged-*", "wal.damaged-*")
        return [path for kind in kinds for path in sorted(self.folder.glob(f"{self.catalog.name}.{kind}"))]

    @property
    def snapshots(self) -> Path:
        return self.folder / "snapshots"

    @property
    def current(self) -> Path:
        """The pointer to the published snapshot; its rename is the commit."""
        return self.folder / "CURRENT"

    @property
    def damage_report(self) -> Path:
        """Where doctor leaves word that the graph cannot be read; the next writer looks closely and removes it."""
        return self.folder / "DAMAGED"

    @property
    def index_due(self) -> Path:
        """Stands from the first publish of an ingest until its indexes are made."""
        return self.folder / "INDEX-DUE"

    @property
    def purge_due(self) -> Path:
        """Stands from a removal until no file holds the removed text any more; it says of what, and since when."""
        return self.folder / "PURGE-DUE"

    @property
    def lock(self) -> Path:
        """The lock of the one writer."""
        return self.folder / "lock"

    @property
    def pulled(self) -> Path:
        """Names the address that the corpus was pulled from; stands only in a pulled one."""
        return self.folder / "PULLED"

    @property
    def runs(self) -> Path:
        """The lineage: one JSON Lines file for each run."""
        return self.folder / "runs"

    @property
    def asked(self) -> Path:
        """What questions made that may be asked again: a folder for each snapshot, with answers that quote the documents."""
        return self.folder / "asked"

    def question_folder(self, snapshot: int) -> Path:
        return self.asked / str(snapshot)

    @property
    def evaluations(self) -> Path:
        """What evaluations asked already: one file for each arm, with answers that quote the documents."""
        return self.folder / "evaluations"


def corpora_folder() -> Path:
    return home() / "corpora"


def corpus_location(name: str) -> CorpusLocation:
    """Return where the corpus lies; raise RequestError where the name could leave the folder."""
    if not CORPUS_NAME.fullmatch(name):
        raise RequestError(
            f"corpus name {name!r} is not usable",
            name,
            "take letters, digits, '.', '_' and '-', begin with a letter or digit, 64 characters at most",
        )
    return CorpusLocation(name=name, folder=corpora_folder() / name)


def nearest(asked: str, known: Sequence[str]) -> str:
    """Return ", the nearest is 'report.pdf'" where a known name resembles the asked one, else nothing."""
    lowered = {name.lower(): name for name in sorted(known)}
    found = get_close_matches(asked.lower(), lowered, n=1, cutoff=LIKENESS)
    return f", the nearest is {lowered[found[0]]!r}" if found else ""
