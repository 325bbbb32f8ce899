"""``runs start`` and ``runs resume`` of a driven run, from the outside."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coreloop.cli.main import main
from coreloop.cli.options import DurationType
from driving import state_at
from rows import each_row, slow_after

Command = Callable[..., Result]
WORK = "echo $CORELOOP_ITERATION >> tasks"
UNREACHED = ["--until", "false"]
COMMAND = [sys.executable, "-m", "coreloop", "runs"]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(main, ["runs", *args])


def test_another_child_of_the_same_process_is_left_alone(runs: Command):
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:  # ends with the block
        done = runs("start", "--max-iterations", "1", "--", "sh", "-c", WORK)
        assert (done.exit_code, other.poll()) == (0, None), done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(["--max-iterations", "1", "--", "sh", "-c", WORK], 0, id="no goal"),
        pytest.param(["--max-iterations", "1", "--until", "false", "--", "sh", "-c", WORK], 1, id="missed"),
        pytest.param(["--max-iterations", "1", "--max-failures", "1", "--", "false"], 1, id="failures"),
    ],
)
def test_the_exit_code_says_whether_the_goal_was_missed(words: list[str], code: int, runs: Command):
    assert runs("start", *words).exit_code == code


@pytest.mark.parametrize(
    ("name", "goal", "code"),
    slow_after(1, [(name, goal, len(goal) // 2) for goal in (UNREACHED, []) for name in ("stop", "pause")]),
)
def test_a_run_that_a_person_ends_before_its_goal_exits_with_1(
    name: str, goal: list[str], code: int, tmp_path: Path
):
    (tmp_path / "wait").touch()
    script = f"{WORK}; while test -e wait; do sleep 0.02; done"
    driver = started(tmp_path, "--max-iterations", "2", *goal, "--", "sh", "-c", script)
    done = subprocess.run([*COMMAND, name], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    (tmp_path / "wait").unlink()
    _, errors = driver.communicate(timeout=60)
    assert driver.returncode == code, errors


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--", "true"], "nothing limits the run: give --max-iterations or --deadline"),
        (["--max-iterations", "1", "--", "no-such-agent"], "'no-such-agent' is not an executable program"),
        (["--max-iterations", "1", "--", "./PROMPT.md"], "'./PROMPT.md' is not an executable program"),
        (["--max-iterations", "1", "--prompt", "absent.md", "--", "true"], "absent.md: cannot be read"),
        (["--deadline", "soon", "--", "true"], "'soon' is not a duration; write 90s, 30m, 8h or 1h30m"),
        (["--budget-usd", "nan", "--", "true"], "budget-usd"),
        (["--budget-usd", "0", "--", "true"], "budget-usd"),
        (["--usd-per-iteration", "nan", "--", "true"], "nan is not in the range"),
    ],
)
def test_a_refusal_is_one_line_and_starts_nothing(words: list[str], says: str, runs: Command):
    Path("PROMPT.md").write_text("Do it.")
    done = runs("start", *words)
    assert done.exit_code != 0
    message = done.exception if not isinstance(done.exception, SystemExit) else done.stderr
    assert says in str(message)
    assert runs("list").output == "no runs\n"


@each_row(
    ("text", "seconds"),
    [("90", 90), ("45s", 45), ("30m", 1800), ("8h", 28_800), ("1h30m", 5400), ("2d", 172_800)],
)
def test_a_duration_has_units(text: str, seconds: float):
    assert DurationType().convert(text, None, None) == seconds


@pytest.mark.slow
def test_resume_of_a_run_that_a_driver_works_on_lets_it_go_on(tmp_path: Path):
    (tmp_path / "wait").touch()
    script = f"{WORK}; while test -e wait; do sleep 0.02; done"
    driver = started(tmp_path, "--max-iterations", "2", "--", "sh", "-c", script)
    for name in ("pause", "resume"):
        done = subprocess.run([*COMMAND, name], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    assert f"process {driver.pid} on ".encode() in done.stderr
    (tmp_path / "wait").unlink()
    out, _ = driver.communicate(timeout=60)
    assert b"stopped (max_iterations)" in out
    assert state_at(tmp_path, out.split()[0].decode()).iteration == 2


def started(project: Path, *words: str) -> "subprocess.Popen[bytes]":
    """A driver whose command is at work."""
    driver = subprocess.Popen(
        [*COMMAND, "start", *words], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 30
    while not (project / "tasks").exists():
        assert driver.poll() is None
        assert time.monotonic() < deadline
        os.sched_yield()
    return driver
