"""Follow-ups against the same questions asked in full: `python -m tests.bench.threads CORPUS THREADS.jsonl`.

Every question of every thread is asked of the whole corpus, of its rules alone. A follow-up is right where a page that holds its
answer is among the first three. Threads whose id has an even hash are those that the rules were made with; the others are kept.
"""

import argparse
import asyncio
import hashlib
import itertools
import json
import time
from collections import Counter
from pathlib import Path

import numpy as np

from storage.corpus.snapshot import open_for_reading
from storage.graph.search import Scope
from storage.locations import corpus_location
from storage.runs.log import RunLog
from tasks.algorithms.questions.following import complete
from tasks.asking import question as asking
from tasks.asking.candidates import find_candidates, page_ranking
from tasks.asking.second_look import score_and_look_again
from tasks.lineage.writing import working_at, workplace_of
from tasks.models.embedding.embedder import open_question_embedder
from tasks.reading.rules import ExtractiveReader
from tasks.settings.ask import AskSettings
from tests.bench.measuring import CONSOLE

FIRST, CALLS = 3, 1_000


async def is_right(text, turn, context):
    question = await asking.understand("bench", text, context)
    graph = await find_candidates.submit(question, context)
    ranking = page_ranking(graph, await score_and_look_again(question, graph, context))[:FIRST]
    wanted = {(turn["document"], page) for page in turn["pages"]}
    return bool(wanted & {(context.names[document].name, page) for (document, page), _score in ranking})


def is_kept(thread):
    return hashlib.sha256(thread["id"].encode()).digest()[0] % 2 == 1


async def measure(corpus, threads):
    """Return wins, ties, losses and questions changed by mistake, of both halves."""
    location, settings, counts = corpus_location(corpus), AskSettings(), Counter()
    with open_for_reading(location) as snapshot:
        embedder = open_question_embedder(snapshot.embedder, models=settings.models)
        context = asking.context_of(snapshot, Scope(), settings, embedder, ExtractiveReader(settings.reading))
        place = workplace_of("bench", RunLog(location.runs / "bench", itertools.count(1), held=[]))
        with working_at(place):
            for thread in threads:
                half, before = ("kept" if is_kept(thread) else "tuned"), ""
                for turn in thread["turns"]:
                    before = complete(turn["question"], before)
                    if not turn["depends"]:
                        counts[half, "changed"] += before != turn["question"]
                        continue
                    full, found = [await is_right(text, turn, context) for text in (turn["in_full"], before)]
                    counts[half, "wins" if found > full else "losses" if found < full else "ties"] += 1
    return counts


def seconds_of(threads):
    pairs = itertools.cycle((turn["question"], thread["turns"][0]["question"]) for thread in threads for turn in thread["turns"])
    taken = []
    for question, before in itertools.islice(pairs, CALLS):
        began = time.perf_counter()
        complete(question, before)
        taken.append(time.perf_counter() - began)
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("threads", type=Path)
    arguments = parser.parse_args()
    threads = [json.loads(line) for line in arguments.threads.read_text("utf-8").splitlines()]
    counts = asyncio.run(measure(arguments.corpus, threads))
    for half in ("tuned", "kept"):
        wins, ties, losses, changed = (counts[half, name] for name in ("wins", "ties", "losses", "changed"))
        good = (wins + ties) / max(wins + ties + losses, 1)
        CONSOLE.print(f"{half}: {wins} wins, {ties} ties, {losses} losses, as good {good:.0%}; changed by mistake {changed}")
    CONSOLE.print(f"understanding, 95th percentile of {CALLS:,} calls: {1000 * np.percentile(seconds_of(threads), 95):.2f} ms")


if __name__ == "__main__":
    main()
