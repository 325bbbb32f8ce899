"""ci.yml's job, with programs that only write down how they were started: the real ones run this test."""

from pathlib import Path

import pytest
import yaml

from github_stand_in import GithubStandIn
from promoting import Project, run_git
from workflow_runner import JobResult, WorkflowRunner
from workflow_shell import write_program

ROOT = Path(__file__).parents[2]
FLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
WEEKLY = yaml.safe_load((ROOT / ".github/workflows/weekly.yml").read_text(encoding="utf-8"))
JOBS = FLOW["jobs"]["part"]["strategy"]["matrix"]["include"]
EVERYTHING = {"name": "everything", "parts": "lint fast slow guard frameworks other", "python": "3.11"}
SCRIPTS = (
    "scripts/try_wheel.sh",
    "tests/openai/install.sh",
    "tests/postgres/install.sh",
    "tests/prism/install.sh",
    "tests/webhooks/install.sh",
)
RECORDED = """words=$(echo "${0##*/} $*" | sed 's#[^ ]*/tmp[.][A-Za-z0-9]*#SCRATCH#g')
echo "$words" >> "$RECORD"
[ "$words" != "$FAILING" ] || exit 1
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


def run(runner: WorkflowRunner, job: dict[str, str], failing: str = "") -> tuple[JobResult, list[str]]:
    """Run a job of the matrix; gives its result and the programs that it started; one of them may fail."""
    record = runner.folder.parent / "record.txt"
    record.write_text("")
    environ = {"RECORD": str(record), "FAILING": failing}
    result = runner.run("part", event_name="push", matrix=job, **environ)
    return result, record.read_text().splitlines()


def started_by(runner: WorkflowRunner, jobs: list[dict[str, str]]) -> set[str]:
    started: set[str] = set()
    for job in jobs:
        result, lines = run(runner, job)
        assert result.green, result.log
        assert "skipped" not in {step.outcome for step in result.steps}
        started |= set(lines)
    return started


@pytest.mark.slow
def test_the_jobs_together_check_what_the_script_checks(runner: WorkflowRunner):
    _, everything = run(runner, EVERYTHING)
    left_out = {line for line in everything if "3.14" in line or line.startswith("uv run python -c ")}
    jobs = [{"python": "3.11", **job} for job in JOBS]
    assert set(everything) - left_out <= started_by(runner, jobs)
    assert {job["python"] for job in JOBS if job["parts"] == "fast"} == {"3.11", "3.14"}


@pytest.mark.slow
def test_no_check_of_the_script_can_fail_unnoticed(runner: WorkflowRunner):
    _, started = run(runner, EVERYTHING)
    for line in started:
        if not line.startswith(QUESTIONS):
            result, _ = run(runner, EVERYTHING, failing=line)
            assert result.result == "failure", line
