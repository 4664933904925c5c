"""DMAP's way: pages by the map of the document, by text and by figures; what is not answered then is looked for around them."""

from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.readers.map import locate, reflect, take_paths, widen
from tasks.readers.whole_documents import find_documents
from tasks.reading.paths import fetch_texts, read_paths
from tasks.reading.synthesis import Evidence, Findings, synthesize

GATED = False


async def read(question: Question, context: AskContext) -> Findings:
    """Answer by the map: candidates, score -> locate -> three paths -> fetch -> read -> (reflect -> widen -> read) -> synthesize.

    After widening everything is read: a model's readings that are not new cost nothing, for its replies are kept.
    """
    graph, scores = await find_documents(question, context, most=context.settings.map.documents)
    search = await locate.submit(question, graph, scores, context)
    search = await take_paths.submit(question, graph, scores, search, context)
    texts = await fetch_texts.submit(question, graph, scores, search.paths, context)
    readings = await read_paths.submit(question, texts, context)
    for _round in range(context.settings.map.rounds):
        search = await reflect.submit(question, scores, search, readings, context)
        if search.open and search.maps:
            search = await widen.submit(question, graph, search, readings, context)
        if search.is_read(readings):
            break
        texts = await fetch_texts.submit(question, graph, scores, search.paths, context)
        readings = await read_paths.submit(question, texts, context)
    return await synthesize.submit(
        question, graph, scores, Evidence(search.paths, readings, doubtful=True, way=search.way), context
    )
