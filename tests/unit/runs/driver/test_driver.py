"""The driver: how a run ends whose agent lies, hangs, floods or repeats itself."""

import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from coreloop.base.errors import RunStoreError, UsageError
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.driver.console import CtrlC
from coreloop.runs.driver.execution import HEAD_BYTES, TAIL_BYTES, output_file
from coreloop.runs.manage import stop_run
from coreloop.runs.run_files import session_folder
from coreloop.runs.stores.store import open_store
from driving import begin, go_on, is_alive
from rows import slow_after

WORK = "echo $CORELOOP_ITERATION >> tasks"
UNTIL = "test $(wc -l < tasks) -ge 3"


@dataclass(frozen=True)
class Liar:
    """A command, its options, and how its run ends: status, reason, iterations, executions."""

    script: str
    ends: tuple[str, str | None, int]
    calls: int
    options: dict[str, Any] = field(default_factory=lambda: {"max_iterations": 2})


CLAUDE = '{"type": "result", "total_cost_usd": 0.01, "is_error": %s}'
RUNS = f"{sys.executable} -m coreloop runs"
CLAIM = json.dumps(
    {
        "sub_questions": ["all tests pass?"],
        "findings": [{"text": "all done", "sources": ["me"], "answers": "q1"}],
    }
)
WAIT = '{"retry_after_s": 0}'
LIARS = {
    "prints errors, does its work and exits with 0": Liar(
        f"{WORK}; echo 'ERROR: Traceback' >&2",
        ("stopped", "until", 3),
        3,
        {"until": UNTIL, "max_iterations": 30},
    ),
    "hangs": Liar(
        "echo x >> calls; sleep 600",
        ("stopped", "failures", 0),
        2,
        {"max_iterations": 9, "max_failures": 2, "iteration_timeout": 0.3},
    ),
    "exits with 0 and did nothing": Liar("true", ("stopped", "failures", 0), 5),
    "fails 5 times": Liar(f"{WORK}; exit 3", ("stopped", "failures", 0), 5),
    'says `"is_error": true` and exits with 0': Liar(
        f"{WORK}; echo '{CLAUDE % 'true'}'", ("stopped", "failures", 0), 5
    ),
    'says `"is_error": false`': Liar(
        f"{WORK}; echo '{CLAUDE % 'false'}'",
        ("stopped", "until", 3),
        3,
        {"until": UNTIL, "budget_usd": 1.0},
    ),
    'meets a rate limit twice: exit code 75, or a line `{"retry_after_s": 30}`': Liar(
        "echo x >> calls; case $(wc -l < calls) in 1) exit 75;; 2) echo '{\"retry_after_s\": 0.05}';; esac",
        ("stopped", "max_iterations", 2),
        2,
    ),
    "reports less than `--usd-per-iteration`": Liar(
        WORK + "; echo '{\"usd\": 0.01}'",
        ("budget_exceeded", "usd", 2),
        2,
        {"usd_per_iteration": 0.5, "budget_usd": 1.0},
    ),
    "reports more than the budget": Liar(
        WORK + "; echo '{\"usd\": 3}'", ("budget_exceeded", "usd", 1), 1, {"budget_usd": 1.0}
    ),
    "answers a sub-question of its own, in a report, with itself as the source": Liar(
        f"echo '{CLAIM}' | {RUNS} record",
        ("stopped", "max_iterations", 2),
        2,
        {"max_iterations": 2, "until": "false", "mode": "exhaust"},
    ),
    "records the same report again and again, also with other blanks": Liar(
        f"echo '{CLAIM}' | {RUNS} record",
        ("stopped", "failures", 2),
        4,
        {"max_iterations": 9, "max_failures": 2},
    ),
    "writes the same bytes again and again": Liar(
        "echo same > file", ("stopped", "failures", 1), 6, {"max_iterations": 8}
    ),
    "writes A and B in turns": Liar(
        'if test "$(cat file)" = A; then echo B > file; else echo A > file; fi',
        ("stopped", "failures", 2),
        7,
        {"max_iterations": 12},
    ),
    'says `{"retry_after_s": 0}` after its work': Liar(
        f"{WORK}; echo '{WAIT}'", ("stopped", "max_iterations", 3), 3, {"max_iterations": 3}
    ),
    'says `{"retry_after_s": 0}` and does nothing': Liar(f"echo '{WAIT}'", ("stopped", "failures", 0), 5),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_after(2, LIARS))
