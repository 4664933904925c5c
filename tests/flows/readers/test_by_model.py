"""The four readers driven by a chat model behind a real socket: the story of each, who rates pages, and pages shown as pictures."""

import asyncio
import io
import re
import time
from collections import Counter
from dataclasses import replace
from itertools import count

import pytest
from PIL import Image

from storage.artifacts import ArtifactStore, hash_bytes
from storage.corpus.writer import open_for_writing
from storage.locations import artifacts_folder
from storage.records.answers import AnswerStatus, TraceKind
from storage.records.documents import Modality, NodeKind
from tasks.models.chat.errors import ChatEndedError
from tasks.models.endpoints import Endpoint
from tasks.readers.page_pictures import page_images, with_pages
from tasks.reading.choice import chat_server_of, open_reader
from tasks.settings.ask import method_of
from tests.asking_worlds import Passage, answer_at, asked, at_context, published, written
from tests.chat_server import Misbehaviour, chat_server
from tests.flows.readers.lengths import ALL_FORMS, BLADE, CABLE, DOCUMENT, FACTS, QUESTION, WIRE, everything, step, turn
from tests.scripted_answers import (
    IMPATIENT,
    Reader,
    booked,
    forms,
    model_settings,
    of_form,
    passages_of,
    path_answer,
    pieces_of,
    question_of,
    read_by,
    whole_answer,
)
from tests.storage.worlds import EMBEDDER, corpus_in, record
from tests.tasks.report.report_worlds import id_of, squares_pdf

WORLD = (DOCUMENT,)


def in_turn(*replies):
    """Reply one after the other, the last one for ever."""
    numbers = count()
    return lambda _request: replies[min(next(numbers), len(replies) - 1)]


def told(answer, kind):
    return [step for step in answer.trace if step.kind is kind]


def test_a_plan_keeps_what_was_answered_mends_what_was_not_and_asks_in_order(context):
    """G2-Reader's figure 4: two sub-questions, a gap, one kept, one changed, one more that needs it: nine calls."""
    plans = in_turn({"thought": "both", "steps": [step("s1", BLADE), step("s2", CABLE)]})
    mended = {
        "thought": "it may be a wire",
        "steps": [step("s1", BLADE), step("s2", WIRE), step("s3", "Is it longer than the blade?", "s2")],
    }
    checks = in_turn(
        {"reason": "no cable", "sufficient": False, "missing": ["the length of the cable, under another name"]},
        {"reason": "both", "sufficient": True, "missing": []},
    )

    def read(request):
        part = dict(pieces_of(request))["the part to answer"]
        if part == BLADE:
            return path_answer("20 metres", [cited(request, "20 metres long")])
        return (
            path_answer("35 metres", [cited(request, "35 metres long")])
            if part != CABLE
            else path_answer("", status="not_reported")
        )

    def replies(request):
        return mended if "missing" in dict(pieces_of(request)) else plans(request)

    model = Reader(FACTS, instead={"Planned": replies, "PlanCheck": checks, "PathAnswer": read})
    with read_by(context, model) as (place, server):
        answer = answer_at(place, QUESTION, reader="plan")
    assert server.calls == 9 and answer.usage.most_calls == 24
    assert forms(server) == {"Planned": 2, "PlanCheck": 2, "PathAnswer": 4, "WholeAnswer": 1}
    parts = [dict(pieces_of(request))["the part to answer"] for request in of_form(server, "PathAnswer")]
    assert Counter(parts)[BLADE] == 1 and parts.index(WIRE) < parts.index("Is it longer than the blade?")
    last = of_form(server, "PathAnswer")[-1]
    assert dict(pieces_of(last))["known, s2"].startswith(f"{WIRE}\nAnswer: 35 metres") and question_of(last) == QUESTION
    assert answer.status is AnswerStatus.ANSWERED and answer.trace[-1].found == "yes"
    (dependent,) = [one for one in told(answer, TraceKind.SUB_QUESTION) if one.asked == "Is it longer than the blade?"]
    assert {answer.trace[need - 1].asked for need in dependent.needs} >= {WIRE}


