"""Nights of the workflow in a scratch project: every shell step runs, from the YAML that init installs."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from github_stand_in import GithubStandIn
from logs import repeated, rest, write_log
from promoting import CATEGORIES, FILE, GOOD, OTHER_FILE, REACH, SOURCE, Agent, Project, run_git
from rows import slow_after
from workflow_runner import RUN_ID, JobResult, WorkflowRunner
from workflow_shell import setup_python, write_program

WORKFLOW = Path(__file__).parents[2] / "src/coreloop/admin/init/templates/coreloop-pattern.yml"
QUESTION = "질문"
"""A word of every recorded question."""

_COMMAND = f"""[ "$* $STABLE" = "status --stability true" ] && exit
exec {sys.executable} -m coreloop "$@\""""
_DATE = '[ "$*" = "-u +%F" ] && echo "$NIGHT" && exit; exec /usr/bin/date "$@"'


@pytest.fixture
def runner(tmp_path: Path, project: Project, github: GithubStandIn, monkeypatch) -> WorkflowRunner:
    monkeypatch.setattr(github, "sha_of", project.head_of)
    github.protections = {"main": 1}
    folder = tmp_path / "runner"
    programs = setup_python(folder, Path(sys.executable), {"dartlab-coreloop": _COMMAND})
    write_program(programs / "date", _DATE)
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return WorkflowRunner(workflow, project, github, folder, programs)


def night(runner: WorkflowRunner, day: str = "2026-04-26", **environ: str) -> JobResult:
    """Run the night's job on a day."""
    return runner.run("propose", NIGHT=day, **environ)


def with_logs(runner: WorkflowRunner, replay: str | None = None) -> None:
    """Records beside the runner that give one candidate, and settings to promote it."""
    data = runner.folder / "data"
    ts = (datetime.now(UTC) - timedelta(days=2)).isoformat()
    records = [
        {**one, "request_id": f"req-{number}"}
        for number, one in enumerate([*repeated(12, ts=ts), *rest(8, ts=ts)])
    ]
    write_log(data / "audit/ai-ask/a.jsonl", records)
    settings = {
        "forge": {"repo": "octo/tools"},
        "reach": REACH,
        "categories": CATEGORIES,
        "axis_slugs": {"수익성": "profitability"},
    }
    if replay is not None:
        settings["replay"] = {"url": replay}
    runner.project.settle(json.dumps(settings, ensure_ascii=False))
    runner.variables |= {"CORELOOP_DATA_PATH": str(data), "CORELOOP_TIER1": "true"}


def without_a_draft(runner: WorkflowRunner, *days: str) -> None:
    """Keep what a night in which no draft was opened adds to the cache, for each of some days."""
    runner.cache.mkdir(exist_ok=True)
    (runner.cache / "without-a-draft.txt").write_text("".join(f"{day}\n" for day in days))


def shared(runner: WorkflowRunner, job: JobResult) -> str:
    """All that leaves the runner: what is printed, the summary, outputs, the artifact."""
    files = [path for path in (runner.temp / "proposals").rglob("*") if path.is_file()]
    assert files
    return job.log + job.summary + str(job.outputs) + "".join(path.read_text() for path in files)


@pytest.mark.slow
def test_night_with_a_candidate_opens_a_draft_and_every_step_runs(runner: WorkflowRunner, github) -> None:
    with Agent({"tool_calls": [GOOD["tool_calls"][0]]}) as agent:
        with_logs(runner, agent.url)
        job = night(runner, STABLE="true")
    assert job.result == "success", job.log
    assert "### 1 draft prepared" in job.summary
    assert QUESTION not in shared(runner, job)
    assert not {path.name for path in runner.temp.iterdir()} & {"private", "drafts", "origin.git"}
    assert (runner.cache / "without-a-draft.txt").read_text() == ""
    assert github.pulls == []
    assert run_git(runner.project.remote, "branch", "--format=%(refname:short)") == "main"
    opening = runner.run("drafts")
    assert opening.result == "success", opening.log
    assert opening.summary == "- opened: https://github.example/octo/tools/pull/1\n"
    (pull,) = github.pulls
    assert (pull.base, pull.draft, pull.labels) == ("main", True, ["coreloop"])
    assert runner.project.head_of(pull.branch) == pull.head_sha
    assert pull.title == run_git(runner.project.remote, "log", "-1", "--format=%s", pull.branch)
    assert "Candidate-Id: " in pull.body
    assert QUESTION not in pull.body
    dashboard = runner.run("dashboard")
    assert dashboard.result == "success", dashboard.log
    assert dashboard.steps[-2].output == "created https://github.example/octo/tools/issues/1001\n"
    assert QUESTION not in github.issues[0].body
    assert "skipped" not in {step.outcome for step in (*job.steps, *opening.steps, *dashboard.steps)}


