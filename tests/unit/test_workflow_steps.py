"""Every step of what ``init`` writes, run in a project that knows nothing of coreloop, event by event."""

import copy
import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from coreloop.admin.init.pinned_version import pin_source
from github_stand_in import GithubStandIn
from guarding import commit, edit, event, ordinary_event, pull
from promoting import Project, run_git
from stranger import GUARD, NIGHT, Guarded, examples, needs_examples, promote, pull_request, states, work
from workflow_runner import WorkflowRunner

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
CHECK, FALLBACK = "Decide", "Without coreloop, stop what claims to be a promotion"


# --- the first pull request ------------------------------------------------------------------------


def test_the_pull_request_that_adds_coreloop_is_green(stranger: Project, guarded: Guarded):
    added = ordinary_event("opened", title="Add coreloop", branch="add-coreloop", labels=("coreloop",))
    result = guarded(pull_request(stranger, added))
    assert result.green, result.log
    assert FALLBACK in result.ran()
    assert CHECK not in result.ran()
    assert "::notice::The default branch has no coreloop." in result.log


CLAIMS = [
    pytest.param({"title": "[Coreloop-R] docs(analysis): x"}, None, id="title"),
    pytest.param({"branch": "skill/docstring-analysis-x-20260425"}, None, id="branch"),
    pytest.param({"body": "Text.\r\n\r\nCandidate-Id: cand-2026-04-25-001\r\n"}, None, id="text"),
    pytest.param({"body": "Candidate-Id : cand-2026-04-25-001"}, None, id="blank before the colon"),
    pytest.param({}, commit().message, id="commit"),
    pytest.param({}, "fix: x\nCandidate-Key: 5f3e", id="right below the subject"),
    pytest.param({}, "Merge pull request #3 from octo/skill/caveat-x-20260425", id="merge"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "message"), CLAIMS)
def test_what_claims_to_be_a_promotion_before_coreloop_is_there_is_red(
    changes, message: str | None, stranger: Project, guarded: Guarded
):
    if message is not None:
        stranger.git("commit", "--quiet", "--allow-empty", "-m", message)
        stranger.git("commit", "--quiet", "--allow-empty", "-m", "fix: a later one")
    result = guarded(pull_request(stranger, ordinary_event("opened", **changes)))
    assert not result.green
    assert "::error::This claims to be a promotion, but the default branch has no coreloop" in result.log
    assert result.ran()[-1] == FALLBACK  # nothing tries to act without coreloop


@pytest.mark.parametrize(
    "changes",
    [
        {"title": 'Revert "[CORELOOP-R] docs(analysis): x"', "branch": "revert-7-skill/docstring-x"},
        {"title": "Coreloop reads our records", "branch": "skill/juggling"},
        {"body": "> Candidate-Id: cand-2026-04-25-001"},
    ],
    ids=["revert", "resembles", "quoted"],
)
def test_what_only_resembles_a_promotion_is_green_before_coreloop_is_there(
    changes, stranger: Project, guarded: Guarded
):
    assert guarded(pull_request(stranger, ordinary_event("opened", **changes))).green


# --- once it is merged -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("base", ["main", "release/1"])
def test_ordinary_work_is_green_also_on_a_branch_older_than_coreloop(
    base: str, merged: Project, guarded: Guarded, github: GithubStandIn
):
    work(merged, start=base)
    payload = pull_request(merged, ordinary_event("opened"), base=base)
    result = guarded(payload)
    assert result.green, result.log
    marked = ["pending"] if base == "main" else []
    assert states(github, payload, base=base) == [*marked, "success"]
    assert FALLBACK not in result.ran()


@pytest.mark.slow
@pytest.mark.parametrize("base", ["main", "release/1"])
def test_a_promotion_is_decided_by_the_guard_whatever_its_base_has(
    base: str, merged: Project, guarded: Guarded, github: GithubStandIn
):
    promote(merged, start=base)
    payload = pull_request(merged, event("opened"), base=base)
    result = guarded(payload)
    assert result.green, result.log
    # without coreloop.yaml, release/1 has no categories that a line could name
    found = ["pending", "pending"] if base == "main" else ["failure"]
    assert states(github, payload, base=base) == found
    promote(merged, start=base, text=edit() + b"x = 1\n")
    payload = pull_request(merged, event("synchronize"), base=base)
    result = guarded(payload)
    assert result.green, result.log  # the job has decided; what is required is the status
    assert states(github, payload, base=base)[-1] == "failure"


