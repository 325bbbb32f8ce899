"""What ``research`` prints: a block for each iteration, and the answer."""

from collections.abc import Iterable, Sequence

import click
import orjson

from coreloop.answer.research.answer import AgentResponse, ending
from coreloop.answer.research.knowledge import Knowledge, ReadSource, knowledge_of
from coreloop.base.messages import Phrase, number_of, say
from coreloop.base.text import printable
from coreloop.cli.choose_session import begun_line
from coreloop.cli.show_answer import show_passages
from coreloop.cli.show_iteration import (
    Iteration,
    end_lines,
    focus_lines,
    following_lines,
    iteration_lines,
)
from coreloop.runs.decide import Continue
from coreloop.runs.run import Run
from coreloop.runs.state import State


def show_progress(run: Run) -> None:
    """Print the block of the newest iteration to stderr; at the end of a run, its reason."""
    state = run.state
    if state.status == "failed":  # the error follows
        return
    if state.is_terminal:
        _echo(end_lines(state))
        return
    knowledge = knowledge_of(state)
    new = [search.query for search in state.search_history if search.iteration == state.iteration]
    _echo(say("✓ NEW: '{query}'", query=query) for query in new)
    _echo(iteration_lines(state, Iteration(number=state.iteration, plan=_upcoming(state, knowledge))))
    if isinstance(run.decide(), Continue):
        _echo(following_lines(state))
        _echo(focus_lines(state.question, knowledge))


def show_begin(state: State) -> None:
    """Say that a new research begins, and what its first iteration concentrates on."""
    if not state.iteration:
        _echo(
            [
                begun_line(state.run_id, state.question),
                *focus_lines(state.question, knowledge_of(state)),
            ]
        )


def _echo(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(printable(line), err=True)


def show_response(response: AgentResponse, state: State, *, as_json: bool, is_verbose: bool = False) -> None:
    """Print the answer of a research in a state, and its sources."""
    if as_json:
        click.echo(orjson.dumps(response, option=orjson.OPT_INDENT_2))
        return
    show_passages(response, is_verbose=is_verbose)
    click.echo(_figures(response))
    if note := ending(state):
        click.echo(printable(note))
    if response.reason and state.status != "paused":
        click.echo(printable(say(response.reason)), err=True)


def show_sources(sources: Sequence[ReadSource]) -> None:
    """Print sources with their texts."""
    for read in sources:
        click.echo(printable(f"[{read.number}] {read.source.location}  {read.source.title}"))
        for line in read.source.text.splitlines():
            click.echo(f"    {printable(line)}")


def _figures(response: AgentResponse) -> str:
    queries = response.usage.queries
    searches = number_of(queries, "search") if queries == 1 else Phrase("{n:,} searches", n=queries)
    return say(
        "{iterations}, {searches}; run {run_id}",
        iterations=number_of(response.iterations, "iteration"),
        searches=searches,
        run_id=response.run_id,
    )


def _upcoming(state: State, knowledge: Knowledge) -> tuple[str, ...]:
    upcoming = [query for query in knowledge.plan_queries if query.iteration == state.iteration + 1]
    return tuple(f"{one.query} ({one.layer})" if one.layer else one.query for one in upcoming)