def test_a_run_ends_whatever_its_agent_does(name: str, tmp_path: Path):
    liar = LIARS[name]
    run_id = begin(tmp_path, liar.script, **liar.options)
    state = go_on(tmp_path, run_id)
    assert (state.status, state.stop_reason, state.iteration) == liar.ends
    assert state.calls == liar.calls
    assert state.reservations == {}


@pytest.mark.slow
def test_10_mb_neither_fill_the_disk_nor_the_screen(tmp_path: Path):
    lines: list[str] = []
    flood = f"{WORK}; yes 'a line of a flood' | head -c 10000000; echo; echo '{{\"usd\": 0.5}}'; echo the end"
    run_id = begin(tmp_path, flood, max_iterations=1)
    state = go_on(tmp_path, run_id, lines)
    kept = output_file(session_folder(tmp_path, run_id), 1).read_bytes()
    assert len(kept) < HEAD_BYTES + TAIL_BYTES + 100_000
    assert kept.startswith(b"a line of a flood\n")
    assert kept.endswith(b"the end\n")
    assert b"bytes were dropped" in kept
    assert len(lines) < 210
    assert state.spent.usd == 0.5  # the report was read behind the flood


def test_what_a_command_leaves_behind_has_ended(tmp_path: Path):
    script = f"{WORK}; (trap '' TERM; exec sleep 600) & echo $! > left; setsid sleep 600 & echo $! >> left"
    go_on(tmp_path, begin(tmp_path, script, max_iterations=1))
    pids = (tmp_path / "left").read_text().split()
    assert len(pids) == 2
    assert [pid for pid in pids if is_alive(pid)] == []


@pytest.mark.slow
def test_a_command_that_ignores_sigterm_is_killed(tmp_path: Path):
    script = "trap '' TERM; echo $$ > pid; while :; do sleep 1; done"
    run_id = begin(tmp_path, script, max_iterations=1, max_failures=1, iteration_timeout=0.3)
    state = go_on(tmp_path, run_id)
    assert state.stop_reason == "failures"
    assert "no end after 0.3 s (--iteration-timeout)" in state.error_log[0]["error"]
    assert not is_alive((tmp_path / "pid").read_text().strip())


@pytest.mark.parametrize("what", slow_after(1, ["data", "data/runs/coreloop.db*"]))
def test_a_command_that_removes_the_store_ends_the_run_with_an_error(what: str, tmp_path: Path):
    run_id = begin(tmp_path, f"{WORK}; rm -rf {what}", max_iterations=3)
    with pytest.raises(RunStoreError, match="was removed or replaced while it was in use"):
        go_on(tmp_path, run_id)


def test_the_deadline_ends_a_command_under_way_and_is_no_failure(tmp_path: Path):
    state = go_on(tmp_path, begin(tmp_path, "sleep 600", deadline=0.5))
    assert (state.status, state.stop_reason, state.error_log) == ("stopped", "deadline", [])


def test_the_command_gets_the_prompt_and_its_run(tmp_path: Path):
    (tmp_path / "PROMPT.md").write_text("\n# Zähle\nbis drei\n", encoding="utf-8")
    script = "cat > prompt.$CORELOOP_ITERATION; echo $CORELOOP_RUN > run"
    run_id = begin(tmp_path, script, max_iterations=2, prompt=Path("PROMPT.md"))
    state = go_on(tmp_path, run_id)
    assert state.question == "Zähle"
    assert (tmp_path / "prompt.2").read_text(encoding="utf-8") == "\n# Zähle\nbis drei\n"
    assert (tmp_path / "run").read_text() == f"{run_id}\n"


