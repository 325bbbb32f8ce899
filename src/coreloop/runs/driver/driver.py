"""The driver: a command once per iteration, as a fresh process, until `decide` says stop.

Progress is judged by exit codes, changed files and the run's state, never by what the command says of itself.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from coreloop.errors import RunEndedError, UsageError, WorkspaceError
from coreloop.project.workspace import Workspace
from coreloop.runs import events as happened
from coreloop.runs.amounts import NOTHING, Amount, microusd
from coreloop.runs.control import stop_run
from coreloop.runs.controller import drive
from coreloop.runs.decide import Stop, seconds_left
from coreloop.runs.driver.attempt import Attempt, Place, attempt
from coreloop.runs.driver.console import Console
from coreloop.runs.driver.driven import Plan, plan_of
from coreloop.runs.driver.lines import progress_line
from coreloop.runs.driver.process import Command, locked_commands, require_processes, run_command
from coreloop.runs.driver.snapshot import changed_files, take_snapshot
from coreloop.runs.run import Postponed, Run, work_on
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store
from coreloop.runs.views import Viewer, private_session, session_folder

_TICK_S: Final = 0.2
_SILENCE_S: Final = 3.0
_ASKED: Final = "ended by Ctrl-C"
_DEADLINE: Final = "ended at the deadline"
_NOT_STARTED: Final = frozenset({126, 127})


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
    session = private_session(workspace.root, run_id)
    with work_on(store, run_id) as run, locked_commands(session / "driver.lock", run_id) as lock:
        plan = plan_of(run.state)
        driver = _Driver(workspace, store, plan, console, lock)
        with console.ctrl_c.counted():
            drive(run, driver.iterate, least=driver.price, show=driver.show)
        return run.state


class _Driver:
    """The iterations of one run."""

    def __init__(self, workspace: Workspace, store: Store, plan: Plan, console: Console, lock: int) -> None:
        self._workspace = workspace
        self._store = store
        self._plan = plan
        self._console = console
        self._lock = lock
        self._view = Viewer(workspace.root, store)
        self._wait_s = 0.0
        self._rate_limits = 0
        self._shown = -1
        self._done: dict[str, Any] = {}
        self.price = Amount(microusd(plan.usd_per_iteration or 0))

    def iterate(self, run: Run) -> None:
        """Do an iteration; raises `Postponed` if it was not done."""
        self._wait(run)
        number = run.state.iteration + 1
        if number == 1 and self._is_at_goal_already(run):
            raise Postponed
        at_most = self.price if self.price != NOTHING else None
        try:
            self._done = run.step(
                "iteration", f"iteration-{number}", lambda _: self._execute(run), at_most=at_most
            )
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
        self._view(run)
        if run.state.iteration > max(self._shown, 0) and self._done:
            is_asked = self._console.ctrl_c.count > 0
            decision = Stop("stopped_by_user") if is_asked else run.decide(self.price)
            self._console.say(progress_line(run.state, self._done, decision))
            self._done = {}
        self._shown = run.state.iteration

    def _execute(self, run: Run) -> tuple[dict[str, Any], Amount]:
        """Execute the command once and judge what it did."""
        before, known = self._snapshot(), _recorded(run.state)
        tried = self._attempt(run)
        cost = tried.cost(self._plan)
        if tried.finished.ended_for in {_ASKED, _DEADLINE}:
            raise Postponed(cost)
        if tried.is_rate_limited and not tried.finished.ended_for:
            self._put_off(tried.retry_after_s(run.now()))
            raise Postponed(tried.reports.cost)
        if tried.failure:
            raise IterationFailedError(tried.failure, cost)
        if not (tried.reports.is_reported or self._plan.is_bounded):
            raise UsageError(
                "the command does not say what it spends; "
                "give --max-iterations, --deadline or --usd-per-iteration"
            )
        is_met = self._is_until_met(run)
        files = changed_files(before, self._snapshot())
        run.decide()  # takes in what the agent recorded
        if not (is_met or files or _recorded(run.state) != known):
            raise IterationFailedError("it changed no file and recorded nothing", cost)
        seconds = round(tried.finished.seconds, 3)
        claimed = run.state.progress.claimed  # by the agent, which cannot lower what its command reports
        cost = Amount(max(cost.microusd, claimed.microusd), max(cost.tokens, claimed.tokens))
        return {"files": files, "until": is_met, "seconds": seconds}, cost

    def _attempt(self, run: Run) -> Attempt:
        number, say = run.state.iteration + 1, self._console.say
        with self._readable():
            return attempt(self._plan, self._place(run), number=number, say=say, is_over=self._ending(run))

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Name the prompt or the folder that cannot be used."""
        try:
            yield
        except OSError as error:
            where = error.filename or self._plan.folder
            raise WorkspaceError(f"cannot be used ({error.strerror})", path=where) from error

    def _place(self, run: Run) -> Place:
        own = {"CORELOOP_RUN": run.run_id, "CORELOOP_ITERATION": str(run.state.iteration + 1)}
        environ = {**self._console.environ, **own}
        return Place(session_folder(self._workspace.root, run.run_id), environ, self._lock)

    def _snapshot(self) -> Any:
        return take_snapshot(Path(self._plan.folder), without=[self._workspace.runs_dir])

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

    def _is_until_met(self, run: Run) -> bool:
        return bool(self._plan.until) and self._until_code(run) == 0

    def _until_code(self, run: Run) -> int:
        words = ("/bin/sh", "-c", self._plan.until)
        command = Command(words, Path(self._plan.folder), self._place(run).environ, b"", self._lock)
        is_over = self._announced(self._ending(run), f"waiting for --until {self._plan.until!r}")
        with self._readable():
            finished = run_command(command, hear=lambda *_: None, is_over=is_over)
        if finished.ended_for:
            self._console.say(f"--until was ended, so it has not succeeded: {finished.ended_for}")
        return finished.code or (1 if finished.ended_for else 0)

    def _announced(self, is_over: Callable[[], str], text: str) -> Callable[[], str]:
        """Ask as ``is_over`` does, and say once what is waited for if it takes long."""
        say_at: float | None = time.monotonic() + _SILENCE_S

        def asked() -> str:
            nonlocal say_at
            if say_at is not None and time.monotonic() >= say_at:
                self._console.say(text)
                say_at = None
            return is_over()

        return asked

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
        failures, most = state.failures_in_row, state.limits.max_failures
        self._wait_s = 0.0 if failures >= most else self._console.pace.after_failures(failures)
        then = f"again in {self._wait_s:g} s" if self._wait_s else "stops: failures"
        self._console.say(f"iteration {state.iteration + 1} failed ({failures} of {most}): {why} · {then}")

    def _put_off(self, asked_s: float | None) -> None:
        self._rate_limits += 1
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


def _recorded(state: State) -> tuple[int, ...]:
    """What an agent can add to the state of its run."""
    findings = sum(len(part.findings) for part in state.sub_questions)
    parts, sources, reports = len(state.sub_questions), len(state.read_sources), state.progress.reports
    return state.iteration, state.queries, findings, parts, sources, reports