BRANCH = "skill/docstring-analysis-x-20260425"
EDITED = SOURCE.replace(b"Ratios of a company", b"The ratios of a company")


def hand_over(runner: WorkflowRunner, files: dict[str, bytes | None], **changes: str) -> None:
    """Put a commit and its draft where the second job finds them."""
    project = runner.project
    project.git("switch", "--quiet", "--force-create", "prepared", "origin/main")
    for name, content in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink() if content is None else path.write_bytes(content)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--allow-empty", "-m", "[CORELOOP-R] docs(analysis): x")
    folder = runner.artifacts / "coreloop-drafts"
    folder.mkdir(parents=True, exist_ok=True)
    draft = {"head": BRANCH, "base": "main", "title": "a title", "body": "a body", **changes}
    (folder / "1.json").write_text(json.dumps(draft))
    bundle_head(runner)


def bundle_head(runner: WorkflowRunner) -> None:
    """Hand over HEAD as the draft's branch."""
    bundle = runner.artifacts / "coreloop-drafts/new.bundle"
    runner.project.git("update-ref", f"refs/heads/{BRANCH}", "HEAD")
    runner.project.git("bundle", "create", "--quiet", str(bundle), f"refs/heads/{BRANCH}", "^origin/main")


@pytest.mark.parametrize(
    ("files", "changes"),
    slow_after(
        3,
        [
            pytest.param({".github/workflows/x.yml": b"on: push\n"}, {}, id="a workflow"),
            pytest.param({FILE: EDITED, OTHER_FILE: b"x = 1\n"}, {}, id="two files"),
            pytest.param({FILE: EDITED}, {"head": "main"}, id="the base itself"),
            pytest.param({FILE: EDITED}, {"head": "renovate/x"}, id="another's branch"),
            pytest.param({"coreloop.yaml": b"tools: {}\n"}, {}, id="the settings"),
            pytest.param({".github/x.py": b"x = 1\n"}, {}, id="a new file"),
            pytest.param({FILE: None}, {}, id="a deleted file"),
            pytest.param({}, {}, id="nothing"),
            pytest.param({FILE: EDITED}, {"base": "nowhere"}, id="an unknown base"),
            pytest.param({FILE: EDITED}, {"base": "main..x"}, id="no base"),
            pytest.param({FILE: EDITED}, {"head": f"{BRANCH}\nmain"}, id="two lines"),
        ],
    ),
)
def test_a_draft_that_is_more_than_one_python_file_is_not_pushed(
    files: dict[str, bytes | None], changes: dict[str, str], runner: WorkflowRunner, github
) -> None:
    hand_over(runner, files, **changes)
    before = run_git(runner.project.remote, "for-each-ref")
    job = runner.run("drafts")
    assert job.result == "failure"
    assert "::error::Nothing was pushed: a draft " in job.log
    assert job.ran()[-1] == "Check what the drafts change"  # before there is a token
    assert (run_git(runner.project.remote, "for-each-ref"), github.traffic) == (before, [])


@pytest.mark.slow
def test_two_commits_or_a_changed_mode_are_not_pushed(runner: WorkflowRunner, github) -> None:
    hand_over(runner, {FILE: EDITED})
    project = runner.project
    project.git("update-index", "--chmod=+x", FILE)
    project.git("commit", "--quiet", "--amend", "--no-edit")
    bundle_head(runner)
    assert "changes something else" in runner.run("drafts").log
    project.git("update-index", "--chmod=-x", FILE)
    project.git("commit", "--quiet", "-m", "docs: again")
    bundle_head(runner)
    assert "is not one commit on its base" in runner.run("drafts").log
    project.git("push", "--quiet", "origin", f"HEAD:{BRANCH}")  # somebody's work on a draft's branch
    hand_over(runner, {FILE: EDITED})
    assert "would replace more than one commit" in runner.run("drafts").log
    assert github.traffic == []


def test_a_base_without_a_required_review_gets_no_draft(runner: WorkflowRunner, github) -> None:
    github.protections.clear()
    hand_over(runner, {FILE: EDITED})
    job = runner.run("drafts")
    assert job.result == "failure"
    assert "Run dartlab-coreloop guard protect." in job.log
    assert runner.project.head_of(BRANCH) is None
    assert github.pulls == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ruleset", "protection"])