def cited(request, words):
    name = next(name for name, (_heading, text) in passages_of(request).items() if words in text)
    return {"passage": name, "quote": words}


def test_an_agent_searches_queries_looks_around_keeps_and_drops(context):
    turns = in_turn(
        turn("search", words="storm"),
        turn("query", where=[{"field": "kind", "op": "is", "value": "list"}], keep=["n3"]),
        turn("query", where=[{"field": "kind", "op": "has", "value": "x"}]),
        lambda: None,
    )

    def reply(request):
        if isinstance(told := turns(request), dict):
            return told
        lines = [line for _, text in pieces_of(request) for line in text.splitlines()]
        shown = dict(line.split(":", 1) for line in lines if re.match(r"n\d+:", line))
        lists = [name for name, words in shown.items() if words.startswith(" list")]
        return turn(keep=lists, drop=["n3"])

    model = Reader({"Diaz": "Diaz and Perez"}, instead={"Turn": reply})
    with read_by(context, model, settings=model_settings(agent={"search_nodes": 2})) as (place, server):
        answer = answer_at(place, "Who are the crew?", reader="agent")
    assert forms(server)["Turn"] == 4 and answer.usage.most_calls == 24
    assert [one.kind for one in answer.trace] == [
        TraceKind.SEARCH,
        TraceKind.SEARCH,
        TraceKind.QUERY,
        TraceKind.QUERY,
        TraceKind.READ,
    ]
    assert "there is no operator of kind" in answer.trace[3].found
    assert [place.page for place in answer.evidence_pages] == [8, 9]


def test_a_map_is_located_on_read_reflected_on_and_widened_to_what_the_model_names(context):
    def located(request):
        lines = {line.split(": ")[1]: line for line in dict(pieces_of(request))["sections"].splitlines()}
        assert lines["Wires, page 7"].endswith(": Of what moors a ship."), "a model summed it up"
        assert lines["Crew, pages 8-9"].endswith(": A list of the crew: Diaz,"), "nobody did"
        return {"thought": "", "places": [lines["Blades, page 1"].split(":")[0]]}

    def reflected(request):
        lines = dict(pieces_of(request))["pages"].splitlines()
        return {"reason": "no wire", "answered": False, "look_at": [line.split(":")[0] for line in lines if "page 7" in line]}

    method = {"k": 1, "located": 1}
    model = Reader(FACTS, instead={"Located": located, "Reflected": reflected})
    with read_by(context, model, settings=model_settings(map=method)) as (place, server):
        answer = answer_at(place, BLADE, reader="map")
    assert server.calls <= answer.usage.most_calls == 7 and forms(server)["Located"] == forms(server)["Reflected"] == 1
    assert told(answer, TraceKind.LOCATE)[0].pages[0].page == 1
    assert [place.page for place in told(answer, TraceKind.WIDEN)[0].pages] == [7]
    assert 7 in [place.page for place in answer.evidence_pages]


def test_a_walk_goes_by_the_models_ratings_and_reads_the_best_in_one_call(context):
    def rated(request):
        return {"needed": "", "relevance": 5 if "wire" in request.prompt else 1}

    model = Reader(FACTS, instead={"RatedPage": rated})
    with read_by(context, model, settings=model_settings(walk={"everything": True, "alpha": 0.0, "pages": 2})) as (place, server):
        answer = answer_at(place, CABLE, reader="walk")
    assert forms(server) == {"RatedPage": 9, "PathAnswer": 1}
    assert answer.evidence_pages[0].page == 7 and answer.answer == "35 metres"


def test_where_no_rating_can_be_used_the_pages_stand_as_near_as_they_are(context):
    walk = {"everything": True, "alpha": 0.3, "near": "cosine"}
    ranked, rated = [], []
    for ratings in ("not a form", {"needed": "", "relevance": 3}):
        with read_by(context, Reader(FACTS, instead={"RatedPage": ratings}), settings=model_settings(walk=walk)) as (
            place,
            _server,
        ):
            answer = answer_at(place, "Is the wire a price of steel?", reader="walk")
        ranked.append([page.page for page in answer.pages])
        rated.append(told(answer, TraceKind.RATE)[0].found)
    assert rated[0] == "no page, so that each is worth its nearness" and rated[1].count("3.0") == 9
    assert ranked[0] == ranked[1], "equal ratings leave the order to nearness, and so do none"


