"""ci.yml's job, with programs that only write down how they were started: the real ones run this test."""

import re
from pathlib import Path

import pytest
import yaml

from github_stand_in import GithubStandIn
from promoting import Project, run_git
from workflow_runner import JobResult, WorkflowRunner
from workflow_shell import write_program

ROOT = Path(__file__).parents[2]
FLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
PYTHONS = FLOW["jobs"]["everything"]["strategy"]["matrix"]["python"]
SCRIPTS = (
    "scripts/try_wheel.sh",
    "tests/openai/install.sh",
    "tests/prism/install.sh",
    "tests/webhooks/install.sh",
)
RECORDED = """echo "${0##*/} $*" >> "$RECORD"
[ "$(wc -l < "$RECORD")" -ne "$FAILING" ] || exit 1
[ "$1 $2 $3" != "run python -c" ] || echo "$UV_PYTHON\""""


@pytest.fixture
def runner(tmp_path: Path, quiet_git: None, github: GithubStandIn) -> WorkflowRunner:
    """A repository with the step's script, and uv and npm that write down their arguments."""
    project = Project(tmp_path / "project", tmp_path / "remote.git")
    run_git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(project.remote))
    run_git(tmp_path, "init", "--quiet", "--initial-branch=main", str(project.root))
    step = write_program(project.root / ".ci/run", "")
    step.write_bytes((ROOT / ".ci/run").read_bytes())
    for name in SCRIPTS:
        write_program(project.root / name, RECORDED)
    project.git("add", ".")
    project.git("commit", "--quiet", "-m", "first")
    project.git("push", "--quiet", str(project.remote), "main")
    programs = tmp_path / "programs"
    for name in ("uv", "npm"):
        write_program(programs / name, RECORDED)
    return WorkflowRunner(FLOW, project, github, tmp_path / "runner", programs)


QUESTIONS = ("uv run python -c ", "uv python find ")
"""Programs that the script may start in vain."""


def run(runner: WorkflowRunner, python: str = PYTHONS[0], failing: int = 0) -> tuple[JobResult, list[str]]:
    """Run the job with a Python; gives its result and the programs that it started; one of them may fail."""
    record = runner.folder.parent / "record.txt"
    record.write_text("")
    environ = {"RECORD": str(record), "FAILING": str(failing)}
    result = runner.run("everything", event_name="push", matrix={"python": python}, **environ)
    return result, record.read_text().splitlines()


@pytest.mark.parametrize("python", PYTHONS)
def test_every_step_runs_and_every_check_of_the_script_is_started(python: str, runner: WorkflowRunner):
    result, started = run(runner, python)
    assert result.green, result.log
    assert "skipped" not in {step.outcome for step in result.steps}
    other = next(version for version in PYTHONS if version != python)
    assert f"uv run --quiet --python {other} pytest -q" in started
    assert f"uv run --quiet --python {python} pytest -q" not in started
    titles = re.findall(r'^step "([^"]*)"', (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert all(f"== {title}" in result.log for title in titles)
    for words in ("ruff check", "mypy", "zizmor", "actionlint", "python scripts/mutate_guard.py", "pytest"):
        assert any(line.startswith(f"uv run {words}") for line in started), words
    assert {Path(name).name for name in SCRIPTS} <= {line.split()[0] for line in started}


@pytest.mark.slow
def test_no_check_of_the_script_can_fail_unnoticed(runner: WorkflowRunner):
    _, started = run(runner)
    for number, line in enumerate(started, 1):
        if not line.startswith(QUESTIONS):
            result, reached = run(runner, failing=number)
            assert (result.result, len(reached)) == ("failure", number), line
