"""The kind of a run that the driver drives: its command and options, kept with the run."""

import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from coreloop.base.errors import UsageError
from coreloop.base.files import read_file
from coreloop.base.project.workspace import Workspace
from coreloop.runs.driver.process_group import require_processes
from coreloop.runs.events import Caller, Narrowed, Noted
from coreloop.runs.kinds import Kind, register_kind
from coreloop.runs.limits import Mode, limits_of
from coreloop.runs.load import change_run, load_run, require_resumable
from coreloop.runs.manage import begin_run
from coreloop.runs.person_or_agent import require_person
from coreloop.runs.state import KindState, State
from coreloop.runs.stores.store import Store

KIND: Final = "driven"
PLAN: Final = "plan"
"""Name of the event that has the `DriverPlan`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverPlan:
    """What the driver does in each iteration.

    Attributes
    ----------
    command : tuple of str
        Program and arguments.
    folder : str
        The absolute working folder.
    prompt : str
        The absolute path of the prompt, which is read before each iteration; "" for none.
    until : str
        A command line for ``sh``; its exit code 0 ends the run. "" for none.
    iteration_timeout_s : float
        After which an execution of the command is ended.
    usd_per_iteration : float or None
        The least that an execution counts.
    is_bounded : bool
        Whether a limit of iterations, time or dollars per iteration was given, so that the run ends even if
        the command never says what it spent.
    """

    command: tuple[str, ...]
    folder: str
    prompt: str = ""
    until: str = ""
    iteration_timeout_s: float = 3600.0
    usd_per_iteration: float | None = None
    is_bounded: bool = True


@dataclass
class DrivenState(KindState):
    """What a driven run has: its plan."""

    driver: DriverPlan | None = None


def is_driven(state: State) -> bool:
    """Whether the driver drives a run."""
    return state.kind == KIND


def plan_of(state: State) -> DriverPlan:
    """Return the plan of a driven run."""
    plan = state.of_kind.driver if isinstance(state.of_kind, DrivenState) else None
    assert plan is not None
    return plan


def require_outside(state: State, act: str, environ: Mapping[str, str]) -> Caller:
    """Refuse whoever may be the agent of a run; returns who calls, as `require_person` does.

    Of a driven run, a caller that cannot be told is refused, too.

    Parameters
    ----------
    state : State
        Of the run.
    act : str
        ``complete``, ``waive a part of``, ``resume`` or ``forget``, for messages.
    environ : mapping
        Of this process.

    Raises
    ------
    UsageError
        The message says where to run this.
    """
    by = require_person(f"{act} a run", environ)
    if not is_driven(state):
        return by
    if by != "person":
        raise UsageError(
            "whether a person or the run's agent calls cannot be told here, so that this cannot "
            f"{act} run {state.run_id}; run it in a terminal of your own, on the machine of its "
            "driver"
        )
    return by


def _fold(part: DrivenState, name: str, data: Any) -> None:
    if name == PLAN:
        part.driver = msgspec.convert(data, DriverPlan)


def _may_complete(state: State) -> bool:
    """With ``--until``, only its command, a limit or a person ends the run."""
    return not plan_of(state).until


DRIVEN: Final = Kind(name=KIND, searches=False, initial=DrivenState, fold=_fold, is_complete=_may_complete)
register_kind(DRIVEN)


_QUESTION_CHARS: Final = 500


def begin_driven(
    workspace: Workspace,
    store: Store,
    command: tuple[str, ...],
    *,
    folder: Path,
    now: datetime,
    first: Sequence[tuple[str, Any]] = (),
    prompt: Path | None = None,
    until: str = "",
    mode: Mode = "bounded",
    iteration_timeout: float = 3600.0,
    usd_per_iteration: float | None = None,
    **limits: Any,
) -> State:
    """Create a run for the driver, with its plan; no command is started yet.

    Parameters
    ----------
    folder : Path
        In which the command works; the prompt's path begins here.
    first : sequence of (str, object)
        Names and data of events of the run's kind that it begins with.
    limits
        As for `coreloop.runs.limits.limits_of`.

    Raises
    ------
    UsageError
        Nothing would end the run for certain, or the command cannot be found.
    WorkspaceError
        The prompt cannot be read.
    """
    require_processes()
    given = {name for name, value in limits.items() if value is not None}
    is_bounded = usd_per_iteration is not None or not given.isdisjoint({"max_iterations", "deadline"})
    if not is_bounded and given.isdisjoint({"budget_usd", "max_tokens"}):
        raise UsageError(
            "nothing limits the run: give --max-iterations or --deadline, "
            "or --budget-usd if the command says what it spends"
        )
    _require_program(command[0], folder)
    text = folder / prompt if prompt else None
    plan = DriverPlan(
        command=command,
        folder=str(folder),
        prompt=str(text or ""),
        until=until,
        iteration_timeout_s=iteration_timeout,
        usd_per_iteration=usd_per_iteration,
        is_bounded=is_bounded,
    )
    run_id = begin_run(
        workspace,
        store,
        _question(command, text),
        kind=KIND,
        now=now,
        mode=mode,
        limits=limits_of(**limits),
        first=[*first, (PLAN, msgspec.to_builtins(plan))],
    )
    return load_run(store, run_id)[0].state


def bound_run(
    store: Store, state: State, *, now: datetime, usd_per_iteration: float | None = None, **limits: Any
) -> None:
    """Make the limits of a driven run tighter before it goes on: it ends although its command says nothing.

    Parameters
    ----------
    limits
        As for `coreloop.runs.limits.limits_of`; None leaves them as they are.

    Raises
    ------
    UsageError
        The run is not a driven one.
    RunBusyError
        A process works on it.
    """
    if all(value is None for value in (usd_per_iteration, *limits.values())):
        return
    if not is_driven(state):
        raise UsageError(f"run {state.run_id} is not one of runs start; leave out the options")
    require_resumable(state)
    plan = replace(plan_of(state), is_bounded=True)
    if usd_per_iteration is not None:
        plan = replace(plan, usd_per_iteration=usd_per_iteration)
    with store.hold(state.run_id):
        narrowed = Narrowed(at=now, limits=limits_of(state.limits, **limits))
        bound = Noted(at=now, name=PLAN, data=msgspec.to_builtins(plan))
        change_run(store, state.run_id, lambda _: [narrowed, bound])


def _require_program(program: str, folder: Path) -> None:
    path = folder / program if "/" in program else program
    if shutil.which(path) is None:
        raise UsageError(f"{program!r} is not an executable program; check its name and PATH")


def _question(command: Sequence[str], prompt: Path | None) -> str:
    """Return the prompt's first line, or else the command."""
    lines = [] if prompt is None else read_file(prompt).decode("utf-8-sig", "replace").splitlines()
    for line in lines:
        if title := line.strip("# \t"):
            return title[:_QUESTION_CHARS]
    return shlex.join(command)[:_QUESTION_CHARS]