def test_pages_are_rated_by_the_model_that_is_named_for_it_and_all_else_is_asked_of_the_chat_model(context):
    settings = model_settings(walk={"everything": True})
    with (
        chat_server(Reader(FACTS)) as chat,
        chat_server(Reader({}, instead=ALL_FORMS), models=("base", "page-rater")) as small,
        open_reader(Endpoint(chat.base_url, rater=Endpoint(small.base_url, "page-rater")), settings, context.snapshot) as reader,
    ):
        answer = answer_at(replace(context, settings=settings, reader=reader), BLADE, reader="walk")
        assert reader.model == "scripted, pages rated by page-rater"
    assert forms(chat) == {"PathAnswer": 1} and forms(small) == {"RatedPage": 9}
    assert {request.body["model"] for request in small.requests} == {"page-rater"}
    assert answer.models["chat"] == "page-rater, scripted" and answer.answer == "20 metres"


def test_a_rater_spends_of_the_same_budget_and_where_there_is_none_the_chat_model_rates_and_says_why(context, monkeypatch):
    settings = model_settings(walk={"everything": True}, models={"budget": {"calls": 5}, "retries": IMPATIENT["retries"]})
    rates = {"RatedPage": everything}
    with chat_server(Reader(FACTS, instead=rates), sees=False) as chat, chat_server(Reader({}, instead=rates)) as small:
        with open_reader(Endpoint(chat.base_url, rater=Endpoint(small.base_url)), settings, context.snapshot) as reader:
            answer_at(replace(context, settings=settings, reader=reader), BLADE, reader="walk")
            assert reader.rater.context.model.abilities.sees and not reader.rater.sees, "no page is drawn once the budget is spent"
        assert (chat.calls, small.calls) == (0, 5)
        missing = Endpoint(chat.base_url, rater=Endpoint(small.base_url, "another"))
        unknown = r"has no model 'another'.*set FLOWREADER_RATER_MODEL"
        with pytest.raises(ChatEndedError, match=unknown), open_reader(missing, settings, context.snapshot):
            pass
        with open_reader(missing, settings, context.snapshot, require_rater=False) as reader:
            assert reader.rater is reader and re.search(unknown, *reader.notes)
        for name, value in {"CHAT_BASE_URL": chat.base_url, "RATER_BASE_URL": "http://127.0.0.1:9/v1"}.items():
            monkeypatch.setenv(f"FLOWREADER_{name}", value)
        settings = model_settings(walk={"everything": True})
        with open_reader(chat_server_of(settings, "walk"), settings, context.snapshot, require_rater=False) as reader:
            answer = answer_at(replace(context, settings=settings, reader=reader), WIRE, reader="walk")
        (note,) = answer.notes
        assert note.startswith("the chat model rated the pages, because") and "http://127.0.0.1:9/v1" in note
        assert forms(chat) == {"RatedPage": 9, "PathAnswer": 1} and answer.answer == "35 metres"
        assert chat_server_of(settings, "map") == Endpoint(chat.base_url), "no other reader has pages rated"


@pytest.mark.parametrize("sees", [True, False])
def test_pages_that_are_kept_as_pictures_are_rated_by_them_where_the_model_sees(tmp_path, home, sees):
    drawn = io.BytesIO()
    Image.new("RGB", (64, 64)).save(drawn, "PNG")
    ArtifactStore(artifacts_folder()).put(drawn.getvalue())
    first, *others = DOCUMENT.pages
    scanned = replace(DOCUMENT, pages=(replace(first, image=hash_bytes(drawn.getvalue())), *others))
    with (
        at_context(published(tmp_path / "scanned", scanned)) as context,
        read_by(context, Reader(FACTS, instead=ALL_FORMS), sees=sees, settings=model_settings(walk={"everything": True})) as (
            place,
            server,
        ),
    ):
        answer_at(place, BLADE, reader="walk")
    shown = {pieces_of(request)[0][0]: len(request.images) for request in of_form(server, "RatedPage")}
    assert shown == {f"page {number}": int(sees and number == 1) for number in range(1, 10)}