def test_another_pull_request_with_the_same_head_leaves_the_required_status_red(
    merged: Project, guarded: Guarded, github: GithubStandIn
):
    promote(merged, text=edit() + b"x = 1\n")
    merged.git("push", "--quiet", "origin", "HEAD:refs/heads/evil")
    merged.git("commit", "--quiet", "--allow-empty", "-m", "chore: nothing")
    payload = pull_request(merged, event("opened"))
    guarded(payload)
    other = pull_request(merged, ordinary_event("opened", number=8), base="evil")
    assert guarded(other).green
    assert states(github, other, base="evil") == ["success"]
    assert states(github, payload) == ["pending", "failure"]


def test_a_branch_that_cannot_be_read_is_red(merged: Project, guarded: Guarded):
    work(merged)
    payload = pull_request(merged, ordinary_event("opened"))
    run_git(merged.remote, "update-ref", "-d", "refs/pull/7/head")
    assert not guarded(payload).green


@needs_examples
@pytest.mark.parametrize("promotes", [False, True], ids=["ordinary", "promotion"])
@pytest.mark.parametrize(
    ("name", "least"),
    [pytest.param("pull_request", 6, marks=pytest.mark.slow), ("pull_request_review", 2)],
)
def test_github_s_example_events_go_through_every_step(
    name: str, least: int, promotes: bool, merged: Project, guarded: Guarded
):
    wanted = set(yaml.safe_load((ROOT / GUARD).read_bytes())[True][name]["types"])
    promote(merged) if promotes else work(merged)
    found = {one["action"]: copy.deepcopy(one) for one in examples(name)}
    assert len(wanted & found.keys()) >= least
    good = pull()
    for action in sorted(wanted & found.keys()):
        payload, shown = found[action], found[action]["pull_request"]
        made = pull_request(merged, event(action, number=shown["number"]))["pull_request"]
        shown["head"] |= {"sha": made["head"]["sha"], "repo": shown["base"]["repo"]}
        shown["base"] |= {"ref": "main", "sha": made["base"]["sha"]}
        shown["labels"] = []
        if promotes:
            shown |= {"title": good.title, "body": good.body, "draft": True}
            shown["head"]["ref"] = good.branch
        result = guarded(payload, name)
        assert result.green, f"{action}\n{result.log}"
        assert ("not a coreloop pull request" in result.log) is not promotes, action


# --- what the steps install ------------------------------------------------------------------------
READERS = ("pyyaml", "tree-sitter", "tree-sitter-typescript")


def pinned(text: str) -> dict[str, set[str]]:
    """The hashes of each version in a requirements file."""
    joined = text.replace("\\\n", " ")
    lines = (line.split() for line in joined.splitlines() if not line.startswith("#"))
    return {line[0]: {word for word in line if word.startswith("--hash=sha256:")} for line in lines}


def test_the_guard_s_job_installs_nothing_that_is_not_pinned():
    steps = yaml.safe_load((ROOT / GUARD).read_bytes())["jobs"]["block-coreloop-auto-merge"]["steps"]
    (install,) = (step for step in steps if "pip" in step.get("run", ""))
    found = pinned(install["env"]["PINNED"])
    assert [name.partition("==")[0] for name in found] == ["flit_core", *READERS]
    assert [len(hashes) for hashes in found.values()] == [1, 8, 8, 2]
    assert all(len(each) == 78 for hashes in found.values() for each in hashes)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    (backend,) = build["requires"]  # what builds a commit, without another environment
    assert backend == next(iter(found))
    nightly = pinned((ROOT / ".github/coreloop-dependencies.txt").read_text(encoding="utf-8"))
    assert found[backend] <= nightly[backend.replace("_", "-")]


