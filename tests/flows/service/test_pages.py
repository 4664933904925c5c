"""The page for people: it asks without script, shows documents and what was asked, and obeys no word and no other page."""

import html
import re
import shutil

import pytest

from storage.locations import corpus_location
from tasks.settings.readers import READERS_HELP
from tests.asking_worlds import WEIGHT
from tests.flows.service.worlds import client, error
from tests.program import CORPUS
from tests.storage.worlds import graph, record, writing

HERE = "127.0.0.1:4280"
FORM = {"Origin": f"http://{HERE}"}
ASKED = {"corpus": "small", "question": WEIGHT, "reader": "top-k"}


@pytest.fixture
def door(in_asked_home):
    return client(host=HERE)


def test_a_question_of_the_form_leads_to_its_answer_and_is_shown_among_the_others(door):
    reply = door.post("/", data=ASKED, headers=FORM, follow_redirects=False)
    assert reply.status_code == 303, reply.text
    shown = door.get(reply.headers["Location"]).text
    assert WEIGHT in shown and "163" in shown
    again = door.get("/?corpus=small").text
    assert reply.headers["Location"] in again.replace("&amp;", "&") and "evidence" in again
    assert all(name in again for name in ("product_page.html", "maintenance_manual.docx", "1 page"))


def test_only_the_ticked_documents_are_asked(door):
    (budget,) = [
        one["id"] for one in door.get("/api/v1/corpora/small/documents").json()["documents"] if one["name"] == "budget.xlsx"
    ]
    assert f'name="documents" value="{budget}" form="ask"' in door.get("/?corpus=small").text
    location = door.post("/", data={**ASKED, "documents": [budget]}, headers=FORM, follow_redirects=False).headers["Location"]
    answer = door.get(f"/api/v1/corpora/small{location.partition('?')[0]}").json()
    assert {page["document"]["name"] for page in answer["pages"]} == {"budget.xlsx"}


def test_a_conversation_is_listed_once_by_its_first_question_and_so_is_a_question_that_was_asked_again(door):
    asked = {**ASKED, "question": "How heavy is the base of an MT-3?"}
    first, again = (door.post("/", data=asked, headers=FORM, follow_redirects=False).headers["Location"] for _ in range(2))
    on = {**asked, "question": "and of an MT-2?", "follow": again.split("/")[2].split("?")[0]}
    last = door.post("/", data=on, headers=FORM, follow_redirects=False).headers["Location"]
    listed = door.get("/?corpus=small").text
    assert listed.count(">How heavy is the base of an MT-3?<") == 1 and last in listed and "and of an MT-2?" not in listed
    assert first.split("?")[0] not in listed


def test_an_answer_is_given_as_markdown_with_links_to_its_pages(door, answered):
    text = door.get(answered.replace("?", "/markdown?")).text
    links = re.findall(r"\]\((http://[^)]*)\)", text)
    assert text.startswith("# ") and len(links) > 1 and all(door.get(link).status_code == 200 for link in links)


def test_a_document_has_small_pictures_and_its_file_which_is_kept_and_not_shown(door):
    listed = door.get("/api/v1/corpora/small/documents").json()["documents"]
    kinds = {one["name"]: door.get(f"/documents/{one['id']}/pages/1/picture?corpus=small") for one in listed}
    assert all(picture.status_code == 200 and len(picture.content) < 40_000 for picture in kinds.values())
    assert kinds["budget.xlsx"].headers["Content-Type"] == "image/svg+xml", "a workbook has no picture"
    page = next(one["id"] for one in listed if one["name"] == "product_page.html")
    file = door.get(f"/documents/{page}/file?corpus=small")
    assert file.content == (CORPUS / "product_page.html").read_bytes()
    assert file.headers["Content-Disposition"].startswith("attachment;")
    assert file.headers["Content-Type"] == "application/octet-stream"


def test_a_question_is_asked_on_from_its_answer_and_shows_the_thread_and_how_it_was_understood(door):
    first = door.post("/", data=ASKED, headers=FORM, follow_redirects=False).headers["Location"]
    follow = first.split("/")[2].split("?")[0]
    assert f'name="follow" value="{follow}"' in door.get(first).text
    on = {**ASKED, "question": "and of an MT-2?", "follow": follow}
    second = door.post("/", data=on, headers=FORM, follow_redirects=False)
    shown = door.get(second.headers["Location"]).text
    assert f"Asked as: {WEIGHT.replace('MT-3', 'MT-2')}" in shown and f'href="{first}"' in shown and 'aria-current="page"' in shown
    written = dict(re.findall(r'type="hidden" name="(\w+)" value="(.*?)"', shown.partition("Asked as")[2].partition("</form>")[0]))
    alone = door.post("/", data=written, headers=FORM)
    assert written["question"] == "and of an MT-2?" and "Asked as" not in alone.text
    gone = door.post("/", data={**on, "follow": "12345678"}, headers=FORM)
    assert gone.status_code == 404 and "12345678" in gone.text.split('role="alert">')[1] and 'name="follow"' not in gone.text


