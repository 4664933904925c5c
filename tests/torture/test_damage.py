"""Files of a good store are damaged: the doctor names it, and what it says to do mends it."""

import json
import random
import re
import shutil

import duckdb
import pytest

from storage.catalog.current import snapshot_numbers, snapshot_path
from storage.corpus.snapshot import open_for_reading
from tests.program import CORPUS
from tests.torture.lab import NAME, Run, check_oracle, damage, export, findings, ingest, location, sampled

pytestmark = pytest.mark.torture

KINDS = ("truncated", "empty", "zeroed", "flipped", "garbled")


PREFECT = shutil.ignore_patterns("prefect")


@pytest.fixture
def home(tmp_path, cheap):
    """A copy of the home of the cheap documents."""
    return shutil.copytree(cheap.home, tmp_path / "home", ignore=PREFECT)


@pytest.fixture
def home_that_read_more(home, longer):
    """The home, which remembers what came of the document that it is to publish next: no model need be loaded for it."""
    for part in ("steps", "artifacts"):
        shutil.copytree(longer[0].parent / "home" / part, home / part, dirs_exist_ok=True)
    return home


@pytest.fixture(scope="module")
def longer(tmp_path_factory, cheap, server):
    """The folder of the cheap documents and one more, and the export with it: an ingest of it has something to publish."""
    folder = tmp_path_factory.mktemp("longer")
    shutil.copytree(cheap.home, folder / "home", ignore=PREFECT)
    documents = folder / "more"
    documents.mkdir()
    page = (CORPUS / "product_page.html").read_text()
    (documents / "more.html").write_text(page.replace("<body>", "<body><p>This page is another one.</p>", 1))
    ingest(cheap.documents, documents, home=folder / "home", server=server).ended(0)
    return documents, export(folder / "home")


def test_every_damaged_artifact_is_named_and_the_remedy_mends_it(home, cheap, server, tell):
    generator = random.Random(5)
    artifacts = sorted(path for path in (home / "artifacts").rglob("*") if path.is_file())
    with open_for_reading(location(home)) as snapshot:
        names = {record.name for record in snapshot.documents()}
    told = 0
    for number, path in enumerate(artifacts):
        whole = path.read_bytes()
        damage(path, KINDS[number % len(KINDS)], generator)
        told += any(path.name[:12] in found.what and any(name in found.what for name in names) for found in findings(home))
        path.write_bytes(whole)
    tell(f"N = {len(artifacts)} damaged artifacts, {told} named; 95 % bound 3/N = {3 / len(artifacts):.3f}")
    assert told == len(artifacts) > len(names)
    for number, path in enumerate(artifacts):
        damage(path, KINDS[number % len(KINDS)], generator)
    remedies = {re.search("`flowreader (.*?)`", found.remedy)[1] for found in findings(home)}
    assert len(remedies) == len(names)
    for remedy in remedies:
        Run(*remedy.split(), "--json", home=home).ended(0)
    ingest(cheap.documents, home=home, server=server).ended(0)
    check_oracle(home, cheap.export)


def test_damaged_artifacts_and_notes_of_steps_are_made_again(home, cheap, server, tell):
    generator = random.Random(6)
    files = sorted(path for part in ("artifacts", "steps", "words") for path in (home / part).rglob("*") if path.is_file())
    for number, path in enumerate(files):
        damage(path, KINDS[number % len(KINDS)], generator)
    tell(f"N = {len(files)} damaged files")
    ingest(cheap.documents, home=home, server=server, corpus="again").ended(0)
    check_oracle(home, cheap.export, "again")
    assert findings(home) == []


def newest(place):
    return snapshot_path(place, max(snapshot_numbers(place)))


def garble_all(folder, kind, seed):
    for path in folder.iterdir():
        damage(path, kind, random.Random(seed))


def older_catalog(place):
    shutil.copyfile(snapshot_path(place, min(snapshot_numbers(place))), place.catalog)


def without_catalogs(place):
    shutil.rmtree(place.snapshots)
    place.catalog.unlink()
    place.current.unlink()