def test_once_the_time_is_up_no_more_pages_are_drawn_and_one_note_says_so(tmp_path, home):
    with at_context(published(tmp_path / "late", DOCUMENT)) as context, booked(context) as book:
        keys = [(page.document_id, page.number) for page in context.snapshot.pages(DOCUMENT.document_id)]
        assert page_images(keys, context.snapshot, until=time.monotonic()) == {}
        assert book.notes == ["the model was not shown every page: no time was left to draw it"]
        with read_by(context, Reader(FACTS)) as (place, _server):
            book.failed, texts = True, ()
            assert asyncio.run(with_pages(asked(BLADE, place), texts, place, most=3)) is texts, "the model is asked no more"


WHOLE_PAGES = {
    ("agent", 3): [["1", "2"]],
    ("agent", 1): [["2"]],
    ("map", 3): [[], ["2"]],
    ("walk", 3): [["1", "2"]],
    ("walk", 1): [["1", "2"]],
    ("pages", 1): [["1", "2"]],
    ("direct", 1): [["1", "2"]],
}
"""The pages that are shown with each path, by the reader and the pictures of a call: the best, which is the second; the last three
show all that they read."""


def squares_corpus(tmp_path, monkeypatch, words="The blade is long."):
    """Return a corpus of a PDF that can be drawn: text on its first page, a figure on its second."""
    drawn = squares_pdf(tmp_path / "squares.pdf")
    monkeypatch.setattr("tests.storage.worlds.document_id", lambda _name: id_of(drawn))
    passages = Passage(words, page=1), Passage("Blade: 20", page=2, kind=NodeKind.FIGURE)
    graph = written("squares", *passages)
    with open_for_writing(corpus_in(tmp_path / "drawn"), embedder=EMBEDDER, wait_seconds=5) as corpus:
        corpus.publish(graphs=[graph], records=[record(graph, str(drawn))], cross_edges=[])
        corpus.index()
    return corpus.location


@pytest.mark.parametrize(("reader", "pictures"), WHOLE_PAGES)
def test_a_model_that_sees_reads_whole_pages_drawn_from_their_file(tmp_path, home, monkeypatch, reader, pictures):
    location = squares_corpus(tmp_path, monkeypatch)

    def read(request):
        figures = [name for name, (heading, _) in passages_of(request).items() if "figure" in heading]
        seen = [{"passage": name, "quote": "a red square, 20 metres wide"} for name in figures]
        if request.form == "WholeAnswer":
            return whole_answer("20 metres", seen)
        return path_answer("20 metres", seen) if figures else path_answer("", status="not_reported")

    seeing = Reader(FACTS, instead=ALL_FORMS | dict.fromkeys(["PathAnswer", "WholeAnswer"], read))
    shows = {"model": {"pictures": pictures}}
    settings = model_settings(reading=shows, walk={"keep_above": 0.0}, map={"rounds": 0})
    with at_context(location) as context, read_by(context, seeing, settings=settings) as (place, server):
        answer = answer_at(place, BLADE, reader=reader)
    readings = of_form(server, "PathAnswer")
    shown = [
        sorted(re.findall(r"page (\d), picture \d shows its page", " ".join(dict(pieces_of(request))))) for request in readings
    ]
    assert shown == WHOLE_PAGES[reader, pictures] and [len(request.images) for request in readings] == list(map(len, shown))
    if ["1"] not in shown:
        assert answer.answer == "20 metres" and [cited.page for cited in answer.citations] == [2], "proven by its picture alone"