def test_an_iteration_during_which_a_person_stops_the_run_counts(tmp_path: Path):
    run_id = begin(tmp_path, f"{WORK}; while test ! -e go; do sleep 0.02; done", max_iterations=9)
    person = Thread(target=stopped_by_a_person, args=(tmp_path, run_id))
    person.start()
    state = go_on(tmp_path, run_id)
    person.join()
    assert (state.status, state.iteration, state.calls) == ("stopped_by_user", 1, 1)


def stopped_by_a_person(project: Path, run_id: str) -> None:
    while not (project / "tasks").exists():
        time.sleep(0.01)
    with open_store(open_workspace(project)) as store:
        stop_run(store, run_id)
    (project / "go").touch()


def test_a_goal_that_is_reached_already_starts_nothing(tmp_path: Path):
    state = go_on(tmp_path, begin(tmp_path, WORK, max_iterations=9, until="true"))
    assert (state.stop_reason, state.calls) == ("until", 0)


def test_an_until_that_cannot_be_started_is_refused(tmp_path: Path):
    run_id = begin(tmp_path, WORK, max_iterations=9, until="no-such-check --all")
    with pytest.raises(UsageError, match="--until: sh cannot start 'no-such-check --all'"):
        go_on(tmp_path, run_id)
    assert not (tmp_path / "tasks").exists()


def test_a_failure_keeps_its_spending(tmp_path: Path):
    script = 'echo \'{"usd": 0.25, "tokens": 7}\'; exit 1'
    state = go_on(tmp_path, begin(tmp_path, script, max_iterations=9, max_failures=2))
    assert (state.spent.usd, state.spent.tokens) == (0.5, 14)
    assert state.error_log[0]["error"] == "IterationFailedError: exit code 1"


def test_a_rate_limit_keeps_its_spending_and_is_no_failure(tmp_path: Path):
    script = f'{WORK}; echo \'{{"usd": 0.25, "retry_after_s": 0}}\''
    lines: list[str] = []
    run_id = begin(tmp_path, script, budget_usd=1.0)
    state = go_on(tmp_path, run_id, lines)
    assert (state.status, state.spent.usd, state.error_log) == ("budget_exceeded", 1.0, [])
    assert state.iteration == 4  # it did its work nevertheless
    assert [line for line in lines if line.startswith("rate limit")] == ["rate limit: again in 0.01 s"] * 4


def test_a_person_ends_a_wait(tmp_path: Path):
    lines: list[str] = []
    script = f"echo '{{\"retry_after_s\": 600}}'; {PRESS}"
    assert interrupted(tmp_path, script, lines).status == "stopped_by_user"
    assert "rate limit: again in 600 s" in lines


@pytest.mark.slow
def test_the_second_ctrl_c_ends_now(tmp_path: Path):
    script = f"{WORK}; {PRESS}; {PRESS}; sleep 600"
    state = interrupted(tmp_path, script, [])
    assert (state.status, state.iteration, state.error_log) == ("stopped_by_user", 0, [])


PRESS = "touch press; while test -e press; do sleep 0.02; done"


def interrupted(project: Path, script: str, lines: list[str]) -> Any:
    """Drive a run, and press Ctrl-C as the script asks for it."""
    over, ctrl_c = Event(), CtrlC()
    pressing = Thread(target=press, args=(project / "press", ctrl_c, over))
    pressing.start()
    try:
        return go_on(project, begin(project, script, max_iterations=9), lines, ctrl_c=ctrl_c)
    finally:
        over.set()
        pressing.join()


def press(asked: Path, ctrl_c: CtrlC, over: Event) -> None:
    while not over.wait(0.01):
        if asked.exists():
            before = ctrl_c.count
            os.kill(os.getpid(), signal.SIGINT)
            while ctrl_c.count == before:  # until it was counted, another one would be the same signal
                over.wait(0.01)
            asked.unlink()
