"""The kind of a run that the driver drives: its command and options, kept with the run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from coreloop.base.errors import RunError, UsageError
from coreloop.runs.events import Caller
from coreloop.runs.kinds import Kind, register_kind
from coreloop.runs.person_or_agent import require_person
from coreloop.runs.state import KindState, State

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
    """What a driven run has: its plan, None until its driver has written it."""

    driver: DriverPlan | None = None


def is_driven(state: State) -> bool:
    """Whether the driver drives a run."""
    return state.kind == KIND


def plan_of(state: State) -> DriverPlan:
    """Read the plan of a driven run.

    Raises
    ------
    RunError
        The run has none: its driver was killed before it could write it.
    """
    plan = _plan_in(state)
    if plan is None:
        raise RunError(f"run {state.run_id} has no command; start a new run")
    return plan


def _plan_in(state: State) -> DriverPlan | None:
    return state.of_kind.driver if isinstance(state.of_kind, DrivenState) else None


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
    plan = _plan_in(state)
    return plan is None or not plan.until


DRIVEN: Final = Kind(name=KIND, searches=False, initial=DrivenState, fold=_fold, is_complete=_may_complete)
register_kind(DRIVEN)
