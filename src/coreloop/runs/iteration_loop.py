"""The loop around a run's iterations: it asks `decide` before each, and nothing inside can prolong it."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from coreloop.base.errors import (
    BudgetError,
    CoreloopError,
    RunBusyError,
    RunEndedError,
    RunStoreError,
    WorkspaceError,
)
from coreloop.runs.active_run import Postponed, Run
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.decide import Continue, Stop

_UNANSWERED: Final = frozenset({"paused", "stopped_by_user"})


def drive(
    run: Run,
    iterate: Callable[[Run], None],
    *,
    answer: Callable[[Run, Stop], None] | None = None,
    least: Amount = NOTHING,
    show: Callable[[Run], None] = lambda _: None,
) -> Stop:
    """Repeat an iteration until `decide` says stop, and end the run.

    Ctrl-C, a lost hold, and a store or a view that cannot be written leave the run resumable.

    Parameters
    ----------
    run : Run
        Held by this process.
    iterate : callable
        Does an iteration. Its committed steps are not done again after a crash, the rest of it is. If it
        raises `Postponed`, the iteration is not committed; it is done again, unless `decide` says stop.
    answer : callable or None
        Writes the final answer before the run ends, with steps that may use the reserve for it. Not called if
        the run is paused, or a person stopped it.
    least : Amount
        The least that another step costs.
    show : callable
        Called after each committed iteration and at the end, for example to write the views. A
        `WorkspaceError` of it ends the loop, not the run.

    Returns
    -------
    Stop
        Why the run does not go on.

    Raises
    ------
    Exception
        What ``iterate`` or ``answer`` raised, other than a `BudgetError`; the run is ``failed`` then.
    """
    try:
        stop = _repeat(run, iterate, least, show)
        problem = _answer(run, stop, answer)
        run.end(stop, error=problem)
        show(run)
    except (RunStoreError, RunBusyError, WorkspaceError):
        raise
    except Exception as error:
        run.end(Stop("failed"), failure=error)
        with suppress(CoreloopError):  # the error of the run is the one to raise
            show(run)
        raise
    return stop


def _repeat(run: Run, iterate: Callable[[Run], None], least: Amount, show: Callable[[Run], None]) -> Stop:
    is_interrupted = run.state.status == "running" and run.state.progress.has_steps
    while is_interrupted or isinstance(decision := run.decide(least), Continue):
        is_interrupted = (
            False  # what a dead process had begun and paid for is finished before anything is decided
        )
        try:
            iterate(run)
        except Postponed:
            continue
        except BudgetError as error:
            return Stop("stopped" if error.reason == "tokens" else "budget_exceeded", error.reason)
        except RunEndedError:
            if not run.state.is_terminal:  # it was another run's
                raise
        else:
            run.commit_iteration()
            show(run)
    return decision


def _answer(run: Run, stop: Stop, answer: Callable[[Run, Stop], None] | None) -> str:
    """Let the kind answer; returns why it could not, or ""."""
    if answer is not None and stop.status not in _UNANSWERED:
        try:
            answer(run, stop)
        except BudgetError as error:
            return f"no answer: {error}"
    return ""
