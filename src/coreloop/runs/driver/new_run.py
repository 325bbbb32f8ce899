"""A new run for the driver: from a person's options to its limits and its plan."""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.project.workspace import Workspace
from coreloop.runs.driver.driven_run import KIND, PLAN, DriverPlan, is_driven, plan_of
from coreloop.runs.driver.process_group import require_processes
from coreloop.runs.events import Narrowed, Noted
from coreloop.runs.limits import Limits, Mode
from coreloop.runs.load import load_run, require_resumable
from coreloop.runs.manage import begin_run
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

_QUESTION_CHARS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverOptions:
    """What a person asks for; None for the defaults of `Limits`."""

    command: tuple[str, ...]
    folder: Path
    prompt: Path | None = None
    until: str = ""
    max_iterations: int | None = None
    budget_usd: float | None = None
    max_tokens: int | None = None
    deadline: float | None = None
    max_failures: int = 5
    iteration_timeout: float = 3600.0
    usd_per_iteration: float | None = None
    mode: Mode = "bounded"


def begin_driven(
    workspace: Workspace,
    store: Store,
    options: DriverOptions,
    *,
    now: datetime,
    first: Sequence[tuple[str, Any]] = (),
) -> State:
    """Create a run for the driver, with its plan; no command is started yet.

    ``first`` are names and data of events of the run's kind that it begins with.

    Raises
    ------
    UsageError
        Nothing would end the run for certain, or the command cannot be found.
    WorkspaceError
        The prompt cannot be read.
    """
    require_processes()
    _require_limit(options)
    _require_program(options)
    run_id = begin_run(
        workspace,
        store,
        _question(options),
        kind=KIND,
        now=now,
        mode=options.mode,
        limits=_limits(options),
        first=first,
    )
    folding, newest = load_run(store, run_id)
    planned = Noted(at=now, name=PLAN, data=msgspec.to_builtins(_plan(options)))
    store.append(run_id, [planned], after=newest)
    folding.add(planned)
    return folding.state


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Tighter limits of a run that goes on; None leaves them as they are."""

    max_iterations: int | None = None
    deadline: float | None = None
    usd_per_iteration: float | None = None


def bound_run(store: Store, state: State, bounds: Bounds, *, now: datetime) -> None:
    """Make the limits of a driven run tighter before it goes on: it ends although its command says nothing.

    Raises
    ------
    UsageError
        The run is not a driven one.
    RunBusyError
        A process works on it.
    """
    if bounds == Bounds():
        return
    if not is_driven(state):
        raise UsageError(f"run {state.run_id} is not one of runs start; leave out the options")
    require_resumable(state)
    plan = plan_of(state)
    price = plan.usd_per_iteration if bounds.usd_per_iteration is None else bounds.usd_per_iteration
    planned = replace(plan, usd_per_iteration=price, is_bounded=True)
    limits = msgspec.structs.replace(
        state.limits,
        max_iterations=bounds.max_iterations or state.limits.max_iterations,
        deadline_s=state.limits.deadline_s if bounds.deadline is None else bounds.deadline,
    )
    with store.hold(state.run_id):
        _, newest = load_run(store, state.run_id)
        bound = Noted(at=now, name=PLAN, data=msgspec.to_builtins(planned))
        store.append(state.run_id, [Narrowed(at=now, limits=limits), bound], after=newest)


def _is_bounded(options: DriverOptions) -> bool:
    return any(
        limit is not None for limit in (options.max_iterations, options.deadline, options.usd_per_iteration)
    )


def _require_limit(options: DriverOptions) -> None:
    if not _is_bounded(options) and options.budget_usd is None and options.max_tokens is None:
        raise UsageError(
            "nothing limits the run: give --max-iterations or --deadline, "
            "or --budget-usd if the command says what it spends"
        )


def _require_program(options: DriverOptions) -> None:
    program = options.command[0]
    if "/" in program:
        is_found = shutil.which(options.folder / program) is not None
    else:
        is_found = shutil.which(program) is not None
    if not is_found:
        raise UsageError(f"{program!r} is not an executable program; check its name and PATH")


def _limits(options: DriverOptions) -> Limits:
    default = Limits()
    return Limits(
        max_iterations=options.max_iterations or default.max_iterations,
        usd=default.usd if options.budget_usd is None else options.budget_usd,
        tokens=options.max_tokens,
        deadline_s=options.deadline,
        max_failures=options.max_failures,
    )


def _plan(options: DriverOptions) -> DriverPlan:
    return DriverPlan(
        command=options.command,
        folder=str(options.folder),
        prompt=str(_prompt(options) or ""),
        until=options.until,
        iteration_timeout_s=options.iteration_timeout,
        usd_per_iteration=options.usd_per_iteration,
        is_bounded=_is_bounded(options),
    )


def _prompt(options: DriverOptions) -> Path | None:
    return None if options.prompt is None else options.folder / options.prompt


def _question(options: DriverOptions) -> str:
    """Return the prompt's first line, or else the command."""
    if (prompt := _prompt(options)) is not None:
        try:
            text = prompt.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise WorkspaceError("is not UTF-8 text; convert it", path=prompt) from error
        except OSError as error:
            raise WorkspaceError(f"cannot be read ({error.strerror})", path=prompt) from error
        for line in text.splitlines():
            if title := line.strip("# \t"):
                return title[:_QUESTION_CHARS]
    return shlex.join(options.command)[:_QUESTION_CHARS]
