"""What ``ask`` prints: each attempt and its repair to stderr, and the answer with its passages."""

import click

from coreloop.answer.research.answer import AgentResponse, AnswerPassage, AnswerSource
from coreloop.answer.research.knowledge import knowledge_of
from coreloop.answer.research.verify import NO_EVIDENCE
from coreloop.base.messages import Phrase, number_of, say
from coreloop.base.text import printable
from coreloop.runs.run import Run


def show_attempt(run: Run) -> None:
    """Print the newest attempt, its signal and what the repair did; nothing for an answer at once."""
    state = run.state
    if state.is_terminal or not state.iteration:
        return
    case = knowledge_of(state)
    attempt = case.attempts[-1]
    if not attempt.sentences:
        click.echo(
            say("attempt {number}: {reason}", number=attempt.number, reason=Phrase(case.signals[-1].reason)),
            err=True,
        )
    for repair in case.repairs:
        for line in repair.jobs if repair.attempt == attempt.number else ():
            click.echo(printable(f"  {line}"), err=True)


def show_answer(answer: AgentResponse) -> None:
    """Print an answer of `ask`, its passages and its sources."""
    show_passages(answer)
    click.echo(
        say("{repairs}; answer {run_id}", repairs=number_of(answer.repairs, "repair"), run_id=answer.run_id)
    )
    if answer.reason:
        click.echo(printable(say(answer.reason)), err=True)


def show_passages(answer: AgentResponse) -> None:
    """Print what an answer says, whether sources say so, the passages, and the other sources."""
    if answer.end != "nothing_said_so" or answer.final_answer != NO_EVIDENCE:
        for line in answer.final_answer.splitlines():
            click.echo(printable(line))
        click.echo()
    closest = say("; closest:") if answer.passages and answer.verdict == "nothing said so" else ""
    click.echo(f"{say(answer.verdict)}{closest}")
    for passage in answer.passages:
        _show_passage(passage)
    shown_ids = {passage.id for passage in answer.passages}
    for source in answer.sources:
        if source.id not in shown_ids:
            click.echo(place_line(source))


def place_line(source: AnswerSource) -> str:
    """Return where a source stands: ``[1] guide.md:1  Returns  (2026-04-25)``."""
    line = f":{source.line}" if source.line else ""
    day = f"  ({source.published})" if source.published else ""
    return printable(f"{source.id} {source.location}{line}  {source.title}{day}")


def _show_passage(passage: AnswerPassage) -> None:
    """Print a passage whole; its marked sentence is bold on a terminal, and between » and « elsewhere."""
    click.echo(place_line(passage))
    start, end = passage.start, passage.end
    marked = f"»{passage.text[start:end]}«" if end > start else ""
    text = f"{passage.text[:start]}{marked}{passage.text[end:]}"
    is_marked = False
    for line in text.splitlines():
        is_marked = is_marked or "»" in line
        indented = f"    {printable(line)}".rstrip()
        click.echo(click.style(indented, bold=True) if is_marked else indented)
        is_marked = is_marked and "«" not in line
