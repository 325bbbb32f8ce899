"""A project that knew nothing of coreloop before ``init``, and the guard's job run in it, event by event."""

import json
import shutil
import venv
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import coreloop
from coreloop.guard.check import CONTEXT
from github_stand_in import GithubStandIn
from guarding import Payload, commit, edit
from promoting import FILE, OTHER_FILE, OTHER_SOURCE, SOURCE, Project, run_git
from workflow_runner import JobResult, WorkflowRunner
from workflow_shell import setup_python

GUARD, NIGHT = ".github/workflows/ai-policy.yml", ".github/workflows/coreloop-pattern.yml"
PINNED = f"git+https://example.com/coreloop.git@{'0' * 40}"
EXAMPLES = (
    Path(__file__).parent / ".webhooks/node_modules/@octokit/webhooks-examples/api.github.com/index.json"
)
SHADOWS = ("yaml.py", "json.py", "types.py", "venv.py", "pip/__init__.py", "coreloop/__init__.py")
Guarded = Callable[..., JobResult]
needs_examples = pytest.mark.skipif(
    not EXAMPLES.is_file(), reason="run tests/webhooks/install.sh for GitHub's example events"
)


@cache
def _events() -> Any:
    return json.loads(EXAMPLES.read_bytes())


def examples(name: str) -> list[dict[str, Any]]:
    """GitHub's own examples of an event."""
    return next(entry["examples"] for entry in _events() if entry["name"] == name)


def prepare_python(folder: Path) -> Path:
    """A setup-python of which the environments have PyYAML and coreloop's sources already."""
    venv.create(folder / "venv", with_pip=False)
    (packages,) = (folder / "venv/lib").glob("python*/site-packages")
    shutil.copytree(Path(yaml.__file__).parent, packages / "yaml")
    (packages / "coreloop.pth").write_text(f"{Path(coreloop.__file__).parents[1]}\n")
    return setup_python(folder, folder / "venv/bin/python")


def make_stranger(folder: Path) -> Project:
    """A project with a release branch, and modules named like those that the guard imports."""
    project = Project(folder / "stranger", folder / "stranger.git")
    run_git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(project.remote))
    run_git(folder, "init", "--quiet", "--initial-branch=main", str(project.root))
    project.git("remote", "add", "origin", str(project.remote))
    shadows = dict.fromkeys(SHADOWS, "raise SystemExit('this is the project, not the guard')\n")
    project.commit({FILE: SOURCE, OTHER_FILE: OTHER_SOURCE, "README.md": "# Tools\n", **shadows}, "Start")
    project.git("push", "--quiet", "origin", "main", "main:release/1")
    return project


def run_guard(
    project: Project,
    github: GithubStandIn,
    folder: Path,
    python: Path,
    *,
    payload: Mapping[str, Any],
    name: str,
) -> JobResult:
    """The guard's job as `init` wrote it, for a payload."""
    workflow = yaml.safe_load(project.git("show", f"add-coreloop:{GUARD}"))
    runner = WorkflowRunner(workflow, project, github, folder, python)
    (job,) = workflow["jobs"]
    return runner.run(job, event_name=name, event=payload)


def show(github: GithubStandIn, shown: Mapping[str, Any]) -> None:
    """Have GitHub show the pull request of a payload, whose labels and reviews stay as they are there."""
    while len(github.pulls) < shown["number"]:
        github.add_pull(branch=f"other-{len(github.pulls)}", title="Other work")
        github.pulls[-1].labels[:] = []
    live = github.pulls[shown["number"] - 1]
    live.title, live.body, live.branch = shown["title"], shown["body"], shown["head"]["ref"]
    live.head_sha, live.base, live.draft = shown["head"]["sha"], shown["base"]["ref"], shown["draft"]
    live.base_sha = shown["base"]["sha"]


def states(github: GithubStandIn, payload: Mapping[str, Any], *, base: str = "main") -> list[str]:
    """The states of the status that a base may require, in the order in which they were written."""
    context = CONTEXT if base == "main" else f"{CONTEXT} ({base})"
    group = payload.get("merge_group")
    sha = group["head_sha"] if group else payload["pull_request"]["head"]["sha"]
    return [status["state"] for status in github.statuses.get(sha, ()) if status["context"] == context]


def pull_request(project: Project, made: Any, *, base: str = "main") -> dict[str, Any]:
    """The payload about HEAD, which GitHub has fetched as the pull request's head."""
    number, sha = made.pull.number, project.git("rev-parse", "HEAD")
    project.git("push", "--quiet", "--force", "origin", f"HEAD:refs/pull/{number}/head")
    payload = Payload(made).as_json()
    payload["pull_request"]["head"]["sha"] = sha
    base_sha = run_git(project.remote, "rev-parse", base)
    payload["pull_request"]["base"] |= {"ref": base, "sha": base_sha}
    return payload


def promote(project: Project, *, start: str = "main", text: bytes | None = None) -> None:
    """Commit a promotion on top of a branch of the remote."""
    project.git("switch", "--quiet", "--detach", run_git(project.remote, "rev-parse", start))
    project.commit({FILE: edit() if text is None else text}, commit().message)


def work(project: Project, *, start: str = "main") -> None:
    """Commit somebody's own work on top of a branch of the remote."""
    project.git("switch", "--quiet", "--detach", run_git(project.remote, "rev-parse", start))
    project.commit({"README.md": "# Our tools\n"}, "docs: better words")


def merge_group(project: Project, *, number: int) -> dict[str, Any]:
    """The payload about HEAD as the queue's branch for a pull request to main."""
    head, base = project.git("rev-parse", "HEAD"), run_git(project.remote, "rev-parse", "main")
    ref = f"refs/heads/gh-readonly-queue/main/pr-{number}-{base}"
    project.git("push", "--quiet", "--force", "origin", f"HEAD:{ref}")
    group = {"head_sha": head, "head_ref": ref, "base_sha": base, "base_ref": "refs/heads/main"}
    return {"action": "checks_requested", "merge_group": group}
