"""The answer of a model: what all readers of paths agree on, or what it makes of their answers and the passages themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from storage.records.answers import AnswerStatus, Support
from storage.records.documents import Passage
from tasks.algorithms.quotes import agreement, different_answers, plain_answer
from tasks.asking.calls import call_book
from tasks.asking.records import PathReading, PathText, Question, Synthesis, Verdict
from tasks.asking.request import clean
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatError
from tasks.prompts.prompt import Piece, cut
from tasks.reading.cited import YES_OR_NO, Proof, prove_by_citations
from tasks.reading.forms import MOST_ITEMS, WholeAnswer
from tasks.reading.model_calls import ModelContext
from tasks.reading.rules import lost_names, silent_about
from tasks.reading.shown import Shown, show_passages


def show_evidence(
    context: ModelContext, question: Question, readings: Sequence[PathReading], *, most: int = 0
) -> tuple[Shown, PathText]:
    """Return what is shown of readings that a model made, of at least one path, and the passages in it as one path.

    At most `most` pictures are shown again. The passages that readers cite count as seen, for the answer may rest on their words.
    """
    settings = context.settings.reading.model
    chosen = [key_passages(reading, settings.evidence_passages) for reading in readings]
    nodes = list({node.id: node for passages in chosen for node in passages}.values())
    reports = [_report(reading) for reading in readings]
    numbers, pictures = context.pictures.choose(nodes, worth_of(readings), most, {})
    room = context.room(
        "synthesis", WholeAnswer, settings.evidence_characters, question=question.text, pictures=len(pictures)
    ) - sum(map(len, reports))
    first = path_of(readings[0])
    texts = show_passages(nodes, titles=context.titles, stems=first.rarity, room=max(0, room), pictures=numbers)
    seen = frozenset(quote.node.id for reading in readings for quote in reading.quotes if quote.node.id in reading.seen)
    ids = {node.id: name for name, node in texts.nodes.items()}
    readers = [
        Piece(f"path {number}, passages {', '.join(ids[node.id] for node in passages)}: what its reader says", words)
        for number, (words, passages) in enumerate(zip(reports, chosen, strict=True), 1)
    ]
    shown = replace(texts, pieces=(*readers, *texts.pieces), seen=seen | texts.seen, pictures=tuple(pictures))
    return shown, replace(first, nodes=tuple(nodes))


def worth_of(readings: Sequence[PathReading]) -> dict[str, float]:
    """Return what each node of the paths is worth."""
    return {name: worth for reading in readings for name, worth in path_of(reading).worth.items()}


def key_passages(reading: PathReading, most: int) -> list[Passage]:
    """Return what the reader cites, then the worthiest of the path, up to the limit; all that is cited is shown."""
    path = path_of(reading)
    cited = {quote.node.id: quote.node for quote in reading.quotes}
    others = [node for node in sorted(path.nodes, key=lambda node: -path.worth[node.id]) if node.id not in cited]
    return [*cited.values(), *others[: max(0, most - len(cited))]]


def _report(reading: PathReading) -> str:
    return f"Answer: {reading.answer}\nFacts: {reading.facts}" if reading.supported else "It found no answer."


def path_of(reading: PathReading) -> PathText:
    assert reading.path is not None, "a model reads paths"
    return reading.path


NOT_TOGETHER = "the model did not put them together"
UNPROVEN = "nothing that the model was shown proves the answer that it gave"
MISSING_CHARACTERS = 200


def agreed_answer(readings: Sequence[PathReading]) -> Synthesis | None:
    """Return the one answer that all supporting readings give to the whole question; None where there is none."""
    supporting = [reading for reading in readings if reading.supported]
    if len(different_answers([reading.answer for reading in supporting])) != 1 or not all(reading.whole for reading in supporting):
        return None
    return _answer_of(supporting[0].answer, supporting, readings, consistency=1.0)


def combine_readings(
    context: ModelContext, question: Question, readings: Sequence[PathReading], verdict: Verdict | None
) -> Synthesis:
    """Have the model put the readings together; where that fails or is not proven, what most of them say is given, and so noted."""
    if not readings:
        return nothing_found(question, readings, "there was no passage to read")
    book = call_book.get()
    consistency = _equal_share(readings) if verdict is None else verdict.consistency
    if book.failed:
        book.unread = True
        return _most_given(question, readings, NOT_TOGETHER, consistency)
    settings = context.settings.reading.model
    wanted = min(settings.evidence_pictures, settings.pictures)
    most = context.most_pictures("synthesis", WholeAnswer, wanted, question=question.text)
    shown, path = show_evidence(context, question, readings, most=most)
    call, blind = _call_for(context, question, shown), shown
    if shown.pictures:
        blind, _path = show_evidence(context, question, readings)
        call = replace(call, without_pictures=_call_for(context, question, blind))
    (value,) = context.ask([call])
    shown = shown if context.model.saw(call) else blind
    if isinstance(value, ChatError):
        book.unread = True
        return _most_given(question, readings, NOT_TOGETHER, consistency)
    if value.kind == "none":
        return nothing_found(question, readings, f"the model found no answer on the {len(readings)} paths that it read")
    answer = _in_words(value)
    most_words = context.settings.reading.quote_words
    proof = prove_by_citations(question.text, answer, value.citations, shown, path, most_words=most_words)
    saying = [reading for reading in readings if reading.supported and plain_answer(reading.answer) == plain_answer(answer)]
    proving = [proof] if proof.quotes else saying
    if not proving:
        book.unread = True
        book.unproven.insert(0, answer)
        return _most_given(question, readings, UNPROVEN, consistency)
    missing = cut(clean(value.missing), MISSING_CHARACTERS) or "a part of the question"
    notes = () if value.whole else (f"the model found nothing for: {missing}",)
    if len(value.items) >= MOST_ITEMS:
        notes = (*notes, f"the list may be longer: the model had room for {MOST_ITEMS} items")
    return _answer_of(answer, proving, readings, consistency=consistency, notes=notes)


def _call_for(context: ModelContext, question: Question, shown: Shown) -> ChatCall[WholeAnswer]:
    return context.call(
        "synthesis",
        "the answer",
        WholeAnswer,
        question=question.text,
        pieces=shown.pieces,
        pictures=shown.pictures,
        check=_wrong_form,
        draft="answer",
    )


def _answer_of(
    answer: str,
    proving: Sequence[Proof | PathReading],
    readings: Sequence[PathReading],
    *,
    consistency: float,
    notes: tuple[str, ...] = (),
) -> Synthesis:
    """Return an answer with the parts of its first proof, on the quotes of all, each once.

    With notes, or a part that nothing proves, it answers the question in part.
    """
    quotes = {(quote.node.id, quote.text): quote for one in proving for quote in one.quotes}
    places = [list(quotes).index((quote.node.id, quote.text)) for quote in proving[0].quotes]
    parts = tuple(
        replace(part, citations=tuple(dict.fromkeys(places[place] for place in part.citations))) for part in proving[0].parts
    )
    unproven = any(part.support is Support.UNSUPPORTED for part in parts)
    supporting = sum(reading.supported for reading in readings)
    support = "1 path supports" if supporting == 1 else f"{supporting} paths support"
    agreeing = "" if supporting == 1 else "; they agree" if consistency == 1 else "; not all of them agree"
    return Synthesis(
        answer=answer,
        status=AnswerStatus.PARTIAL if notes or unproven else AnswerStatus.ANSWERED,
        quotes=tuple(quotes.values()),
        why=f"{support} an answer, of {len(readings)} that were read{agreeing}",
        notes=notes,
        parts=parts,
    )


def nothing_found(question: Question, readings: Sequence[PathReading], why: str) -> Synthesis:
    lost = lost_names(question, readings)
    notes = (silent_about(lost),) if lost else ()
    return Synthesis("", AnswerStatus.NOT_FOUND, quotes=(), why=why, notes=notes)


def _most_given(question: Question, readings: Sequence[PathReading], why: str, consistency: float) -> Synthesis:
    """Return the answer that most readings give, the earliest of several, and why the model's own is not given."""
    supporting = [reading for reading in readings if reading.supported]
    if not supporting:
        return nothing_found(question, readings, f"no path answers by itself, and {why}")
    largest = max(different_answers([reading.answer for reading in supporting]), key=len)
    most = [supporting[place] for place in largest]
    notes = (f"this is the answer that most paths give: {why}",)
    return _answer_of(most[0].answer, most, readings, consistency=consistency, notes=notes)


def _equal_share(readings: Sequence[PathReading]) -> float:
    """Return how far the supported answers agree by their words alone: the baseline compares none."""
    sizes = [len(group) for group in different_answers([reading.answer for reading in readings if reading.supported])]
    pairs = [(one, other) for other in range(len(sizes)) for one in range(other)]
    return agreement(sizes=sizes, compared=pairs, contradicting=pairs)


def _in_words(value: WholeAnswer) -> str:
    if value.kind != "list":
        return clean(value.answer)
    items = [clean(item) for item in value.items]
    return ("; " if any("," in item for item in items) else ", ").join(filter(None, items))


def _wrong_form(value: WholeAnswer) -> str:
    if value.kind == "list":
        return "" if any(map(clean, value.items)) else "a list has at least one item in items"
    if value.kind != "none" and not clean(value.answer):
        return f"the answer is empty, but its kind is {value.kind}"
    if value.kind == "yes_no" and not YES_OR_NO.match(value.answer.strip()):
        return "an answer of the kind yes_no begins with Yes or No"
    if value.kind == "number" and not any(sign.isdigit() for sign in value.answer):
        return "an answer of the kind number holds digits"
    return ""
