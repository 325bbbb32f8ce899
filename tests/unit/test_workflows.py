"""The workflows as the guard needs them; zizmor, actionlint and the schema look at the rest in .ci/run."""

from pathlib import Path
from typing import Any

import yaml

from promoting import Project
from workflow_shell import run_shell

FOLDER = Path(__file__).parents[2] / ".github/workflows"
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.yml")}
# YAML 1.1 reads the key "on" as true
WORKFLOWS: dict[str, Any] = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
EVENTS = {
    *("opened", "edited", "labeled", "unlabeled", "synchronize", "reopened", "ready_for_review"),
    *("converted_to_draft", "auto_merge_enabled", "auto_merge_disabled", "enqueued"),
}


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


def run_step(text: str, folder: Path, **environ: str) -> str:
    """Run a step by itself; gives what it printed and what it set."""
    given = {"PATH": "/usr/bin:/bin", "RUNNER_TEMP": str(folder), **environ}
    done = run_shell(text, environ=given, cwd=folder, files=folder)
    assert done.code == 0, done.output
    return done.output + "".join(f"{name}={value}\n" for name, value in done.outputs.items())


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
