"""From findings to an answer: what is shown and kept of a question."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from storage.corpus.snapshot import Snapshot
from storage.records.answers import Answer, Citation, NamedDocument, Usage
from storage.records.documents import WHOLE_PAGE, PageKey
from storage.records.steps import StepRecord
from storage.runs.answer_json import answer_json
from storage.text import shorten
from tasks.algorithms.layout.boxes import TextLine
from tasks.algorithms.layout.lines import box_of_quote, read_lines
from tasks.asking.calls import CallBook
from tasks.asking.question import AskContext
from tasks.asking.records import Quote
from tasks.asking.request import AskRequest
from tasks.asking.threads import Thread
from tasks.models.chat.errors import ChatEndedError, Outcome
from tasks.reading.synthesis import Findings
from tasks.step import StepKey, step, workplace


class UnansweredError(ChatEndedError):
    """The model is required, and gave no answer that counts; `answer` is what rules say in its place."""

    def __init__(self, why: str, answer: Answer) -> None:
        super().__init__(
            f"the model gave no answer that counts: {why}",
            remedy="without --require-model rules quote the evidence",
            over_http='without "require_model" rules quote the evidence',
        )
        self.answer = answer


@step(
    "record",
    version="1",
    retries=0,
    cache_key=lambda answer: StepKey(answer.answer_id, answer.answer_id, shorten(answer.question)),
)
def record(answer: Answer) -> None:
    workplace.get().log.answer(answer_json(answer))


def gather_answer(
    *,
    answer_id: str,
    asked: str,
    question: str,
    asked_as: str,
    thread: Thread,
    findings: Findings,
    request: AskRequest,
    context: AskContext,
    steps: Iterable[StepRecord],
    calls: CallBook,
) -> Answer:
    synthesis = findings.synthesis
    probabilities = {(page.document.id, page.page): page.probability for page in findings.pages}
    running = running_heads(context.snapshot, {quote.node.document_id for quote in synthesis.quotes})
    placed = {(node.document_id, node.page) for quote in synthesis.quotes if (node := quote.node).box != WHOLE_PAGE}
    lines = {page: read_lines(kept) for page, kept in context.snapshot.view.page_lines(placed).items()}
    models = {"embedder": context.snapshot.embedder.key, "reader": context.reader.name}
    models |= {"reranker": calls.reranker} if calls.reranker else {}
    models |= {"chat": ", ".join(dict.fromkeys(call.model for call in calls.made))} if calls.made else {}
    models |= sorted((f"prompt {call.purpose}", call.prompt_hash) for call in calls.made)
    return Answer(
        answer_id=answer_id,
        asked=asked,
        question=question,
        answer=synthesis.answer,
        answer_by="model" if synthesis.answer else None,
        status=synthesis.status,
        why=synthesis.why,
        reader=request.reader,
        citations=tuple(citation(quote, context.names, probabilities, running, lines) for quote in synthesis.quotes),
        paths=findings.paths,
        pages=findings.pages,
        evidence_pages=findings.evidence_pages,
        gate=findings.gate,
        usage=usage(calls, steps, findings.way.counts),
        corpus=request.corpus,
        snapshot=context.snapshot.number,
        scope=request.limits,
        settings=request.settings.model_dump(mode="json"),
        models=models,
        notes=(*synthesis.notes, *list_notes(calls)),
        refusal=findings.refusal,
        completeness=findings.completeness,
        trace=findings.way.steps,
        parts=synthesis.parts,
        asked_as=asked_as,
        follows=thread.follows,
        thread=thread.id_for(answer_id),
    )


RUNNING_SHARE, RUNNING_PAGES = 0.2, 3
"""A heading that stands on this share of the pages, and on at least this number of them, is a running head."""


def running_heads(snapshot: Snapshot, documents: Collection[str]) -> frozenset[tuple[str, str]]:
    """Return the headings, with their documents' ids, that stand on many pages and say nothing of any: a publisher's name."""
    pages = {record.id: record.pages for record in snapshot.documents() if record.id in documents}
    found = Counter({(one.document_id, one.title, one.first_page) for one in snapshot.sections_of(sorted(pages))})
    counts = Counter((document, title) for document, title, _page in found)
    return frozenset(head for head, count in counts.items() if count >= max(RUNNING_PAGES, RUNNING_SHARE * pages[head[0]]))


def citation(
    quote: Quote,
    names: Mapping[str, NamedDocument],
    probabilities: Mapping[PageKey, float | None],
    running: Collection[tuple[str, str]],
    lines: Mapping[PageKey, Sequence[TextLine]],
) -> Citation:
    node = quote.node
    page = node.document_id, node.page
    return Citation(
        document=names[node.document_id],
        page=node.page,
        box=box_of_quote(quote.text, block=node.box, lines=lines.get(page, ())) if node.box and node.box != WHOLE_PAGE else None,
        node_id=node.id,
        quote=quote.text,
        section=tuple(title for title in node.section_path if (node.document_id, title) not in running),
        modality=node.modality,
        probability=probabilities.get(page),
    )


def usage(calls: CallBook, steps: Iterable[StepRecord], counts: Mapping[str, float]) -> Usage:
    seconds: dict[str, float] = defaultdict(float)
    for record in steps:
        seconds[record.step] += record.seconds
    return Usage(
        calls=sum(call.attempts > 0 for call in calls.made),
        input_tokens=sum(call.input_tokens for call in calls.made),
        output_tokens=sum(call.output_tokens for call in calls.made),
        cost=sum(call.cost for call in calls.made),
        seconds={name: round(spent, 4) for name, spent in seconds.items()},
        cached=sum(call.outcome is Outcome.CACHED for call in calls.made),
        most_calls=sum(calls.bounds.values()),
        counts=counts,
    )


def list_notes(calls: CallBook) -> tuple[str, ...]:
    proofless = "1 citation" if calls.left_out == 1 else f"{calls.left_out} citations"
    left_out = f"dropped {proofless} of the model, for naming nothing that it was shown or proving nothing"
    seen = len(calls.unchecked)
    read_there = "1 quote is read from a picture" if seen == 1 else f"{seen} quotes are read from pictures"
    unchecked = f"{read_there} and could not be checked"
    in_part = f"the model was shown {calls.shown:,} of the {calls.held:,} characters that were found: there was no room for more"
    return (
        *dict.fromkeys(calls.notes),
        *([left_out] if calls.left_out else []),
        *([unchecked] if seen else []),
        *([in_part] if calls.shown < calls.held else []),
    )
