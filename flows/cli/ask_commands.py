"""The commands `ask`, `answers`, `report` and `verify`. None of them needs Prefect."""

import argparse
import asyncio
from collections.abc import Coroutine
from contextlib import aclosing
from pathlib import Path

from flows.cli.ask_server_commands import load_asked_settings, reader_of, require_one_source
from flows.display.output import Output
from storage.catalog.in_use import corpora_in, unnamed_corpus
from storage.corpus.snapshot import open_for_reading
from storage.locations import USUAL_CORPUS, corpora_folder, corpus_location
from tasks.asking.request import AskRequest, read_batch, read_text
from tasks.models.process import interrupt_models
from tasks.progress import forget_stop, request_stop

WELL, PROBLEM = 0, 1


def ask(arguments: argparse.Namespace, output: Output) -> int:
    require_one_source(arguments)
    questions = read_batch(arguments.batch) if arguments.batch is not None else (arguments.question,)
    request = AskRequest(
        questions=questions,
        corpus=arguments.corpus or choose_corpus(output),
        documents=tuple(arguments.document),
        pages=arguments.pages,
        modality=arguments.modality,
        reader=reader_of(arguments),
        follow=arguments.follow,
        fresh=arguments.fresh,
        require_model=arguments.require_model,
        local=arguments.local,
        preset=arguments.preset,
        settings=load_asked_settings(arguments),
    )
    if arguments.report:
        prepare_report(arguments.report)
    forget_stop()
    asyncio.run(_until_stopped(_answer(request, arguments.report, output)))
    return WELL


def choose_corpus(output: Output) -> str:
    """Return the usual corpus, or the only one that there is, and say so; raise RequestError where there are several."""
    there = [each.name for each in corpora_in(corpora_folder()) if each.current.exists()]
    corpus = USUAL_CORPUS if USUAL_CORPUS in there else unnamed_corpus(there)
    if corpus != USUAL_CORPUS:
        output.side.print(
            f"asked of corpus {corpus}, the only one; other commands want --corpus {corpus}",
            markup=False,
            soft_wrap=True,
        )
    return corpus


async def _until_stopped(work: Coroutine[None, None, None]) -> None:
    """Do the work; on Ctrl-C end calls in flight and a loading model, too, because their threads are waited for."""
    try:
        await work
    except asyncio.CancelledError:
        request_stop()
        interrupt_models()
        raise


async def _answer(request: AskRequest, report_path: Path | None, output: Output) -> None:
    from flows.ask import ask as answers_to
    from flows.display.answer_tables import show_answer
    from flows.display.followed import follow_questions

    many = len(request.questions) > 1
    with follow_questions(output, len(request.questions)) as aside:
        async with aclosing(answers_to(request)) as answers:
            async for answer in answers:
                with aside(answer):
                    show_answer(answer, output, with_question=many)
    if report_path is not None:
        write_report_of(answer.answer_id, request.corpus, report_path, output)


def answers_list(arguments: argparse.Namespace, output: Output) -> int:
    from flows.display.answer_tables import show_answers
    from tasks.views.answers import view_answers

    with open_for_reading(corpus_location(arguments.corpus)) as snapshot:
        show_answers(arguments.corpus, view_answers(snapshot.answers(), snapshot), output)
    return WELL


def answers_show(arguments: argparse.Namespace, output: Output) -> int:
    """Show an answer again, without what quotes a document that was removed since."""
    from flows.display.answer_tables import show_answer
    from tasks.views.answers import view_answer

    with open_for_reading(corpus_location(arguments.corpus)) as snapshot:
        answer = view_answer(snapshot.answer(arguments.answer), snapshot)
    show_answer(answer, output, with_question=True)
    return WELL


def answers_remove(arguments: argparse.Namespace, output: Output) -> int:
    from storage.cleaning.threads import remove_thread

    output.draw(remove_thread(corpus_location(arguments.corpus), arguments.answer), "thread_removed.j2")
    return WELL


def report(arguments: argparse.Namespace, output: Output) -> int:
    path = arguments.output or Path(f"answer-{arguments.answer[:8]}.html")
    prepare_report(path)
    left_out = write_report_of(arguments.answer, arguments.corpus, path, output)
    if output.as_json:
        output.data({"report": str(path.absolute()), "left_out": list(left_out)})
    return WELL


def write_report_of(asked_id: str, corpus: str, path: Path, output: Output) -> tuple[str, ...]:
    from storage.artifacts import home_artifacts
    from tasks.report.write import write_report

    with open_for_reading(corpus_location(corpus)) as snapshot:
        answer = snapshot.answer(asked_id)
        left_out = write_report(answer, snapshot, home_artifacts(), path.absolute())
    for reason in left_out:
        output.side.print(f"not in the report: {reason}", markup=False, soft_wrap=True)
    output.side.print(f"the report is in {path}", markup=False, soft_wrap=True)
    return left_out


def prepare_report(path: Path) -> None:
    """Refuse a path that cannot be written before the work, and load what draws pages meanwhile."""
    from tasks.parsing.supervisor import CHILDREN
    from tasks.report.write import check_target

    check_target(path.absolute())
    CHILDREN.warm()


def verify(arguments: argparse.Namespace, output: Output) -> int:
    """Show which quotes and numbers of a text stand in the corpus."""
    from tasks.views.checks import view_verification

    view = view_verification(read_text(arguments.text, "text", "what is to be checked"), arguments.corpus)
    output.draw(view, "verified.j2")
    return WELL if view.all_found else PROBLEM