SEEN_BY_DOCTOR = {
    "a garbled pointer": lambda place: place.current.write_bytes(b"\x00garbage"),
    "an empty pointer": lambda place: place.current.write_bytes(b""),
    "a flipped snapshot": lambda place: damage(newest(place), "flipped", random.Random(3)),
    "no snapshots": lambda place: shutil.rmtree(place.snapshots),
    "no graph": lambda place: shutil.rmtree(place.lance),
    "a table gone": lambda place: shutil.rmtree(place.lance / "edges.lance"),
    "truncated data": lambda place: garble_all(place.lance / "nodes.lance" / "data", "truncated", 4),
    "garbled manifests": lambda place: garble_all(place.lance / "edges.lance" / "_versions", "garbled", 5),
}
SILENT = {
    "a garbled log": lambda place: place.catalog.with_name("catalog.duckdb.wal").write_bytes(random.Random(2).randbytes(5000)),
    "no catalog at all": without_catalogs,
    "a garbled lock": lambda place: place.lock.write_bytes(b"\xff\xfe not json"),
    "truncated lineage": lambda place: garble_all(place.runs, "truncated", 6),
}
"""These damage nothing that is published, or leave nothing to be surprised at."""
DAMAGES = {
    "no catalog": lambda place: place.catalog.unlink(),
    "a garbled catalog": lambda place: damage(place.catalog, "garbled", random.Random(1)),
    "an empty catalog": lambda place: damage(place.catalog, "empty", random.Random(1)),
    "an older catalog": older_catalog,
    "no pointer": lambda place: place.current.unlink(),
    **SEEN_BY_DOCTOR,
    **SILENT,
}


@pytest.mark.parametrize("harm", sampled([*DAMAGES], 7))
def test_the_next_ingest_mends_a_damaged_store_and_says_so(home_that_read_more, cheap, longer, server, harm):
    home, (more, expected) = home_that_read_more, longer
    DAMAGES[harm](location(home))
    if harm in SEEN_BY_DOCTOR:
        told = Run("doctor", "--corpus", NAME, "--json", home=home).ended(1).said["findings"]
        assert told and all(finding["what"] and finding["remedy"] for finding in told)
    run = ingest(cheap.documents, more, home=home, server=server).ended(0)
    # a corpus that began anew reads everything again: the run's own folder of documents is what comes back
    check_oracle(home, expected)
    if harm not in SILENT:
        words = run.words.lower()
        assert any(word in words for word in ("damaged", "restored", "written again", "published now", "begins anew", "lost")), (
            run.words
        )


@pytest.mark.parametrize(
    "harm",
    sampled(("a garbled pointer", "a flipped snapshot", "truncated data", "no graph", "no pointer"), 2),
)
def test_the_remedy_of_the_doctor_works_without_new_documents(home, cheap, server, harm):
    DAMAGES[harm](location(home))
    if harm in SEEN_BY_DOCTOR:
        Run("doctor", "--corpus", NAME, "--json", home=home).ended(1)
    ingest(cheap.documents, home=home, server=server).ended(0)
    check_oracle(home, cheap.export)


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "lock"
    }


@pytest.mark.parametrize("where", sampled(("catalog", "current", "both"), 2))
def test_a_store_of_a_newer_version_is_refused_and_left_untouched(home, cheap, longer, server, where):
    more, _ = longer
    place = location(home)
    if where != "catalog":
        said = json.loads(place.current.read_bytes())
        place.current.write_text(json.dumps({**said, "schema_version": 99, "what": "we do not know yet"}))
    if where != "current":
        with duckdb.connect(str(place.catalog)) as connection:
            connection.execute("UPDATE corpus SET schema_version = 99")
    before = contents(place.folder)
    run = ingest(cheap.documents, more, home=home, server=server).ended(2)
    assert "99" in run.error and "newer" in run.error
    assert contents(place.folder) == before
    if where != "catalog":
        for command in (("status",), ("doctor",), ("documents", "export")):
            refused = Run(*command, "--corpus", NAME, "--json", home=home).ended(2)
            assert "99" in refused.error
