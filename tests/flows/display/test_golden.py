"""All that is shown, in every face, beside what was shown before: a change of the display is a diff that a person reads.

`make golden` writes the files of tests/golden anew.
"""

import io
import os
from contextlib import redirect_stdout
from difflib import unified_diff
from functools import cache
from pathlib import Path

import pytest

from flows.cli.arguments.commands import build_parser
from flows.cli.corpus_commands import show_corpus
from flows.display.output import Output
from flows.frames import Corpus
from flows.prefect_runs import pages as answer_pages
from flows.service.openai_protocol import make_reply
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from tasks.views.corpora import view_corpus
from tasks.views.render import MARKDOWN, draw
from tests.golden_cases import BADLY_DONE, CHECKUPS, CORPORA, DONE, ERRORS, FINDINGS, SKIPPED
from tests.golden_faces import (
    API,
    as_rest,
    blank_page,
    by_command,
    by_http,
    by_mcp,
    command,
    door,
    html,
    kept,
    pretty,
    raised_by,
    screen,
    settled,
    told,
    tool,
    unless_same,
)
from tests.golden_worlds import MEASURED, MEASURED_AGAIN, MEASURED_BADLY, TRAPPED, golden_world
from tests.lineage_worlds import INGEST

FOLDER = Path(__file__).parents[2] / "golden"
PAGE = {"Accept": "text/html", "Origin": "http://127.0.0.1:4280"}
DOCUMENTS = {"text": "report.pdf", "drawn": "paper.pdf", "failed": "torn.pdf", "hostile": TRAPPED.id[:8]}
FACES = {}
"""What gives the cases of a face, each with its words, by the name of its file."""


def face(cases):
    FACES[cases.__name__] = cases
    return cases


# What shows an answer, by its id.
ANSWER = {
    "terminal": lambda name: command("answers", "show", name),
    "screen": lambda name: screen("answers", "show", name),
    "json": lambda name: told("answers", "show", name),
    "markdown": lambda name: answer_pages.answer_page(kept(name), Path("/reports/a.html")),
    "report": lambda name: html(door().get(f"/answers/{name}/report")),
    "page": lambda name: html(door().get(f"/answers/{name}")),
    "rest": lambda name: unless_same(pretty(door().get(f"{API}/answers/{name}").text), told("answers", "show", name)),
    "mcp": lambda name: tool("get_answer", answer_id=name, corpus="default"),
    "openai": lambda name: pretty(make_reply(kept(name), "default", 0, "http://here").whole()),
    "lineage_terminal": lambda name: command("lineage", name),
    "lineage_json": lambda name: told("lineage", name),
    "lineage_page": lambda name: html(door().get(f"/answers/{name}/lineage")),
}
WITH_LINEAGE = ("answered", "withheld", "hostile")


def answers_in(show, cases):
    return lambda world: [(case, show(answer.answer_id)) for case, answer in world.answers.items() if case in cases or not cases]


FACES |= {f"answer_{name}": answers_in(show, WITH_LINEAGE if "lineage" in name else ()) for name, show in ANSWER.items()}
COMMANDS = {
    "corpus": (
        ("answers", "list"),
        ("status",),
        ("corpora", "list"),
        *(("documents", "show", name) for name in DOCUMENTS.values()),
        ("documents", "remove", "gone.pdf"),
        ("doctor",),
        ("doctor", "--models"),
    ),
    "lineage": (("lineage", "report.pdf"), ("lineage", TRAPPED.id[:8]), ("lineage", INGEST), ("lineage", "ask-4444")),
    "evaluation": (
        ("evaluate", "list"),
        ("evaluate", "show", MEASURED),
        ("evaluate", "show", MEASURED, "--markdown"),
        ("evaluate", "show", MEASURED_BADLY),
        ("evaluate", "compare", MEASURED, MEASURED_AGAIN),
    ),
}
AS_JSON_ELSEWHERE = (("answers", "list"), ("evaluate", "show", MEASURED, "--markdown"))


def commands_in(show, commands):
    return lambda _world: [(" ".join(arguments), show(*arguments)) for arguments in commands]


for subject, commands in COMMANDS.items():
    FACES[f"{subject}_terminal"] = commands_in(command, commands)
    FACES[f"{subject}_screen"] = commands_in(screen, commands)
    FACES[f"{subject}_json"] = commands_in(told, [arguments for arguments in commands if arguments not in AS_JSON_ELSEWHERE])


@face
def ingest_terminal(_world):
    with open_for_reading(corpus_location("default")) as snapshot:
        corpus, report = view_corpus(snapshot, [], SKIPPED), snapshot.find("report.pdf")
    for case, as_json in (("what was read", False), ("--json", True)):
        with redirect_stdout(io.StringIO()) as out:
            show_corpus(corpus, [report], Output(as_json))
        yield case, pretty(out.getvalue()) if as_json else out.getvalue()


