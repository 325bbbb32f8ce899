"""``dartlab-coreloop runs``: what people do with runs; see also `runs_agent` and `runs_install`."""

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from coreloop.answer.agent.agent_state import opening_events
from coreloop.answer.research.answer import respond
from coreloop.answer.research.research_state import KIND as RESEARCH
from coreloop.answer.research.research_state import knowledge_of
from coreloop.base.text import printable
from coreloop.base.validation import fields_of
from coreloop.cli import runs_agent, runs_install
from coreloop.cli.open_runs import (
    limit_options,
    meant_run,
    mode_option,
    project_store,
    run_argument,
    session_option,
)
from coreloop.cli.options import (
    FILE,
    NOT_CONFIRMED,
    DurationType,
    confirm_option,
    int_option,
    verbose_option,
)
from coreloop.cli.output import Group, Output
from coreloop.cli.research import response_output
from coreloop.cli.runs_output import drive_here, printable_text, row_facts, run_lines, state_lines
from coreloop.runs.agent.agent_runs import close_if_over
from coreloop.runs.driver.driven_run import begin_driven, bound_run, is_driven, require_outside
from coreloop.runs.driver.driver import settle_left_over
from coreloop.runs.events import Caller
from coreloop.runs.manage import (
    complete_run,
    forget_run,
    last_state,
    pause_run,
    read_iteration,
    read_run,
    require_status,
    resume_run,
    stop_run,
)
from coreloop.runs.person_or_agent import require_person, require_terminal
from coreloop.runs.state import State, state_json
from coreloop.runs.stores.store import Store


@click.group(cls=Group)
def runs() -> None:
    """Drive a command, and show, pause, stop and remove runs: work whose end is decided outside the model.

    RUN is the id of a run; without it, the run of the agent's session, or else the newest.

    Example: runs list
    """


@runs.command(context_settings={"allow_interspersed_args": False})
@limit_options("max_iterations", "budget_usd", "max_tokens", "deadline", "usd_per_iteration")
@click.option("--until", default="", metavar="CMD", help="Stop when this shell command exits with 0.")
@click.option("--prompt", type=FILE, help="A file for the command's stdin, read before each iteration.")
@int_option("--max-failures", "Failures in a row.", default=5)
@click.option(
    "--iteration-timeout",
    type=DurationType(),
    default="1h",
    show_default=True,
    help="End an iteration that takes longer, with all processes that it started.",
)
@mode_option
@click.argument("words", metavar="-- COMMAND...", nargs=-1, type=click.UNPROCESSED, required=True)
def start(words: tuple[str, ...], **options: Any) -> Output:
    """Run a command once per iteration, until a limit or --until.

    Each iteration is a fresh process. A command that does not say what it spends needs --max-iterations,
    --deadline or --usd-per-iteration.

    Example: runs start --max-iterations 3 --until "test -f a.md" -- ./agent.sh
    """
    with project_store() as (workspace, store):
        now, first = datetime.now(UTC), opening_events(workspace.root)
        state = begin_driven(workspace, store, words, folder=Path.cwd(), now=now, first=first, **options)
        return drive_here(workspace, store, state)


@runs.command("list")
@click.option("--status", default="", metavar="STATUS", help="Only runs of one status, such as running.")
@click.option("--kind", default="", help="Only runs of one kind: research, agent, driven or gate.")
@int_option("--limit", "Show the newest N.", most=10_000, default=20)
def list_(status: str, kind: str, limit: int) -> Output:
    """List runs, the newest first.

    Example: runs list --status running
    """
    require_status(status)
    with project_store() as (_, store):
        rows = store.runs(status=status, kind=kind, limit=limit)
    return Output(list(map(row_facts, rows)), run_lines(rows))


@runs.command()
@run_argument
@click.option("--iteration", type=click.IntRange(1), help="Show what iteration N read and did.")
@verbose_option
def show(run_id: str | None, iteration: int | None, verbose: bool) -> Output:
    """Show a run's state, and the answer of a research.

    With --json, prints state.json.

    Example: runs show --iteration 1
    """
    with project_store() as (workspace, store):
        meant = meant_run(workspace, store, run_id)
        state = read_run(store, meant)
        is_research = state.kind == RESEARCH
        if iteration is not None:
            events = read_iteration(store, meant, iteration)
            return Output(events, _read_lines(state, iteration) if is_research else None)
    if not is_research:
        return Output(state_json(state), state_lines(state))
    lines = (*state_lines(state), "")
    return response_output(state_json(state), respond(state), state, is_verbose=verbose, before=lines)


