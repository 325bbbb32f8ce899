"""``dartlab-coreloop runs open|next|record|waive``: the commands of an agent, and a person's answer to it."""

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import click
import orjson

from coreloop.base.errors import UsageError
from coreloop.cli.limit_options import chosen_limits, limit_options
from coreloop.cli.open_runs import project_store, run_argument
from coreloop.cli.options import json_option

if TYPE_CHECKING:
    from coreloop.runs.limits import Mode

session_option = click.option(
    "--session",
    default="",
    metavar="ID",
    help="The agent's session, which the Stop hook keeps at work.  [default: $CLAUDE_CODE_SESSION_ID]",
)
_MAX_QUESTION_BYTES: Final = 100_000
_SESSION_CHARS: Final = 200


@click.command("open")
@click.argument("question")
@limit_options
@session_option
@json_option
def open_(
    question: str,
    max_iterations: int,
    budget_usd: float,
    max_tokens: int | None,
    deadline: float | None,
    mode: "Mode",
    session: str,
    as_json: bool,
) -> None:
    """Open a run for an agent that drives itself with next and record. QUESTION may be - for stdin."""
    from datetime import UTC, datetime

    from coreloop.runs.agent.agent import KIND, attach, show_views
    from coreloop.runs.manage import begin_run, read_run

    text = _text(question)
    limits = chosen_limits(max_iterations, budget_usd, max_tokens, deadline)
    with project_store() as (workspace, store):
        run_id = begin_run(
            workspace,
            store,
            text,
            kind=KIND,
            mode=mode,
            limits=limits,
            drives_itself=True,
            now=datetime.now(UTC),
        )
        attach(store, run_id, _session(session))
        show_views(workspace, store, read_run(store, run_id))
    click.echo(orjson.dumps({"run_id": run_id}) if as_json else run_id)


@click.command("next")
@run_argument
@session_option
@json_option
def next_(run_id: str | None, session: str, as_json: bool) -> None:
    """Print as JSON what an agent must know before its next iteration, and what to do.

    Without RUN, it is about the driver's run within a driver's command, or else about the session's run.
    """
    from coreloop.runs.agent.agent import attach, close_if_over, show_views
    from coreloop.runs.agent.next_step import next_step
    from coreloop.runs.agent.session_file import run_of_session
    from coreloop.runs.manage import named_run

    del as_json  # the output is always JSON
    with project_store() as (workspace, store):
        known = named_run(store, _own_run(run_id) or run_of_session(workspace.root, _session(session)))
        attach(store, known, _session(session))
        state = close_if_over(store, known)
        facts = next_step(store, state)
        show_views(workspace, store, state)
    click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))


@click.command()
@run_argument
@json_option
def record(run_id: str | None, as_json: bool) -> None:
    """Read an agent's report of one iteration from stdin, check it and commit it.

    Prints what the agent shows: findings, plan, progress, and whether the run goes on. An invalid report
    changes nothing; the error names the field. Without RUN, it is about the driver's run within a driver's
    command, or else about the run of $CLAUDE_CODE_SESSION_ID.
    """
    from coreloop.cli.show_iteration import iteration_lines
    from coreloop.runs.agent.agent import record_report, show_views
    from coreloop.runs.agent.report import MAX_BYTES, read_report
    from coreloop.runs.agent.session_file import run_of_session
    from coreloop.runs.manage import named_run
    from coreloop.runs.state import state_json

    report = read_report(_stdin(MAX_BYTES + 1))
    with project_store() as (workspace, store):
        known = named_run(store, _own_run(run_id) or run_of_session(workspace.root, _session("")))
        state = record_report(store, known, report)
        text: Any = "\n".join(iteration_lines(state, report))
        click.echo(orjson.dumps(state_json(state), option=orjson.OPT_INDENT_2) if as_json else text)
        show_views(workspace, store, state)


@click.command()
@click.argument("sub_question")
@click.option("--run", "run_id", metavar="RUN", help="The run.  [default: the newest]")
@json_option
def waive(sub_question: str, run_id: str | None, as_json: bool) -> None:
    """Agree that a sub-question falls away, as an agent proposed. Only a person can: run it yourself."""
    from coreloop.runs.agent.agent import show_views
    from coreloop.runs.agent.agent import waive as agree
    from coreloop.runs.caller import require_person
    from coreloop.runs.driver.driven import require_outside
    from coreloop.runs.manage import read_run

    if os.environ.get("CLAUDECODE"):
        raise UsageError("an agent cannot agree to its own proposal; run this in a terminal of your own")
    by = require_person("agree to its own proposal", os.environ)
    with project_store() as (workspace, store):
        named = read_run(store, run_id)
        require_outside(store, named, "waive a part of", os.environ)
        state = agree(store, named.run_id, sub_question, by=by)
        show_views(workspace, store, state)
    facts = {"run_id": state.run_id, "waived": sub_question, "status": state.status}
    click.echo(
        orjson.dumps(facts) if as_json else f"{sub_question} falls away; {state.run_id} is {state.status}"
    )


def _own_run(run_id: str | None) -> str | None:
    """Return the run that was named, or else the driver's; an agent of a driver has no other."""
    from coreloop.runs.caller import RUN, UNKNOWN, driving_run

    own = driving_run(os.environ)
    if own == UNKNOWN:
        raise UsageError(f"the run of this agent cannot be told; leave {RUN} in its environment as it was")
    if own and run_id not in {None, own}:
        raise UsageError(f"this agent works on run {own}; leave out RUN")
    return run_id or own or None


def _session(session: str) -> str:
    return (session or os.environ.get("CLAUDE_CODE_SESSION_ID", ""))[:_SESSION_CHARS]


def _text(question: str) -> str:
    text = question
    if question == "-":
        text = _stdin(_MAX_QUESTION_BYTES).decode("utf-8", "replace")
    if not text.strip():
        raise UsageError("the question is empty; write what the run shall find out")
    return text.strip()


def _stdin(max_bytes: int) -> bytes:
    if sys.stdin.isatty():
        raise UsageError("nothing on stdin; pipe a file into the command: runs record < iteration.json")
    return sys.stdin.buffer.read(max_bytes)
