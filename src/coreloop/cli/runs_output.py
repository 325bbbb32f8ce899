"""What the commands on runs print, and the driver in a terminal: ``runs start`` and ``runs resume``."""

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from coreloop.answer.research.research_state import ASK
from coreloop.base.errors import RunBusyError, RunError, RunStoreError, WorkspaceError
from coreloop.base.messages import in_language_of, number_of
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import fitted, padded, printable
from coreloop.base.untrusted import untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.output import Output, say, table
from coreloop.runs.amounts import dollars
from coreloop.runs.driver.console import Console, CtrlC
from coreloop.runs.driver.driven_run import plan_of
from coreloop.runs.driver.driver import drive_run
from coreloop.runs.driver.process_group import adopt_what_commands_leave
from coreloop.runs.driver.progress_lines import reason_line
from coreloop.runs.state import State
from coreloop.runs.stores.accounts import RunRow
from coreloop.runs.stores.store import Store

_TEXT_COLUMNS = 1000


def run_lines(rows: Sequence[RunRow]) -> Iterator[str]:
    """Yield a list of runs."""
    columns = ("run", "status", ">iteration", ">spent", "changed (UTC)", "question")
    return table("no runs", columns, map(_cells, rows))


def _cells(row: RunRow) -> Sequence[str]:
    status, mark, reason = _status(row).partition(" (")
    changed, spent = f"{row.updated_at:%Y-%m-%d %H:%M}", dollars(row.spent.microusd)
    question = f"{mark}{reason} {printable_text(row.question)}".strip()
    return row.run_id, status, str(row.iteration), spent, changed, question


def _status(run: RunRow | State, tell: Callable[[str], str] = str) -> str:
    """How a run stands, and what ended it; a question whose attempts are over has no answer."""
    if run.kind == ASK and run.stop_reason == "max_iterations":
        return tell("no answer")
    reason = f" ({tell(run.stop_reason)})" if run.stop_reason else ""
    return f"{tell(run.status)}{reason}".replace("_", " ")


def printable_text(text: str) -> str:
    """Return the beginning of a text as one printable line; a question may be a whole file."""
    return fitted(printable(text[: _TEXT_COLUMNS + 1]), _TEXT_COLUMNS)


def state_lines(state: State) -> Iterator[str]:
    """Yield the state of a run."""
    tell = in_language_of(state.question)
    yield f"{state.run_id}  {state.kind}, {state.mode}  {_status(state, tell)}"
    for name, value in _figures(state):
        yield f"{padded(name, 11)} {value}"
    for part in state.sub_questions:
        mark = "note" if part.is_note else ("answered" if part.is_answered else "open")
        findings = number_of(len(part.findings), "finding")
        yield f"  {part.id} {padded(mark, 8)}  {findings}  {printable_text(part.text)}"
    for error in state.error_log[-3:]:
        yield f"  error     {error['at'][:19]}: {printable(error['error'])}"


def _figures(state: State) -> list[tuple[str, str]]:
    limits, used = state.limits, state.spent + state.reserved
    limit = "no limit" if limits.microusd is None else dollars(limits.microusd)
    over = limits.microusd is not None and state.spent.microusd > limits.microusd
    overshoot = f", {dollars(state.spent.microusd - (limits.microusd or 0))} over" if over else ""
    spent = f"{of(dollars(state.spent.microusd), limit)}{overshoot}"
    most = f"{limits.deadline_s:,.0f} s" if limits.deadline_s is not None else ""
    return [
        ("question", printable_text(state.question)),
        ("iteration", of(f"{state.iteration}", f"{limits.max_iterations}")),
        ("spent", f"{spent}; {dollars(state.reserved.microusd)} reserved"),
        ("tokens", of(f"{used.tokens:,}", "" if limits.tokens is None else f"{limits.tokens:,}")),
        ("time", of(f"{state.elapsed_s:,.0f} s", most)),
        ("searches", f"{state.queries:,}; {number_of(len(state.read_sources), 'source')} read"),
        *([("confidence", f"{state.confidence:.0%}")] if state.confidence else []),
    ]


def of(part: str, whole: str) -> str:
    """Return ``3 of 10``; only the part without a whole."""
    return f"{part} of {whole}" if whole else part


def row_facts(row: RunRow) -> dict[str, object]:
    """Return a row of the list as JSON has it."""
    return {
        **fields_of(row, "run_id", "kind", "mode", "status", "stop_reason", "iteration"),
        **untrusted({"question": row.question}),
        "cost_usd": row.spent.usd,
        "tokens": row.spent.tokens,
        **fields_of(row, "created_at", "updated_at"),
    }


_AT_GOAL = frozenset({"until", "sufficient"})


def drive_here(workspace: Workspace, store: Store, state: State) -> Output:
    """Drive a run to its end; its code is 1 if its goal is not reached, and 130 after Ctrl-C."""
    plan, ctrl_c = plan_of(state), CtrlC()
    adopt_what_commands_leave()
    tell = partial(say, err=True)
    tell(f"{state.run_id}  {printable(shlex.join(plan.command))}")
    try:
        state = drive_run(workspace, store, state.run_id, Console(tell, ctrl_c, os.environ))
    except RunBusyError as error:
        if ctrl_c.count:
            raise
        tell(str(error))
    except (RunStoreError, WorkspaceError) as error:
        raise RunError(
            f"{error}. The run goes on with dartlab-coreloop runs resume {state.run_id}"
        ) from error
    code = _exit_code(state, has_goal=bool(plan.until), was_interrupted=ctrl_c.count > 0)
    return Output(_drive_facts(state), reason_line(state), code=code)


def _exit_code(state: State, *, has_goal: bool, was_interrupted: bool) -> int:
    if state.status == "stopped_by_user" and was_interrupted:
        return 130
    if state.status == "completed" or state.is_until_met or state.stop_reason in _AT_GOAL:
        return 0
    is_ended_by_person = state.status in {"stopped_by_user", "paused", "running"}
    missed = state.sub_questions or state.stop_reason == "failures"
    return 1 if has_goal or (missed and not is_ended_by_person) else 0


def _drive_facts(state: State) -> dict[str, object]:
    return {
        **fields_of(state, "run_id", "status", "stop_reason", "iteration"),
        "cost_usd": state.spent.usd,
        "tokens": state.spent.tokens,
        "findings": sum(len(part.findings) for part in state.sub_questions),
        "calls": state.calls,
    }
