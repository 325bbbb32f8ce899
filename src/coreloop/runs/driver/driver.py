"""The driver: a command once per iteration, as a fresh process, until `decide` says stop.

Progress is judged by exit codes, changed files and the run's state, never by what the command says of itself.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson

from coreloop.base.errors import (
    CoreloopError,
    RunBusyError,
    RunEndedError,
    RunError,
    UsageError,
)
from coreloop.base.files import read_file
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.runs import events as happened
from coreloop.runs.active_run import Postponed, Run, open_held
from coreloop.runs.amounts import NOTHING, Amount, dollars, max_amount, microusd
from coreloop.runs.decide import Stop, all_left, seconds_left
from coreloop.runs.driver.console import Console
from coreloop.runs.driver.driven_run import plan_of
from coreloop.runs.driver.execution import (
    ExecutionResult,
    attempt,
    keep_output,
    open_spool,
    output_file,
    read_spool,
)
from coreloop.runs.driver.process_group import Command, locked_commands, require_processes, run_command
from coreloop.runs.driver.progress_lines import progress_line
from coreloop.runs.driver.snapshot import changed_files, open_files, take_snapshot, tree_digest
from coreloop.runs.driver.spending import Reports
from coreloop.runs.folder import private_session, reports_file, session_folder
from coreloop.runs.iteration_loop import drive
from coreloop.runs.manage import read_run, stop_run
from coreloop.runs.person_or_agent import RUN
from coreloop.runs.run_files import Viewer
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

_TICK_S: Final = 0.2
_ASKED: Final = "ended by Ctrl-C"
_DEADLINE: Final = "ended at the deadline"
MOST_RATE_LIMITS: Final = 24
"""In a row; from then on they are failures. At the driver's own pace this is after some 18 hours."""
_NOT_STARTED: Final = frozenset({126, 127})
_WHEN: Final = frozenset({"at", "iteration"})


class IterationFailedError(Exception):
    """The command failed; ``cost`` is what it spent nevertheless."""

    def __init__(self, why: str, cost: Amount) -> None:
        super().__init__(why)
        self.cost = cost


def drive_run(workspace: Workspace, store: Store, run_id: str, console: Console) -> State:
    """Drive a run with its plan until it stops; also one whose driver was killed.

    Parameters
    ----------
    workspace : Workspace
        Of the project.
    store : Store
        Of the workspace.
    run_id : str
        A driven run.
    console : Console
        For people.

    Returns
    -------
    State
        When it stopped.

    Raises
    ------
    RunBusyError, RunEndedError, RunNotFoundError
        The run cannot be driven.
    UsageError
        The ``--until`` command cannot be started, or the command does not say what it spends and nothing
        else limits the run. The run is ``failed``.
    WorkspaceError
        The prompt, the working folder or a view cannot be used. The run can go on later.
    """
    require_processes()
    with _taken_up(workspace, store, run_id) as (run, lock):
        end_nested(workspace, store, run_id)
        driver = _Driver(workspace, store, run, console, lock)
        with console.ctrl_c.counted():
            drive(run, driver.iterate, least=driver.price, show=driver.show)
        return run.state


@contextmanager
def _taken_up(workspace: Workspace, store: Store, run_id: str) -> Iterator[tuple[Run, int]]:
    """Hold a run, with the lock of its commands, and book what the command of a dead driver had reported."""
    session, spool = private_session(workspace.root, run_id), reports_file(workspace.runs_dir, run_id)
    with store.hold(run_id), locked_commands(session / "driver.lock", run_id) as lock:
        run = open_held(store, run_id, reported=partial(_reported, spool))
        yield run, lock
        if not run.state.reservations:
            spool.unlink(missing_ok=True)