@pytest.mark.parametrize("sees", [True, False])
def test_a_map_of_the_papers_has_all_pages_read_as_text_and_as_pictures_and_says_to_each_what_the_other_has(
    tmp_path, home, monkeypatch, sees
):
    """DMAP's equation 10, and its prompts A.3 and A.4: one page is found by its words, one by its figure, and each is read in both
    ways; a model that does not see reads as by default.
    """
    model, long = Reader(FACTS, instead=ALL_FORMS), "The blade is long, as its sheet says. " * 20
    dmap = method_of("dmap").ask.map.model_dump() | {"rounds": 0, "k": 1, "paths": ("text", "visual")}
    with (
        at_context(squares_corpus(tmp_path, monkeypatch, long)) as context,
        read_by(context, model, settings=model_settings(map=dmap), sees=sees) as (place, server),
    ):
        answer = answer_at(place, BLADE, reader="map")
    text, pictures = of_form(server, "PathAnswer")
    assert [len(text.images), len(pictures.images)] == [0, 2 * sees]
    assert ("another reader has their pictures" in text.prompt, "another reader has their text" in pictures.prompt) == (sees, sees)
    assert long.strip() in text.prompt and long.strip() not in pictures.prompt
    if sees:
        headings = [heading for heading, _words in pieces_of(pictures)[1:]]
        assert headings == ["n1: paragraph, page 1, picture 1 shows its page", "n2: figure, page 2, picture 2 shows its page"]
        assert long[:37] in pictures.prompt and not any("no room" in note for note in answer.notes)


@pytest.mark.parametrize(("preset", "sees"), [("g2", "all"), ("g2", "nothing"), ("g2", "to read"), ("default", "all")])
def test_by_g2s_preset_what_plans_checks_mends_and_answers_is_shown_pictures_as_what_reads_is(tmp_path, home, preset, sees):
    """By a server that takes no pictures but to read, all is done without, as by a model that does not see."""
    crops = [io.BytesIO(), io.BytesIO()]
    for crop, colour in zip(crops, ("red", "blue"), strict=True):
        Image.new("RGB", (64, 64), colour).save(crop, "PNG")
    kept = {page: ArtifactStore(artifacts_folder()).put(crop.getvalue()) for page, crop in zip((1, 7), crops, strict=True)}
    figure = {"kind": NodeKind.FIGURE, "modality": Modality.FIGURE}
    nodes = tuple(replace(node, picture=kept[node.page], **figure) if node.page in kept else node for node in DOCUMENT.nodes)
    plan = {"thought": "", "steps": [step("s1", BLADE), step("s2", WIRE)]}
    mended = {"thought": "", "steps": [step("s1", BLADE), step("s2", "How long is the wire?")]}
    checks = ({"reason": "", "sufficient": enough, "missing": ["more"]} for enough in (False, True))
    instead = {"Planned": in_turn(plan, mended), "PlanCheck": in_turn(*checks)}
    number = method_of(preset).ask.reading.model.evidence_pictures
    settings = model_settings(reading={"model": {"evidence_pictures": number}})
    with (
        at_context(published(tmp_path / "figures", replace(DOCUMENT, nodes=nodes))) as context,
        read_by(
            context,
            Reader(FACTS, instead=instead),
            settings=settings,
            sees=sees != "nothing",
            misbehave=lambda one: (
                Misbehaviour.BAD_REQUEST if sees == "to read" and one.images and one.form != "PathAnswer" else None
            ),
        ) as (place, server),
    ):
        answer = answer_at(place, QUESTION, reader="plan")
    assert answer.status is AnswerStatus.ANSWERED
    server.requests[:] = [one for one in server.requests if not server.misbehave(one)]
    shown = {form: [len(request.images) for request in of_form(server, form)] for form in ("Planned", "PlanCheck", "WholeAnswer")}
    each = 2 if preset == "g2" and sees == "all" else 0
    assert shown == {"Planned": [each, each], "PlanCheck": [each, each], "WholeAnswer": [each]}
    first, again = (dict(pieces_of(request)).get("the pictures") for request in of_form(server, "Planned"))
    (last,) = of_form(server, "WholeAnswer")
    if each:
        assert re.fullmatch(r"picture 1: n\d+, figure, page [17]\npicture 2: n\d+, figure, page [17]", first)
        assert again == "picture 1: s1, s2, figure, page 1\npicture 2: s1, s2, figure, page 7"
        assert re.findall(r"page (\d), picture (\d) shows it", last.prompt) == [("1", "1"), ("7", "2")]
    else:
        assert first is again is None and "picture 1" not in last.prompt