@pytest.mark.parametrize(
    ("field", "words"), [({"question": " "}, "question"), ({"reader": "oracle"}, "reader"), ({"corpus": "smal"}, "smal")]
)
def test_what_cannot_be_asked_is_said_on_the_page_with_the_question_kept(door, field, words):
    reply = door.post("/", data={**ASKED, **field}, headers=FORM, follow_redirects=False)
    assert reply.status_code in (400, 404) and 'role="alert">' in reply.text and words in reply.text.split('role="alert">')[1][:600]
    assert (field.get("question") or WEIGHT) in reply.text


def test_no_word_is_markup_and_nothing_comes_from_elsewhere(door):
    hostile = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    reply = door.post("/", data={**ASKED, "question": hostile, "corpus": hostile}, headers=FORM)
    assert "<script>alert" not in reply.text and "<img src=x" not in reply.text
    page = door.get("/")
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    addresses = set(re.findall(r'(?:href|src|action)="([^"]*)"', page.text))
    assert all(address.startswith(("/", "#", "data:,")) for address in addresses)
    assets = [
        door.get(address) for address in ("/style.css", *(f"/static/{name}.js" for name in ("ask", "desk", "upload", "view")))
    ]
    assert all(asset.status_code == 200 and "url(" not in asset.text and "@import" not in asset.text for asset in assets)
    assert sum(len(asset.content) for asset in assets[1:]) < 60_000 and len(assets[0].content) < 100_000
    assert [asset.headers["Content-Type"].split(";")[0] for asset in assets] == ["text/css", *["text/javascript"] * 4]


def test_a_home_without_a_corpus_says_how_to_begin(home):
    assert "flowreader ingest FOLDER</code>" in client(host=HERE).get("/").text
    new = client(host=HERE).get("/?corpus=smal").text
    assert "flowreader ingest FOLDER --corpus smal</code>" in new and 'name="corpus" value="smal"' in new
    assert ".." in error(client(host=HERE).get("/?corpus=.."), 400)["what"]


def corpus_of(reply):
    """The one corpus that a page is about: its title, its question and its uploads say the same."""
    (title,) = re.findall("<title>(.*?) ·", reply.text)
    assert set(re.findall('name="corpus" value="(.*?)"', reply.text)) == {title}
    return title


def test_the_page_is_of_the_corpus_seen_last_else_default_else_the_largest(asked_home, tmp_path, monkeypatch):
    corpora = shutil.copytree(asked_home, tmp_path / "home") / "corpora"
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path / "home"))
    (corpora / "broken").mkdir()
    (corpora / "broken" / "CURRENT").write_text("broken")
    with writing(corpus_location("a-few")) as corpus:
        corpus.publish(graphs=[(few := graph("few"))], records=[record(few, "/few.pdf")])
    assert corpus_of(client(host=HERE).get("/")) == "small"
    shutil.copytree(corpora / "a-few", corpora / "default")
    door = client(host=HERE)
    assert [corpus_of(door.get(path)) for path in ("/", "/?corpus=small", "/", "/?corpus=new", "/")] == [
        *("default", "small", "small", "new", "small")
    ]
    (cookie,) = door.cookies.jar
    assert cookie.has_nonstandard_attr("HttpOnly") and cookie.get_nonstandard_attr("SameSite") == "strict"
    shutil.rmtree(corpora / "small")
    assert corpus_of(door.get("/")) == "default"


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/"])
def test_no_other_file_is_served(home, path):
    assert client(host=HERE).get(path).status_code in {404, 405}