def settle_left_over(workspace: Workspace, store: Store, run_id: str) -> None:
    """Book what the command of a driver that died had reported; nothing if a driver works on the run.

    Raises
    ------
    RunError
        A command of that driver still runs.
    """
    end_nested(workspace, store, run_id)
    if read_run(store, run_id).reservations:
        with suppress(RunBusyError, RunEndedError), _taken_up(workspace, store, run_id):
            pass


def end_nested(workspace: Workspace, store: Store, run_id: str) -> None:
    """Settle and fail the runs that a run's command started and that were killed with it.

    A run that an agent drives itself has no process: its next report goes on with it.
    """
    for nested in reversed(store.derived(run_id)):
        state = read_run(store, nested)
        if state.drives_itself or not state.parent or state.status != "running":
            continue
        with suppress(RunBusyError, RunEndedError), _taken_up(workspace, store, nested) as (run, _):
            run.end(Stop("failed"), failure=RunError("it was ended with the command that started it"))
            Viewer(workspace.root, store)(run.state)


def _reported(spool: Path, state: State) -> Amount:
    """Return what a command reported whose driver died."""
    reports = read_spool(spool)
    return max_amount(reports.cost, all_left(state) if reports.unreadable else NOTHING)


@contextmanager
def _costing(cost: Amount) -> Iterator[None]:
    """Let an error say what its step did cost."""
    try:
        yield
    except CoreloopError as error:
        error.cost = cost
        raise


