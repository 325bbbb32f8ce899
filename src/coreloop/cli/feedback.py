"""``dartlab-coreloop feedback``."""

from typing import TYPE_CHECKING

import click

from coreloop.base.messages import in_language_of
from coreloop.cli.emit import emit
from coreloop.cli.open_runs import project_deps
from coreloop.cli.options import json_option

if TYPE_CHECKING:
    from coreloop.answer.repair.feedback import Notice
    from coreloop.answer.repair.tables import Feedback


@click.command()
@click.argument("answer_id", metavar="ID")
@click.argument("value", metavar="up|down|0..1")
@click.option("--reason", default="", help="Why, for people; it is never part of a prompt.")
@click.option("--later", is_flag=True, help="Leave another answer to `jobs work`.")
@json_option
def command(answer_id: str, value: str, *, reason: str, later: bool, as_json: bool) -> None:
    """Say whether an answer was good; a bad one is repaired and answered again.

    ID is what `ask` prints at the end, or `last`. The verdict counts as a user's, below those of `judge`.
    """
    from coreloop.answer.repair.feedback import give_feedback, mending_job, newest_answer, wait_for_notice
    from coreloop.answer.repair.jobs import all_handlers
    from coreloop.runs.jobs.work import work_on_jobs
    from coreloop.runs.load import load_run

    with project_deps() as deps:
        answer_id = newest_answer(deps) if answer_id == "last" else answer_id
        feedback = give_feedback(deps, answer_id, _value(value), reason=reason)
        if feedback.mended_by and not later:
            work_on_jobs(deps.queue, all_handlers(deps), [mending_job(deps, answer_id).id])
        notice = wait_for_notice(deps, answer_id, 0) if feedback.mended_by else None
        question = load_run(deps.store, answer_id)[0].state.question if feedback.mended_by else ""
    facts = {"feedback": feedback, "notice": notice}
    emit(facts, as_json=as_json, text=lambda _: _show(feedback, notice, question))


def _show(feedback: "Feedback", notice: "Notice | None", question: str) -> None:
    from coreloop.base.text import printable
    from coreloop.cli.ask import show_answer

    click.echo(f"{feedback.kind}: noted for {printable(feedback.message_id)}")
    if notice:
        click.echo(in_language_of(question)(notice.text))
        if notice.answer and notice.answer.supported:
            click.echo()
            show_answer(notice.answer, question)


def _value(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