@pytest.fixture(scope="module")
def answered(asked_home):
    """The address of an answer's page."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FLOWREADER_HOME", str(asked_home))
        return client(host=HERE).post("/", data=ASKED, headers=FORM, follow_redirects=False).headers["Location"]


def links_in(page, begin):
    return [link.replace("&amp;", "&") for link in re.findall(rf'(?:href|src)="({begin}[^"]*)"', page)]


def test_the_cited_page_stands_beside_the_answer_with_the_place_marked(door, answered):
    page = door.get(answered).text
    (frame,) = re.findall(r'<iframe name="page"[^>]* src="([^"]*)"', page)
    cited = door.get(frame.replace("&amp;", "&"))
    assert "163" in cited.text and "frame-ancestors 'self'" in cited.headers["Content-Security-Policy"]
    numbers = '(?:<span class="number">[0-9]+</span> )*'
    for number, link in enumerate(dict.fromkeys(re.findall(r'class="number" href="([^"]*)"', page)), 1):
        shown = door.get(link.replace("&amp;", "&")).text
        lit = re.findall(rf'class="cited lit">(?:<td dir="auto">)?({numbers})', shown)
        assert lit and all(f">{number}<" in badges for badges in lit), link
        assert re.findall(rf'class="cited">(?:<td dir="auto">)?({numbers})', shown).count("") == 0
    for number, place in enumerate(re.findall(r'<p class="place"><a href="([^"]*)"', page), 1):
        assert re.search(rf"[;&]cited={number}$", place), "the source's link lights its quote as its number does"
    assert page.index('id="copy"') < page.index('id="question"') < page.index('id="citation-1"')
    assert all(door.get(link).status_code == 200 for link in {*links_in(page, "/documents/"), *links_in(page, "/answers/")})
    assert "sha256" in door.get(answered.replace("?", "/lineage?")).text
    assert door.get(f"{frame.replace('&amp;', '&')}&zoom=150").status_code == 200


def test_how_sure_a_source_is_and_how_is_read_are_explained_where_they_stand(door):
    routed = door.post("/", data={**ASKED, "reader": "flow"}, headers=FORM, follow_redirects=False).headers["Location"]
    page = door.get(routed).text
    (says,) = set(re.findall(r'<details class="certainty"><summary title="([^"]*)">(?:sure|likely|unsure)<', page))
    assert "if these documents answer at all" in says and f"{says}. Here it is 0." in page
    assert READERS_HELP in html.unescape(door.get("/?corpus=small").text)


def test_what_is_not_found_is_doubted_once(door):
    nonsense = {**ASKED, "question": "How many whales live on the moon of Jupiter?"}
    page = door.get(door.post("/", data=nonsense, headers=FORM, follow_redirects=False).headers["Location"]).text
    assert page.count("doubtful") == 1 and page.index("doubtful") < page.index("What comes closest:") < page.index(
        'id="citation-1"'
    )


def test_one_form_removes_any_row(door):
    page = door.get("/?corpus=small").text
    assert page.count("Answers lose") == 1 and page.count('class="remove"') == 4


def test_pages_end_with_the_last_of_the_document_and_words_of_a_format_without_pictures_need_no_excuse(door):
    first, last = (door.get(f"/documents/strategy.pptx/pages/{number}?corpus=small").text for number in (1, 6))
    assert 'rel="next"' in first and 'rel="prev"' not in first and "not shown" not in first
    assert 'rel="prev"' in last and 'rel="next"' not in last


def test_what_was_not_found_is_a_warning(door):
    page = door.post("/", data={**ASKED, "question": f"{WEIGHT[:-1]}, and who painted the zorbflux?"}, headers=FORM).text
    assert re.search('<li class="warning" dir="auto">nothing was found for the part', page)


def test_a_document_is_removed_with_a_receipt_and_the_answer_loses_its_words(own_home):
    door = client(host=HERE)
    answer = door.post("/", data=ASKED, headers=FORM).url
    assert "163" in door.get(answer).text
    (name,) = re.findall(r'href="(/documents/[^"]*)" aria-label="About product_page', door.get("/?corpus=small").text)
    gone = door.post(name.replace("?", "/remove?"), headers=FORM)
    assert gone.status_code == 200 and "product_page.html" in gone.text and "unpublished" in gone.text
    assert "product_page" not in door.get("/?corpus=small").text and "163 t" not in door.get(answer).text


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/answers/00000000?corpus=small", "no answer"),
        ("/answers/00000000/lineage?corpus=none", "none"),
        ("/documents/00000000?corpus=small", "no document"),
        ("/documents/product_page.html/pages/2?corpus=small", "no page 2"),
        ("/documents/..%2f..%2fetc/pages/1?corpus=small", ""),
        ("/?corpus=%2e%2e", "not"),
        ("/documents/product_page.html/pages/one?corpus=small", "number"),
        ("/documents/product_page.html/pages/1?corpus=small&zoom=7", "zoom"),
        ("/nothing", "Not Found"),
    ],
)
def test_what_is_not_there_is_said_on_a_page_to_people_and_in_json_to_programs(door, path, words):
    page = door.get(path, headers={"Accept": "text/html"})
    assert page.status_code in (400, 404) and words in page.text and page.text.lstrip().startswith("<!DOCTYPE html>")
    assert error(door.get(path), page.status_code)["what"]


def test_a_model_without_its_server_is_said_on_the_page(door, monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_MODEL", "some-model")
    page = door.get("/?corpus=small")
    assert page.status_code == 200 and "No chat model reads" in page.text and "FLOWREADER_CHAT_BASE_URL" in page.text


@pytest.mark.parametrize(("fields", "settings"), [({}, 5), ({"pages": "8"}, 8), ({"pages": "8", "reader": "top-k"}, 5)])
def test_how_many_pages_is_a_matter_of_flow(door, fields, settings):
    asked = {**ASKED, "reader": "flow", **fields}
    location = door.post("/", data=asked, headers=FORM, follow_redirects=False).headers["Location"]
    answer = door.get(f"/api/v1/corpora/small{location.partition('?')[0]}").json()
    assert answer["settings"]["pages_per_answer"] == settings