class _Driver:
    """The iterations of one run."""

    def __init__(self, workspace: Workspace, store: Store, run: Run, console: Console, lock: int) -> None:
        self._workspace = workspace
        self._store = store
        self._plan = plan_of(run.state)
        self._console = console
        self._lock = lock
        self._view = Viewer(workspace.root, store)
        self._wait_s = 0.0
        self._rate_limits = 0
        self._shown = -1
        self._done: dict[str, Any] = {}
        self._spool = -1
        own_log = open_files(1, 2)  # what the driver says is no work of its command
        self._look = partial(
            take_snapshot, Path(self._plan.folder), without=[workspace.runs_dir], logs=own_log
        )
        self._seen, self._begun, _ = _past(store, run.run_id)
        self.price = Amount(microusd(self._plan.usd_per_iteration or 0))

    def iterate(self, run: Run) -> None:
        """Do an iteration; raises `Postponed` if it was not done."""
        self._wait(run)
        number = run.state.iteration + 1
        if number == 1 and self._is_at_goal_already(run):
            raise Postponed
        key, at_most = f"iteration-{number}", self.price if self.price != NOTHING else None
        with open_spool(reports_file(self._workspace.runs_dir, run.run_id)) as self._spool:
            try:
                self._done = run.step("iteration", key, lambda _: self._execute(run), at_most=at_most)
            except IterationFailedError as failed:
                self._back_off(run.state, str(failed))
                raise Postponed from failed
        self._rate_limits = 0
        if run.state.is_terminal:  # a person stopped the run meanwhile; the iteration counts nevertheless
            return
        if self._done["until"]:
            run.record(happened.UntilMet)
        run.record(happened.Progressed, what=f"files changed: {self._done['files']}")

    def show(self, run: Run) -> None:
        """Write the views, and say what a committed iteration did."""
        self._view(run.state)
        if run.state.iteration > max(self._shown, 0) and self._done:
            is_asked = self._console.ctrl_c.count > 0
            decision = Stop("stopped_by_user") if is_asked else run.decide(self.price)
            self._console.say(progress_line(run.state, self._done, decision))
            self._done = {}
        self._shown = run.state.iteration

    def _execute(self, run: Run) -> tuple[dict[str, Any], Amount]:
        """Execute the command once and judge what it did."""
        before = self._look()
        if run.state.iteration != self._begun:  # what an earlier try did belongs to this one
            self._begun = run.state.iteration
            self._seen.add(tree_digest(before))
        tried = self._attempt(run)
        with _costing(max_amount(tried.reports.cost, self.price)):
            end_nested(self._workspace, self._store, run.run_id)
            run.catch_up()
        reported = self._spent(run, tried.reports)
        cost = max_amount(reported, self.price)
        with _costing(cost):
            keep_output(self._file(run), tried.output)
            self._require_success(run, tried, cost, reported)
            is_met = bool(self._plan.until) and self._until_code(run) == 0
            after = self._look()
            tree = tree_digest(after)
            run.catch_up()  # what the agent recorded
            is_new = _past(self._store, run.run_id)[2] or tree not in self._seen
        if tried.is_rate_limited:
            self._put_off(tried.retry_after_s(run.now()), cost)
            if not (is_met or is_new):
                raise Postponed(reported)
        if not (is_met or is_new):
            why = (
                "left the files as they were in an earlier iteration"
                if before != after
                else "changed no file"
            )
            raise IterationFailedError(f"it {why} and recorded nothing", cost)
        trees = sorted({tree_digest(before), tree})
        self._seen |= set(trees)
        seconds, files = round(tried.finished.seconds, 3), changed_files(before, after)
        return {"files": files, "until": is_met, "seconds": seconds, "trees": trees}, cost

    def _require_success(self, run: Run, tried: ExecutionResult, cost: Amount, reported: Amount) -> None:
        """Raise if the command was ended, failed, must be tried later, or does not say what it spends."""
        if tried.finished.ended_for in {_ASKED, _DEADLINE}:
            raise Postponed(cost)
        if tried.is_rate_limited and tried.failure and not tried.finished.ended_for:
            self._put_off(tried.retry_after_s(run.now()), cost)
            raise Postponed(reported)
        if tried.failure:
            raise IterationFailedError(tried.failure, cost)
        if not (tried.reports.is_reported or self._plan.is_bounded):
            raise UsageError(
                "the command does not say what it spends, so that nothing would end the run; go on "
                f"with dartlab-coreloop runs resume {run.run_id} and --max-iterations, --deadline or "
                "--usd-per-iteration"
            )

    def _attempt(self, run: Run) -> ExecutionResult:
        prompt = read_file(Path(self._plan.prompt)) if self._plan.prompt else b""
        command = self._command(run, self._plan.command, prompt, spool=self._spool)
        return attempt(command, self._file(run), show=self._console.say, is_over=self._ending(run))

    def _spent(self, run: Run, reports: Reports) -> Amount:
        """Return what an execution spent: as its command reports it, which its agent cannot lower."""
        spent = max_amount(reports.cost, run.state.progress.claimed)
        if not reports.unreadable:
            return spent
        left = all_left(run.state)
        unreadable, all_of_it = printable(reports.unreadable), dollars(left.microusd)
        self._console.say(f"an amount cannot be read ({unreadable}); all that is left counts: {all_of_it}")
        return max_amount(spent, left)

    def _file(self, run: Run) -> Path:
        return output_file(session_folder(self._workspace.root, run.run_id), run.state.iteration + 1)

    def _command(self, run: Run, words: Sequence[str], prompt: bytes = b"", *, spool: int = -1) -> Command:
        own = {RUN: run.run_id, "CORELOOP_ITERATION": str(run.state.iteration + 1)}
        environ, folder = {**self._console.environ, **own}, Path(self._plan.folder)
        return Command(words, folder, environ, prompt, self._lock, spool)

    def _ending(self, run: Run) -> Callable[[], str]:
        """Return the question why an execution must end now."""
        begun, timeout_s = time.monotonic(), self._plan.iteration_timeout_s
        left_s = seconds_left(run.state, run.now())

        def is_over() -> str:
            passed = time.monotonic() - begun
            if self._pressed() > 1:
                return _ASKED
            if left_s is not None and passed >= left_s:
                return _DEADLINE
            return f"no end after {timeout_s:g} s (--iteration-timeout)" if passed >= timeout_s else ""

        return is_over

    def _pressed(self) -> int:
        ctrl_c = self._console.ctrl_c
        if ctrl_c.count == 1 and not ctrl_c.is_announced:
            ctrl_c.is_announced = True
            self._console.say("stops after this iteration; press Ctrl-C again to stop now")
        return ctrl_c.count

    def _until_code(self, run: Run) -> int:
        command = self._command(run, ("/bin/sh", "-c", self._plan.until))
        finished = run_command(command, hear=lambda *_: None, is_over=self._ending(run))
        if finished.ended_for:
            self._console.say(f"--until was ended, so it has not succeeded: {finished.ended_for}")
        return finished.code or (1 if finished.ended_for else 0)

    def _is_at_goal_already(self, run: Run) -> bool:
        """Check ``--until`` before the first iteration."""
        if not self._plan.until or self._store.step(run.run_id, "iteration-1") is not None:
            return False
        code = self._until_code(run)
        if code in _NOT_STARTED:
            raise UsageError(f"--until: sh cannot start {self._plan.until!r} (exit code {code})")
        if code == 0:
            run.record(happened.UntilMet)
        return code == 0

    def _back_off(self, state: State, why: str) -> None:
        failures, max_failures = state.failures_in_row, state.limits.max_failures
        self._wait_s = 0.0 if failures >= max_failures else self._console.pace.after_failures(failures)
        then = f"again in {self._wait_s:g} s" if self._wait_s else "stops: failures"
        self._console.say(
            f"iteration {state.iteration + 1} failed ({failures} of {max_failures}): {why} · {then}"
        )

    def _put_off(self, asked_s: float | None, cost: Amount) -> None:
        self._rate_limits += 1
        if self._rate_limits > MOST_RATE_LIMITS:
            raise IterationFailedError(f"a rate limit for the {self._rate_limits}th time in a row", cost)
        pace = self._console.pace
        self._wait_s = pace.after_rate_limits(self._rate_limits, asked_s)
        self._console.say(f"rate limit: again in {self._wait_s:g} s")

    def _wait(self, run: Run) -> None:
        """Wait if a failure or a rate limit asks for it; a person, or a limit, can end the wait."""
        until, self._wait_s = time.monotonic() + self._wait_s, 0.0
        while True:
            if self._console.ctrl_c.count:
                with suppress(RunEndedError):  # another person was faster
                    stop_run(self._store, run.run_id)
            left_s = until - time.monotonic()
            if isinstance(run.decide(self.price), Stop):
                raise Postponed
            if left_s <= 0:
                return
            time.sleep(min(_TICK_S, left_s))


