"""The workflows as the guard needs them; zizmor, actionlint and the schema look at the rest in .ci/run."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from promoting import Project
from rows import each_row
from workflow_shell import run_shell

FOLDER = Path(__file__).parents[2] / ".github/workflows"
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.yml")}
# YAML 1.1 reads the key "on" as true
WORKFLOWS: dict[str, Any] = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
JOBS = [
    pytest.param(flow, job, id=f"{name} {key}")
    for name, flow in WORKFLOWS.items()
    for key, job in flow["jobs"].items()
]
EVENTS = {
    *("opened", "edited", "labeled", "unlabeled", "synchronize", "reopened", "ready_for_review"),
    *("converted_to_draft", "auto_merge_enabled", "auto_merge_disabled", "enqueued"),
}


def test_the_workflows_are_these():
    assert set(WORKFLOWS) == {"ai-policy.yml", "ci.yml", "coreloop-pattern.yml", "release.yml", "weekly.yml"}


@each_row(("flow", "job"), JOBS)
def test_every_job_has_the_least_rights_and_an_end(flow: dict[str, Any], job: dict[str, Any]):
    assert flow["permissions"] == {}
    assert job["permissions"]
    assert job["timeout-minutes"] <= 60
    assert "concurrency" in flow
    assert "pull_request_target" not in flow[True]
    checkouts = [step for step in job["steps"] if "actions/checkout@" in step.get("uses", "")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)
    assert not any("${{" in step.get("run", "") for step in job["steps"])


@each_row("text", TEXTS.values(), ids=TEXTS)
def test_every_action_is_a_commit_with_its_version(text: str):
    used = re.findall(r"\buses: (.*)", text)
    assert used
    assert [
        action for action in used if not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
    ] == []


def test_the_guard_runs_on_every_event_that_could_merge_something():
    flow = WORKFLOWS["ai-policy.yml"]
    assert set(flow[True]["pull_request"]["types"]) == EVENTS
    assert set(flow[True]["pull_request_review"]["types"]) == {"submitted", "dismissed"}
    assert "merge_group" in flow[True]
    assert flow["concurrency"]["cancel-in-progress"] is False
    ((key, job),) = flow["jobs"].items()
    assert key == "block-coreloop-auto-merge"  # the name is held by unit/guard/test_workflow.py
    assert job["permissions"] == {"contents": "read", "pull-requests": "write", "statuses": "write"}
    assert "if" not in job


def test_what_decides_is_the_base_s_and_nothing_after_it_can_make_it_green():
    steps = WORKFLOWS["ai-policy.yml"]["jobs"]["block-coreloop-auto-merge"]["steps"]
    (checkout,) = (step for step in steps if "actions/checkout@" in step.get("uses", ""))
    assert "base.ref" in checkout["with"]["ref"]
    assert "continue-on-error" not in str(steps)
    (decide,) = (step for step in steps if "guard check" in step.get("run", ""))
    # without coreloop on the base and the default branch another step decides: test_workflow_steps.py
    there = "steps.install.outputs.missing != 'true'"
    assert decide["if"] == there
    assert "env" not in decide  # no token: it asks no server
    (publish,) = steps[steps.index(decide) + 1 :]
    assert publish.get("if") == there
    assert "guard publish" in publish["run"]
    assert "||" not in publish["run"]


def test_only_sanitized_proposals_leave_the_runner():
    job = WORKFLOWS["coreloop-pattern.yml"]["jobs"]["propose"]
    uploads = [step["with"]["path"] for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
    into = [
        line for step in job["steps"] for line in step.get("run", "").splitlines() if "/proposals/" in line
    ]
    assert uploads == [
        "${{ runner.temp }}/proposals",
        "${{ runner.temp }}/drafts",
    ]  # as pull requests show them
    assert len(into) == 2
    assert all("--sanitize" in line for line in into)


def test_what_can_write_code_installs_nothing_and_what_installs_can_only_read():
    jobs = WORKFLOWS["coreloop-pattern.yml"]["jobs"]
    writing = {key for key, job in jobs.items() if "permission-contents: write" in yaml.safe_dump(job)}
    assert writing == {"drafts"}
    for key, job in jobs.items():
        text = yaml.safe_dump(job)
        assert ("pip install" in text or "setup-python" in text) is (key not in writing)
        assert ("CORELOOP_APP_KEY" in text) is (key in writing)
        written = {scope for scope, access in job["permissions"].items() if access != "read"}
        assert written == ({"issues"} if key == "dashboard" else set())
    assert jobs["drafts"]["runs-on"] == "ubuntu-latest"  # not where something was installed
    assert jobs["drafts"]["environment"] != jobs["propose"]["environment"]


def step_of(name: str) -> str:
    job = WORKFLOWS["coreloop-pattern.yml"]["jobs"]["propose"]
    return next(step["run"] for step in job["steps"] if step.get("name") == name)


def run_step(text: str, folder: Path, **environ: str) -> str:
    """Run a step by itself; gives what it printed and what it set."""
    given = {"PATH": "/usr/bin:/bin", "RUNNER_TEMP": str(folder), **environ}
    done = run_shell(text, environ=given, cwd=folder, files=folder)
    assert done.code == 0, done.output
    return done.output + "".join(f"{name}={value}\n" for name, value in done.outputs.items())


def test_without_logs_the_night_ends_green_with_a_notice(tmp_path: Path):
    output = run_step(step_of("Find the logs"), tmp_path, DATA_PATH="", DATA_COMMAND="")
    assert output.startswith("::notice::No logs: set the repository variable CORELOOP_DATA_PATH")
    assert "data=" not in output


def test_logs_are_a_path_or_what_a_command_brings(tmp_path: Path):
    output = run_step(step_of("Find the logs"), tmp_path, DATA_PATH="/srv/data", DATA_COMMAND="")
    assert output == "data=/srv/data\n"
    bring = 'echo "{}" > "$CORELOOP_DATA_DIR/audit/ai-ask/a.jsonl"'
    output = run_step(step_of("Find the logs"), tmp_path, DATA_PATH="", DATA_COMMAND=bring)
    assert output == f"data={tmp_path}/coreloop-data\n"
    assert (tmp_path / "coreloop-data/audit/ai-ask/a.jsonl").read_text() == "{}\n"


@pytest.mark.parametrize(
    ("wanted", "stable", "opens"), [("true", 0, True), ("true", 1, False), ("", 0, False), ("yes", 0, False)]
)
def test_drafts_are_opened_only_when_both_say_so(wanted: str, stable: int, opens: bool, tmp_path: Path):
    command = tmp_path / "coreloop/bin/dartlab-coreloop"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\n[ "$*" = "status --stability" ] && exit {stable}\n')
    command.chmod(0o755)
    output = run_step(step_of("Check whether drafts may be opened"), tmp_path, WANTED=wanted)
    assert ("open=true" in output) is opens
    assert ("::notice::No drafts" in output) is not opens


def test_third_night_without_a_draft_is_red(tmp_path: Path):
    """In short; tests/unit/test_nightly_workflow.py has whole nights."""
    step = step_of("Fail after three nights without a draft")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "date").write_text('#!/bin/sh\necho "$NIGHT"\n')
    (programs / "date").chmod(0o755)
    path = f"{programs}:/usr/bin:/bin"

    def night(day: int, empty: str = "true") -> str:
        return run_step(step, tmp_path, PATH=path, NIGHT=f"2026-04-{day}", EMPTY=empty)

    assert "for 1 of 3 nights" in night(25)
    assert "for 1 of 3 nights" in night(25)  # by hand, on the same day
    assert "for 2 of 3 nights" in night(26)
    assert night(27, empty="") == ""
    assert "for 1 of 3 nights" in night(28)
    night(29)
    for day in (30, 31):
        with pytest.raises(AssertionError):
            night(day)


def test_the_head_is_fetched_from_the_pull_request_or_the_queue(tmp_path: Path, project: Project):
    steps = WORKFLOWS["ai-policy.yml"]["jobs"]["block-coreloop-auto-merge"]["steps"]
    fetch = next(step["run"] for step in steps if "git fetch" in step.get("run", ""))
    sha = project.git("rev-parse", "main")
    queued = "refs/heads/gh-readonly-queue/main/pr-7-x"
    for ref in ("refs/pull/7/head", queued):
        project.git("push", "--quiet", str(project.remote), f"main:{ref}")
    for number, queue in (("7", ""), ("", queued)):
        project.git("update-ref", "-d", "refs/coreloop/head")
        environ = {"NUMBER": number, "QUEUED": queue, "TOKEN": "t", "GITHUB_SERVER_URL": "https://github.com"}
        run_step(f"cd '{project.root}'\n{fetch}", tmp_path, **environ)
        assert project.git("rev-parse", "refs/coreloop/head") == sha
