"""``dartlab-coreloop runs``: what people do with runs; see also `runs_agent` and `runs_install`."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coreloop.base.messages import number_of
from coreloop.base.records import encodable
from coreloop.cli import runs_agent, runs_install
from coreloop.cli.emit import emit, fields_of, json_of
from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.open_runs import meant_run, project_store, run_argument, session_option
from coreloop.cli.options import (
    FILE,
    NOT_CONFIRMED,
    DurationType,
    UsdType,
    confirm_option,
    json_option,
)

if TYPE_CHECKING:
    from coreloop.runs.state import State


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Drive a command, and show, pause, stop and remove runs: work whose end is decided outside the model.

    RUN is the id of a run; without it, the run of the agent's session, or else the newest.
    """


@command.command(context_settings={"allow_interspersed_args": False})
@click.option("--max-iterations", type=click.IntRange(1), help="Stop after N iterations.  [default: 100]")
@click.option("--budget-usd", type=UsdType(), help="Stop when this much is spent.  [default: 10.00]")
@click.option("--max-tokens", type=click.IntRange(1), help="Stop when as many tokens are spent.")
@click.option("--deadline", type=DurationType(), help="Stop after 8h, 30m or 90s of work.")
@click.option("--until", default="", metavar="CMD", help="Stop when this shell command exits with 0.")
@click.option("--prompt", type=FILE, help="A file for the command's stdin, read before each iteration.")
@click.option(
    "--max-failures", type=click.IntRange(1), default=5, show_default=True, help="Failures in a row."
)
@click.option(
    "--iteration-timeout",
    type=DurationType(),
    default="1h",
    show_default=True,
    help="End an iteration that takes longer, with all processes that it started.",
)
@click.option(
    "--usd-per-iteration",
    type=UsdType(),
    help="What an iteration costs at least, if the command does not say.",
)
@click.option(
    "--mode",
    type=click.Choice(["bounded", "exhaust"]),
    default="bounded",
    show_default=True,
    help="Whether the agent's own 'sufficient' ends the run.",
)
@click.argument("words", metavar="-- COMMAND...", nargs=-1, type=click.UNPROCESSED, required=True)
@json_option
def start(words: tuple[str, ...], *, as_json: bool, **options: Any) -> None:
    """Run a command once per iteration, as a fresh process, until a limit or --until ends the run.

    A command that does not say what it spends needs --max-iterations, --deadline or --usd-per-iteration.
    """
    from coreloop.answer.agent.read import opening_events
    from coreloop.cli.drive import drive_here
    from coreloop.runs.driver.new_run import begin_driven

    with project_store() as (workspace, store):
        now, first = datetime.now(UTC), opening_events(workspace.root)
        state = begin_driven(workspace, store, words, folder=Path.cwd(), now=now, first=first, **options)
        drive_here(workspace, store, state, as_json=as_json)


@command.command("list")
@click.option(
    "--status", default="", metavar="STATUS", help="Show the runs of one status, for example running."
)
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Show the newest N runs."
)
@json_option
def list_(status: str, limit: int, as_json: bool) -> None:
    """List runs, the newest first."""
    from coreloop.cli.runs_output import row_facts, show_runs
    from coreloop.runs.manage import require_status

    require_status(status)
    with project_store() as (_, store):
        rows = store.runs(status=status, limit=limit)
    emit(list(map(row_facts, rows)), as_json=as_json, text=lambda _: show_runs(rows))


@command.command()
@run_argument
@click.option("--iteration", type=click.IntRange(1), help="Print the archive of iteration N as JSON.")
@json_option
def show(run_id: str | None, iteration: int | None, as_json: bool) -> None:
    """Show a run's state; --json prints its state.json."""
    from coreloop.cli.runs_output import show_state
    from coreloop.runs.manage import read_iteration, read_run
    from coreloop.runs.state import state_json

    with project_store() as (workspace, store):
        meant = meant_run(workspace, store, run_id)
        if iteration is not None:
            events = read_iteration(store, meant, iteration)
            click.echo(json_of(events))
            return
        state = read_run(store, meant)
    emit(state_json(state), as_json=as_json, text=lambda _: show_state(state))


@command.command()
@run_argument
@session_option
@json_option
def pause(run_id: str | None, session: str, as_json: bool) -> None:
    """Let a run stop after its current iteration; resume lets it go on."""
    from coreloop.runs.pause_and_stop import pause_run

    _tell(pause_run, run_id, session, as_json=as_json)