def _past(store: Store, run_id: str) -> tuple[set[str], int, bool]:
    """Read what the iterations did so far.

    Returns
    -------
    tuple of (set of str, int, bool)
        How the working folder was around committed iterations, as digests; the number of committed iterations
        before the one that began last, -1 if none; whether the one under way has a report that no committed
        one had.
    """
    trees, known, new, committed, begun = set[str](), set[bytes](), set[bytes](), 0, -1
    for _, event in store.read(run_id):
        if isinstance(event, happened.StepCommitted) and isinstance(event.result, dict):
            trees.update(event.result.get("trees", ()))
        elif isinstance(event, happened.IterationCommitted):
            committed, known, new = event.iteration, known | new, set()
        elif isinstance(event, happened.Reserved):
            begun = committed
        elif isinstance(event, happened.Recorded):
            new.add(_digest(event))
    return trees, begun, not new <= known


def _digest(report: happened.Recorded) -> bytes:
    """Return what tells reports apart: all but when they were made, what they cost, and blanks."""
    content = orjson.dumps([_plain(msgspec.to_builtins(event)) for event in report.events])
    return blake2b(content, digest_size=16).digest()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items() if name not in _WHEN}
    if isinstance(value, str):
        return " ".join(value.split())
    return [_plain(part) for part in value] if isinstance(value, list) else value