def wheel_of(source: Path, _: Project) -> str:
    """The address of the wheel of a folder, built by a pip of its own."""
    folder = source.with_name("build")
    venv.create(folder, with_pip=True)
    words = ("-I", "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source))
    subprocess.run([folder / "bin/python", *words], check=True)
    (wheel,) = folder.glob("*.whl")
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"dartlab-coreloop[cli] @ {wheel.as_uri()}#sha256={sha256}"


def own_wheel_of(source: Path, project: Project) -> str:
    """That wheel as a file of the project."""
    wheel_of(source, project)
    (wheel,) = source.with_name("build").glob("*.whl")
    project.commit({f"vendor/{wheel.name}": wheel.read_bytes()}, "build: the wheel")
    return pin_source(f"vendor/{wheel.name}", project.root)


def commit_of(source: Path, project: Project) -> str:
    """The address of a commit with a folder's files."""
    run_git(source, "init", "--quiet")
    run_git(source, "add", ".")
    run_git(source, "commit", "--quiet", "-m", "coreloop")
    return f"dartlab-coreloop[cli] @ git+file://localhost{source}@{run_git(source, 'rev-parse', 'HEAD')}"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the hashes are those of the wheels for Linux")
@pytest.mark.parametrize("pin", [wheel_of, own_wheel_of, commit_of])
def test_the_guard_s_job_installs_coreloop_and_what_reads_descriptions_and_nothing_else(
    pin: Callable[[Path, Project], str], merged: Project, guarded: Guarded, tmp_path: Path
):
    source = tmp_path / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    requirement = pin(source, merged)
    merged.commit({".github/coreloop-requirements.txt": f"{requirement}\n"}, "ci: these bytes")
    merged.git("push", "--quiet", "origin", "HEAD:main")
    promote(merged)
    result = guarded(pull_request(merged, event("opened")), python=Path(sys.executable).parent)
    assert result.green, result.log
    assert "waits: coreloop pull request" in result.log
    (python,) = tmp_path.glob("runner/temp/coreloop/bin/python")
    words = ("-I", "-m", "pip", "list", "--format", "json")
    listed = subprocess.run([python, *words], check=True, capture_output=True)
    names = {entry["name"].lower() for entry in json.loads(listed.stdout)}
    assert names - {"pip", "setuptools"} == {"dartlab-coreloop", "flit_core", *READERS}


@pytest.mark.slow
@pytest.mark.parametrize("changed", [False, True], ids=["as written", "another file"])
def test_the_night_s_jobs_install_nothing_but_what_the_file_names(
    changed: bool, merged: Project, github: GithubStandIn, tmp_path: Path
):
    dependencies = (ROOT / ".github/coreloop-dependencies.txt").read_text(encoding="utf-8")
    if changed:
        dependencies = f"mdurl==0.1.2 --hash=sha256:{'0' * 64}\n"
    files = {
        ".github/coreloop-dependencies.txt": dependencies,
        ".github/coreloop-requirements.txt": f"{ROOT.as_posix()}[cli]\n",
    }
    merged.commit(files, "ci: these bytes")
    merged.git("push", "--quiet", "origin", "HEAD:main")
    workflow = yaml.safe_load((ROOT / NIGHT).read_bytes())
    job = workflow["jobs"]["dashboard"]
    job["steps"] = [step for step in job["steps"] if "Install" in step.get("name", "") or "uses" in step]
    runner = WorkflowRunner(workflow, merged, github, tmp_path / "night", Path(sys.executable).parent)
    result = runner.run("dashboard")
    assert result.green is not changed, result.log
    if changed:
        assert "DO NOT MATCH THE HASHES" in result.log
        return
    words = ("-I", "-m", "pip", "list", "--format", "json")
    listed = subprocess.run([runner.temp / "coreloop/bin/python", *words], check=True, capture_output=True)
    names = {entry["name"].lower().replace("_", "-") for entry in json.loads(listed.stdout)}
    assert names - {"pip", "setuptools", "dartlab-coreloop"} <= {
        name.partition("==")[0] for name in pinned(dependencies)
    }
    assert {"dartlab-coreloop", "polars"} <= names