def _read_lines(state: State, iteration: int) -> Iterator[str]:
    """Yield the sources that an iteration read, with their texts."""
    for read in [read for read in knowledge_of(state).sources if read.iteration == iteration]:
        yield printable(f"[{read.number}] {read.source.location}  {read.source.title}")
        yield from (f"    {printable(line)}" for line in read.source.text.splitlines())


@runs.command()
@run_argument
@session_option
def pause(run_id: str | None, session: str) -> Output:
    """Let a run stop after its current iteration.

    Resume lets it go on.

    Example: runs pause
    """
    return _tell(pause_run, run_id, session)


@runs.command()
@run_argument
@session_option
@limit_options("max_iterations", "deadline", "usd_per_iteration")
def resume(run_id: str | None, session: str, **options: Any) -> Output:
    """Let a paused or failed run go on.

    A run of start goes on here, others in the next process that works on them. The options can make the
    limits of a run of start tighter, not wider.

    Example: runs resume --deadline 30m
    """
    with project_store() as (workspace, store):
        named = read_run(store, meant_run(workspace, store, run_id, session))
        by = _require_outside(store, named, "resume")
        bound_run(store, named, now=datetime.now(UTC), **options)
        state = resume_run(store, named.run_id, by=by)
        if is_driven(state):
            return drive_here(workspace, store, state)
        return _status(close_if_over(store, state.run_id), _next_steps)


def _next_steps(state: State) -> Sequence[str]:

    if state.is_terminal:
        return [f"its report: dartlab-coreloop runs report {state.run_id}"]
    if state.kind == RESEARCH:
        return [f"go on with: dartlab-coreloop research QUESTION --run {state.run_id}"]
    return []


@runs.command()
@run_argument
@session_option
@click.option("--completed", is_flag=True, help="You call its question answered. No report of an agent can.")
def stop(run_id: str | None, session: str, completed: bool) -> Output:
    """End a run: a call under way is finished, no other begins.

    Example: runs stop --completed
    """
    return _tell(complete_run if completed else stop_run, run_id, session, is_for_persons=completed)


@runs.command()
@run_argument
@confirm_option
def forget(run_id: str | None, confirm: bool) -> Output:
    """Remove a run whole: events, results, views and feedback. What it spent today still counts.

    Example: runs forget --confirm
    """
    require_person("forget a run", os.environ)
    with project_store() as (workspace, store):
        named = last_state(store, meant_run(workspace, store, run_id))
        _require_outside(store, named, "forget")
        state = forget_run(workspace, store, named.run_id, confirm=confirm)
    facts = {"run_id": state.run_id, "removed": confirm}
    if confirm:
        return Output(facts, f"removed {state.run_id}")
    question = printable_text(state.question)
    return Output(facts, f"would remove {state.run_id} ({state.status}): {question}", [NOT_CONFIRMED])


def _tell(
    tell: Callable[..., State], run_id: str | None, session: str, *, is_for_persons: bool = False
) -> Output:

    by = require_person("pause, complete or stop a run", os.environ)
    with project_store() as (workspace, store):
        named = read_run(store, meant_run(workspace, store, run_id, session))
        if is_for_persons:
            _require_outside(store, named, "complete")
        if is_driven(named):
            settle_left_over(workspace, store, named.run_id)
        return _status(tell(store, named.run_id, by=by))


def _require_outside(store: Store, state: State, act: str) -> Caller:
    """Refuse whoever may be the agent of a run; returns who calls."""
    by = require_outside(state, act, os.environ)
    if state.drives_itself:
        require_terminal(f"{act} a run", os.environ)
    return by


def _status(state: State, following: Callable[[State], Sequence[str]] = lambda _: ()) -> Output:
    return Output(fields_of(state, "run_id", "status"), f"{state.run_id}  {state.status}", following(state))


for other in (
    *(runs_agent.open_, runs_agent.next_, runs_agent.plan, runs_agent.read, runs_agent.record),
    *(runs_agent.report, runs_agent.confirm, runs_install.install, runs_install.uninstall),
):
    runs.add_command(other)
