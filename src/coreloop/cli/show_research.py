"""What ``research`` prints: a block for each iteration, and the answer."""

from collections.abc import Sequence

import click
import orjson

from coreloop.answer.research.answer import AgentResponse, ending
from coreloop.answer.research.knowledge import Knowledge, ReadSource, knowledge_of
from coreloop.base.text import counted, printable
from coreloop.cli.show_answer import show_passages
from coreloop.cli.show_iteration import goes_on_line, iteration_lines
from coreloop.runs.agent.report import Learnt, Report
from coreloop.runs.decide import Continue
from coreloop.runs.run import Run
from coreloop.runs.state import State


def show_progress(run: Run) -> None:
    """Print the block of the newest iteration to stderr; at the end of a run, its status."""
    state = run.state
    if state.status == "failed":  # the error follows
        return
    if state.is_terminal:
        click.echo(f"stopped: {state.stop_reason}" if state.stop_reason else state.status, err=True)
        return
    *block, _ = iteration_lines(state, _report(state, knowledge_of(state)))
    for line in block:
        click.echo(line, err=True)
    if isinstance(run.decide(), Continue):
        click.echo(goes_on_line(state.question), err=True)


def show_response(response: AgentResponse, state: State, *, as_json: bool) -> None:
    """Print the answer of a research in a state, and its sources."""
    if as_json:
        click.echo(orjson.dumps(response, option=orjson.OPT_INDENT_2))
        return
    show_passages(response)
    click.echo(_figures(response))
    if note := ending(state):
        click.echo(printable(note))
    if response.reason and state.status != "paused":
        click.echo(printable(response.reason), err=True)


def show_sources(sources: Sequence[ReadSource], *, as_json: bool) -> None:
    """Print sources with their texts."""
    if as_json:
        click.echo(orjson.dumps(sources, option=orjson.OPT_INDENT_2))
        return
    for read in sources:
        click.echo(printable(f"[{read.number}] {read.source.location}  {read.source.title}"))
        for line in read.source.text.splitlines():
            click.echo(f"    {printable(line)}")


def _figures(response: AgentResponse) -> str:
    queries = response.usage.queries
    searches = f"{queries:,} {'search' if queries == 1 else 'searches'}"
    return f"{counted(response.iterations, 'iteration')}, {searches}; run {response.run_id}"


def _report(state: State, knowledge: Knowledge) -> Report:
    number = state.iteration
    found = [finding for finding in knowledge.findings if finding.iteration == number]
    upcoming = [query for query in knowledge.plan_queries if query.iteration == number + 1]
    return Report(
        iteration=number,
        findings=tuple(
            Learnt(text=f"{one.tag} {one.text}", sources=tuple(f"[{source}]" for source in one.sources))
            for one in found
        ),
        next_actions=tuple(f"{one.query} ({one.layer})" if one.layer else one.query for one in upcoming),
    )