@face
def prefect_pages(world):
    run, service = INGEST, "http://127.0.0.1:4280"
    yield "corpus", draw(MARKDOWN, "corpus_page.j2", corpus="default", form="", service="")
    yield "corpus with a service", draw(MARKDOWN, "corpus_page.j2", corpus="default", form="/form", service=service)
    yield "ingest", draw(MARKDOWN, "ingest_page.j2", report=DONE, run=run)
    yield "ingest by a model, with failures", draw(MARKDOWN, "ingest_page.j2", report=BADLY_DONE, run=run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLOWREADER_ASK_ADDRESS", "127.0.0.1:4280")
        yield "answer with a service", answer_pages.answer_page(kept(world.answers["answered"].answer_id), Path("/reports/a.html"))


@face
def corpus_page(_world):
    for path in (
        "/?corpus=default",
        "/?corpus=new",
        "/?corpus=damaged",
        *(f"/documents/{name}" for name in DOCUMENTS.values()),
        "/documents/report.pdf/pages/2?answer=33333333&cited=1",
        "/documents/paper.pdf/pages/1?answer=11111111&cited=2",
        f"/documents/{TRAPPED.id[:8]}/pages/1?answer=99999999&cited=1",
    ):
        yield path, html(door().get(path, headers=PAGE))
    yield "a removal", html(door().post("/documents/gone.pdf/remove", headers=PAGE))


@face
def corpus_rest(_world):
    documents = [f"{API}/documents/{name}" for name in DOCUMENTS.values()]
    pages = [f"{API}/documents/{name}/pages/1" for name in DOCUMENTS.values()]
    for path in (
        "/api/v1/corpora",
        API,
        f"{API}/documents",
        *documents,
        f"{API}/documents/paper.pdf/outline",
        *pages,
        f"{API}/answers",
    ):
        yield path, pretty(door().get(path).text)
    yield "a removal", pretty(door().delete(f"{API}/documents/gone.pdf").text)


@face
def corpus_mcp(_world):
    yield "list_corpora", tool("list_corpora")
    yield "list_documents", tool("list_documents", corpus="default")
    yield "get_outline", tool("get_outline", document="paper.pdf", corpus="default")
    for case, name in DOCUMENTS.items():
        yield f"get_page, {case}", tool("get_page", document=name, page=1, corpus="default")


@face
def frames(_world):
    corpus = Corpus("default")
    answers = corpus.answers()
    cited, tables = corpus.citations(answers), corpus.tables("report.pdf")
    for case, frame in {"documents": corpus.documents(), "tables": tables, "answers": answers, "citations": cited}.items():
        columns = "\n".join(f"{name}: {kind}" for name, kind in frame.schema.items())
        yield case, f"{columns}\n{frame.write_ndjson()}"


SAY = {
    "terminal": lambda error: by_command(error, as_json=False),
    "json": lambda error: by_command(error, as_json=True),
    "http": as_rest,
    "page": lambda error: by_http(error, "/").body.decode().partition("<main")[2].partition("</main>")[0],
    "mcp": by_mcp,
    "openai": lambda error: pretty(by_http(error, "/v1/chat/completions").body.decode()),
}


def errors_in(say):
    return lambda _world: [(case, say(raised_by(do))) for case, do in ERRORS.items()]


FACES |= {f"error_{name}": errors_in(say) for name, say in SAY.items()}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    home = tmp_path_factory.mktemp("golden") / "home"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("FLOWREADER_ASK_ADDRESS", "FLOWREADER_ASK_TOKEN", "NO_COLOR", "COLORTERM", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        for name, value in (("FLOWREADER_HOME", str(home)), ("TERM", "xterm"), ("COLUMNS", "100")):
            patch.setenv(name, value)
        with golden_world(home) as made:
            for remove in ("storage.cleaning.removing", "flows.service.web.documents", "flows.service.rest.documents"):
                patch.setattr(f"{remove}.remove_document", lambda *_, **__: made.receipt)
            patch.setattr("flows.cli.corpus_commands.view_corpora", lambda: CORPORA)
            patch.setattr("storage.corpus.doctor.examine", lambda _location: FINDINGS)
            patch.setattr("tasks.models.checkup_of_servers.check_models", lambda: CHECKUPS)
            # To make it takes longer than what it parses.
            patch.setattr("flows.cli.main.build_parser", cache(build_parser))
            patch.setattr("tasks.report.pictures.page_bytes", blank_page)
            yield made


@pytest.mark.parametrize("name", FACES)
def test_what_is_shown_is_what_was_shown(name, world):
    cases = "".join(f"######## {case}\n{words.rstrip()}\n\n" for case, words in FACES[name](world))
    file, now = FOLDER / f"{name}.txt", settled(cases, world.home)
    if os.environ.get("GOLDEN") == "write":
        file.write_text(now, "utf-8")
    before = file.read_text("utf-8") if file.exists() else ""
    diff = "\n".join(unified_diff(before.split("\n"), now.split("\n"), f"golden/{file.name}", "now", lineterm=""))
    if diff:
        pytest.fail(f"{diff}\n\nwhere that is meant, `make golden` writes it anew", pytrace=False)


def test_each_golden_file_has_its_face():
    assert {file.stem for file in FOLDER.iterdir()} == FACES.keys()