def test_a_draft_that_is_open_is_brought_up_to_date(runner: WorkflowRunner, github, kind: str) -> None:
    if kind == "ruleset":
        github.protections.clear()
        github.rulesets = {"main": 1}
    for text in (EDITED, EDITED.replace(b"The", b"All")):
        hand_over(runner, {FILE: text}, title=f"a title {len(text)}")
        job = runner.run("drafts")
        assert job.result == "success", job.log
        assert run_git(runner.project.remote, "show", f"{BRANCH}:{FILE}") == text.decode().strip()
    (pull,) = github.pulls
    assert pull.title == f"a title {len(text)}"
    assert job.summary == "- updated: https://github.example/octo/tools/pull/1\n"
    assert runner.run("drafts").result == "success"  # the job runs again


@pytest.mark.slow
def test_three_nights_that_open_no_draft_are_red_from_the_third_on(runner: WorkflowRunner) -> None:
    with_logs(runner)  # without an endpoint for the replay
    without_a_draft(runner, "2026-04-24", "2026-04-25")
    # the job of a night that runs again counts once
    nights = [night(runner, f"2026-04-2{day}", STABLE="true") for day in (5, 6)]
    assert [each.result for each in nights] == ["success", "failure"]
    for each in nights:
        assert "### 0 drafts prepared" in each.summary
        assert "refused: replay: unavailable" in each.summary
        assert QUESTION not in each.summary
    assert "::notice::No draft was opened for 2 of 3 nights" in nights[0].log
    assert "::error::No draft was opened for 3 nights in a row, although drafts are wanted." in nights[1].log
    assert nights[1].ran()[-1] == "Clean up the runner"
    # a red job leaves the cache as it was, from which the next night is red, too
    assert (runner.cache / "without-a-draft.txt").read_text() == "2026-04-24\n2026-04-25\n"


@pytest.mark.slow
def test_unstable_history_is_a_night_without_a_draft_and_the_summary_says_so(runner: WorkflowRunner) -> None:
    with_logs(runner)
    without_a_draft(runner, "2026-04-24")
    nights = [night(runner, f"2026-04-2{day}") for day in (5, 6)]
    assert [each.result for each in nights] == ["success", "failure"]
    assert "### No drafts: `status --stability` does not hold" in nights[0].summary
    assert "clean merges in a row" in nights[0].summary
    assert "Prepare drafts" not in nights[0].ran()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["true", 'echo x > "$CORELOOP_DATA_DIR/audit/ai-ask/readme.txt"'])
def test_data_command_that_delivers_no_file_is_an_error_and_the_dashboard_links_it(
    runner: WorkflowRunner, github: GithubStandIn, command: str
) -> None:
    runner.variables["CORELOOP_DATA_COMMAND"] = command
    job = night(runner)
    assert job.result == "failure"
    assert (
        "::error::CORELOOP_DATA_COMMAND ended well but put no *.jsonl file into $CORELOOP_DATA_DIR" in job.log
    )
    assert job.ran() == ["actions/checkout", "Find the logs", "Clean up the runner"]
    assert runner.run("dashboard").result == "success"
    body = github.issues[0].body
    assert body is not None
    assert body.startswith(
        f"The [newest nightly run](https://github.com/octo/tools/actions/runs/{RUN_ID}) "
        "ended with **failure**."
    )
    assert "It wrote no status" in body


def test_without_logs_the_night_is_green(runner: WorkflowRunner) -> None:
    job = night(runner)
    assert (job.result, job.ran()[1:]) == ("success", ["Find the logs", "Clean up the runner"])


@pytest.mark.slow
def test_cron_line_of_the_page_mines_and_shows_the_status(tmp_path: Path) -> None:
    page = (WORKFLOW.parents[5] / "docs/how-to/nightly.md").read_text(encoding="utf-8")
    [line] = re.findall(r"^17 3 \* \* \* (.*)", page, re.MULTILINE)
    programs = tmp_path / ".coreloop/bin"
    programs.mkdir(parents=True)
    command = programs / "dartlab-coreloop"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m coreloop "$@"\n')
    command.chmod(0o755)
    write_log(tmp_path / "data/audit/ai-ask/a.jsonl", repeated(4, ts=datetime.now(UTC).isoformat()))
    done = subprocess.run(
        ["/bin/sh", "-c", line.replace("/srv/shop", str(tmp_path))],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert re.search("^records +4 on 1 day", done.stdout, re.MULTILINE)
    assert list((tmp_path / "data/audit/candidates").glob("*-candidates.json"))
    assert list((tmp_path / "data/audit").rglob("*-counterexamples.json"))
