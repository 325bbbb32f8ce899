"""What ``ask`` prints: each attempt and its repair to stderr, and the answer."""

import click
import orjson

from coreloop.answer.repair.case import case_of
from coreloop.answer.repair.response import Answer
from coreloop.base.text import counted, printable
from coreloop.runs.run import Run

_ADVICE = "index more files, ask in other words, or choose a model (CORELOOP_MODEL)"


def show_attempt(run: Run) -> None:
    """Print the newest attempt, its signal and what the repair did; nothing for an answer at once."""
    state = run.state
    if state.is_terminal or not state.iteration:
        return
    case = case_of(state)
    attempt = case.attempts[-1]
    if not attempt.sentences:
        click.echo(f"attempt {attempt.number}: {case.signals[-1].reason}", err=True)
    for repair in case.repairs:
        for line in repair.jobs if repair.attempt == attempt.number else ():
            click.echo(printable(f"  {line}"), err=True)


def show_answer(answer: Answer, *, as_json: bool) -> None:
    """Print an answer and its sources."""
    if as_json:
        click.echo(orjson.dumps(answer, option=orjson.OPT_INDENT_2))
        return
    for line in answer.answer.splitlines():
        click.echo(printable(line))
    click.echo()
    for source in answer.citations:
        line_number = f":{source.line}" if source.line else ""
        click.echo(printable(f"{source.id} {source.location}{line_number}  {source.title}"))
    click.echo(
        f"confidence {answer.confidence:.0%}; {counted(answer.repairs, 'repair')}; answer {answer.run_id}"
    )
    if not answer.supported:
        click.echo(_ADVICE, err=True)
