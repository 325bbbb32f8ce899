"""The guard without anything installed: ``python -S`` with PyYAML and coreloop's sources on the path."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import coreloop
from github_stand_in import GithubStandIn
from guarding import Payload, commit, edit, event, ordinary_event
from promoting import BRANCH, FILE, Project
from promoting import SOURCE as SOURCE_OF_TOOLS

SOURCE = Path(coreloop.__file__).parents[1]
PACKAGES = ("descriptions", "base/git", "guard", "base/project")
MODULES = (
    "base.error_classes",
    "base.records",
    "base.validation",
    "base.text",
    "base.github.connect",
    "base.github.github_api",
    "base.github.github_errors",
    "learn.line",
    "learn.proposals.allowed_lines",
)
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds PyYAML and nothing else, without its compiled part."""
    folder = tmp_path_factory.mktemp("packages")
    shutil.copytree(
        Path(yaml.__file__).parent, folder / "yaml", ignore=shutil.ignore_patterns("*.so", "*.pyd")
    )
    return folder


@pytest.fixture
def python(packages: Path, project: Project) -> Run:
    """A Python that sees only the standard library, coreloop and PyYAML."""

    def python(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-S", *words],
            cwd=project.root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(packages)])},
            capture_output=True,
            text=True,
            check=False,
        )

    return python


@pytest.fixture
def about(project: Project, tmp_path: Path) -> Callable[..., list[str]]:
    """Options for an event about a branch of which the one commit is a promotion, or somebody's own work."""
    base = project.git("rev-parse", "main")
    heads = {}
    for make, files, message in (
        (event, {FILE: edit()}, commit().message),
        (ordinary_event, {"other.py": b"x = 1\n"}, "fix: x"),
    ):
        project.git("switch", "--quiet", "--detach", base)
        heads[make] = project.commit(dict(files), message)
    project.git("switch", "--quiet", "main")

    def about(make: Callable[..., Any] = event, action: str = "synchronize", **changes: Any) -> list[str]:
        happened = make(action, **{"head_sha": heads[make], "base_sha": base, **changes})
        path = Payload(happened).write(tmp_path / "event.json")
        return ["--event", str(path), "--event-name", "pull_request"]

    return about


def loaded(script: str) -> str:
    """A script that runs another, then prints what it has loaded that is neither Python's nor coreloop's."""
    return f"""
import sys
try:
    {script}
finally:
    names = {{name.partition(".")[0] for name in sys.modules}}
    ours = {{"__main__", "coreloop", "yaml"}}
    print("loaded", sorted(names - sys.stdlib_module_names - ours), "http" in names, file=sys.stderr)
"""


NOTHING, NOTHING_BUT_HTTP = "loaded [] False\n", "loaded [] True\n"
CHECK = "from coreloop.guard.__main__ import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.slow
def test_other_work_does_without_the_proof_and_the_settings(python: Run, about, project: Project) -> None:
    heavy = {"yaml", "coreloop.guard.proof", "coreloop.base.project.settings", "coreloop.descriptions.edit"}
    script = f"print(sorted({heavy!r} & set(sys.modules)), file=sys.stderr)"
    check = f"import sys; from coreloop.guard.__main__ import main; main(sys.argv[1:]); {script}"
    project.git("switch", "--quiet", "--detach", "main")
    sha = project.commit({FILE: SOURCE_OF_TOOLS.replace(b"Ratios of", b"All ratios of")}, "docs: x")
    project.git("switch", "--quiet", "main")
    for changes in ({}, {"head_sha": sha}):
        completed = python("-c", check, "check", *about(ordinary_event, **changes))
        assert (completed.returncode, completed.stderr) == (0, "[]\n")
    assert python("-c", check, "check", *about()).stderr == f"{sorted(heavy)}\n"


@pytest.mark.slow
def test_github_is_asked_and_told_without_anything_foreign(
    python: Run, about, github: GithubStandIn, project: Project, monkeypatch, tmp_path: Path
) -> None:
    variables = {"REPOSITORY": github.repo, "TOKEN": github.token, "API_URL": github.url}
    for name, value in variables.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    pull = github.add_pull(branch=BRANCH, draft=False)
    pull.labels[:] = ["coreloop", "automerge"]
    pull.head_sha = pull.base_sha = project.git("rev-parse", "main")
    files = (".github/branch_protection.yml", ".github/workflows/ai-policy.yml")
    project.commit({name: (Path(__file__).parents[3] / name).read_bytes() for name in files})
    options = about(action="labeled", number=1, labels=("coreloop", "automerge"))
    completed = python("-c", loaded(CHECK), "act", "--confirm", *options)
    assert (completed.returncode, completed.stderr) == (0, NOTHING_BUT_HTTP)
    assert completed.stdout == "took off the label automerge of #1\n"
    assert pull.labels == ["coreloop"]
    completed = python(
        "-c", loaded(CHECK), "gather", "--out", str(tmp_path / "said"), *about(action="enqueued", number=1)
    )
    assert (completed.stdout, completed.stderr) == ("read #1 from GitHub\n", NOTHING_BUT_HTTP)
    completed = python("-c", loaded(CHECK), "protect", "--confirm")
    assert completed.stdout.endswith("7 of 7 rules applied to main\n")
    assert completed.stderr == NOTHING_BUT_HTTP


def test_text_in_typescript_is_not_decided_without_its_extra(python: Run, about, project: Project) -> None:
    message, source = commit().message.replace(FILE, "a.ts"), b'server.tool("analysis", "description", {}, f)'
    base = project.commit({"a.ts": source})
    sha = project.commit({"a.ts": source + b" "}, message)
    project.git("reset", "--quiet", "--hard", base)
    completed = python("-m", "coreloop.guard", "check", *about(head_sha=sha, base_sha=base))
    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr.startswith("coreloop.guard: text in TypeScript or JavaScript needs an extra; ")


def own_modules() -> list[str]:
    """Modules that must stand on the standard library and PyYAML."""
    package = SOURCE / "coreloop"
    files = [path.relative_to(package) for name in PACKAGES for path in (package / name).glob("*.py")]
    return sorted({*MODULES, *(".".join(path.with_suffix("").parts) for path in files)})


def test_each_module_stands_on_the_standard_library(python: Run) -> None:
    """In one process: what is foreign cannot be found in it at all."""
    names = own_modules()
    assert {"descriptions.edit", "base.git.repository", "guard.proof", "base.project.settings"} <= set(names)
    completed = python("-c", loaded(f"import {', '.join(f'coreloop.{name}' for name in names)}"))
    assert completed.returncode == 0, completed.stderr
    assert completed.stderr.startswith("loaded []")