@command.command()
@run_argument
@session_option
@click.option("--max-iterations", type=click.IntRange(1), help="Stop a run of start after N iterations.")
@click.option("--deadline", type=DurationType(), help="Stop a run of start after 8h, 30m or 90s of work.")
@click.option("--usd-per-iteration", type=UsdType(), help="What an iteration of start costs at least.")
@json_option
def resume(run_id: str | None, session: str, *, as_json: bool, **options: Any) -> None:
    """Let a paused or failed run go on, in the next process that works on it; a run of start here.

    The options can make its limits tighter, not wider.
    """
    from coreloop.answer.research.research_state import KIND as RESEARCH
    from coreloop.cli.drive import drive_here
    from coreloop.runs.agent.agent_runs import KIND as DRIVES_ITSELF
    from coreloop.runs.agent.agent_runs import close_if_over
    from coreloop.runs.driver.driven_run import is_driven, require_outside
    from coreloop.runs.driver.new_run import bound_run
    from coreloop.runs.manage import read_run
    from coreloop.runs.pause_and_stop import resume_run
    from coreloop.runs.person_or_agent import require_terminal

    with project_store() as (workspace, store):
        named = read_run(store, meant_run(workspace, store, run_id, session))
        by = require_outside(store, named, "resume", os.environ)
        bound_run(store, named, now=datetime.now(UTC), **options)
        if named.kind == DRIVES_ITSELF:
            require_terminal("resume a run", os.environ)
        state = resume_run(store, named.run_id, by=by)
        if is_driven(state):
            drive_here(workspace, store, state, as_json=as_json)
            return
        state = close_if_over(store, state.run_id)
    _show_status(state, as_json=as_json)
    if state.is_terminal and not as_json:
        click.echo(f"its report: dartlab-coreloop runs report {state.run_id}", err=True)
        return
    if state.kind == RESEARCH:
        click.echo(f"go on with: dartlab-coreloop research QUESTION --session {state.run_id}", err=True)


@command.command()
@run_argument
@json_option
def complete(run_id: str | None, as_json: bool) -> None:
    """End a run whose question you call answered. No report of an agent completes a run."""
    from coreloop.runs.pause_and_stop import complete_run

    _tell(complete_run, run_id, "", as_json=as_json, is_for_persons=True)


@command.command()
@run_argument
@session_option
@json_option
def stop(run_id: str | None, session: str, as_json: bool) -> None:
    """End a run: a call under way is finished, no other begins."""
    from coreloop.runs.pause_and_stop import stop_run

    _tell(stop_run, run_id, session, as_json=as_json)


@command.command()
@run_argument
@click.option("--out", type=FILE, required=True, help="A new file, readable only by you.")
@json_option
def export(run_id: str | None, out: Path, as_json: bool) -> None:
    """Write a run's events as JSON lines. They contain questions: sanitize the file before you share it."""
    from coreloop.runs.manage import write_export

    with project_store() as (workspace, store):
        count = write_export(store, meant_run(workspace, store, run_id), out)
    wrote = f"wrote {out}: {number_of(count, 'event')}"
    emit({"file": encodable(os.fsdecode(out)), "events": count}, as_json=as_json, text=wrote, is_compact=True)


@command.command()
@run_argument
@confirm_option
@json_option
def forget(run_id: str | None, confirm: bool, as_json: bool) -> None:
    """Remove a run whole: events, results, views and feedback. What it spent today still counts."""
    from coreloop.answer.repair.store import forget_answer
    from coreloop.cli.runs_output import printable_text
    from coreloop.runs.manage import forget_run
    from coreloop.runs.person_or_agent import require_person

    require_person("forget a run", os.environ)
    with project_store() as (workspace, store):
        state = forget_run(workspace, store, meant_run(workspace, store, run_id), confirm=confirm)
        if confirm:
            forget_answer(workspace, state, environ=os.environ)
    if as_json:
        click.echo(json_of({"run_id": state.run_id, "removed": confirm}, is_compact=True))
        return
    if confirm:
        click.echo(f"removed {state.run_id}")
        return
    question = printable_text(state.question)
    click.echo(f"would remove {state.run_id} ({state.status}): {question}")
    click.echo(NOT_CONFIRMED, err=True)


def _tell(
    tell: "Callable[..., State]",
    run_id: str | None,
    session: str,
    *,
    as_json: bool,
    is_for_persons: bool = False,
) -> None:
    from coreloop.runs.agent.agent_runs import KIND as DRIVES_ITSELF
    from coreloop.runs.driver.driven_run import is_driven, require_outside
    from coreloop.runs.driver.driver import settle_left_over
    from coreloop.runs.manage import read_run
    from coreloop.runs.person_or_agent import require_person, require_terminal

    by = require_person("pause, complete or stop a run", os.environ)
    with project_store() as (workspace, store):
        named = read_run(store, meant_run(workspace, store, run_id, session))
        if is_for_persons:
            require_outside(store, named, "complete", os.environ)
            if named.kind == DRIVES_ITSELF:
                require_terminal("complete a run", os.environ)
        if is_driven(named):
            settle_left_over(workspace, store, named.run_id)
        state = tell(store, named.run_id, by=by)
    _show_status(state, as_json=as_json)


def _show_status(state: "State", *, as_json: bool) -> None:
    line = f"{state.run_id}  {state.status}"
    emit(fields_of(state, "run_id", "status"), as_json=as_json, text=line, is_compact=True)


for other in (
    *(runs_agent.open_, runs_agent.next_, runs_agent.plan, runs_agent.read, runs_agent.record),
    *(runs_agent.report, runs_agent.waive, runs_agent.confirm),
    *(runs_install.install, runs_install.uninstall),
):
    command.add_command(other)
