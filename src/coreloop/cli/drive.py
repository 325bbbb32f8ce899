"""The driver in a terminal: ``runs start``, and ``runs resume`` for a run of it."""

import os
import shlex

import click

from coreloop.base.errors import RunBusyError, RunError, RunStoreError, WorkspaceError
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.base.validation import fields_of
from coreloop.cli.output import Output
from coreloop.runs.driver.console import Console, CtrlC
from coreloop.runs.driver.driven_run import plan_of
from coreloop.runs.driver.driver import drive_run
from coreloop.runs.driver.process_group import adopt_what_commands_leave
from coreloop.runs.driver.progress_lines import reason_line
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

_AT_GOAL = frozenset({"until", "sufficient"})


def drive_here(workspace: Workspace, store: Store, state: State) -> Output:
    """Drive a run to its end; its code is 1 if its goal is not reached, and 130 after Ctrl-C."""
    plan, ctrl_c = plan_of(state), CtrlC()
    adopt_what_commands_leave()
    _say(f"{state.run_id}  {printable(shlex.join(plan.command))}")
    try:
        state = drive_run(workspace, store, state.run_id, Console(_say, ctrl_c, os.environ))
    except RunBusyError as error:
        if ctrl_c.count:
            raise
        _say(str(error))
    except (RunStoreError, WorkspaceError) as error:
        raise RunError(
            f"{error}. The run goes on with dartlab-coreloop runs resume {state.run_id}"
        ) from error
    code = _exit_code(state, has_goal=bool(plan.until), was_interrupted=ctrl_c.count > 0)
    return Output(_facts(state), reason_line(state), code=code)


def _say(line: str) -> None:
    click.echo(line, err=True)


def _exit_code(state: State, *, has_goal: bool, was_interrupted: bool) -> int:
    if state.status == "stopped_by_user" and was_interrupted:
        return 130
    if state.status == "completed" or state.is_until_met or state.stop_reason in _AT_GOAL:
        return 0
    is_ended_by_person = state.status in {"stopped_by_user", "paused", "running"}
    missed = state.sub_questions or state.stop_reason == "failures"
    return 1 if has_goal or (missed and not is_ended_by_person) else 0


def _facts(state: State) -> dict[str, object]:
    return {
        **fields_of(state, "run_id", "status", "stop_reason", "iteration"),
        "cost_usd": state.spent.usd,
        "tokens": state.spent.tokens,
        "findings": sum(len(part.findings) for part in state.sub_questions),
        "calls": state.calls,
    }
