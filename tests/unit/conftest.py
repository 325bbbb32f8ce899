"""What the tests of the workflows share."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from github_stand_in import GithubStandIn
from postgres_servers import PostgresServer, newest, running_server
from promoting import CATEGORIES, Project
from stranger import PINNED, Guarded, make_stranger, prepare_python, run_guard, show
from workflow_runner import JobResult


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a ``python`` that needs no index to install the guard."""
    return prepare_python(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def stranger(tmp_path: Path, quiet_git: None) -> Project:
    return make_stranger(tmp_path)


@pytest.fixture
def branch(stranger: Project, entry_point) -> str:
    """The first pull request's branch: what init writes."""
    code, _, errors = entry_point(stranger.root, "init", "--confirm", "--owner", "@kim", "--source", PINNED)
    assert (code, errors) == (0, "")
    settings = stranger.root / "coreloop.yaml"
    with settings.open("a", encoding="utf-8") as file:
        file.write(f"categories: {json.dumps(CATEGORIES)}\n")
    stranger.git("switch", "--quiet", "-c", "add-coreloop")
    stranger.git("add", ".")
    stranger.git("commit", "--quiet", "-m", "Add coreloop")
    return "add-coreloop"


@pytest.fixture
def merged(stranger: Project, branch: str) -> Project:
    """The project once that is merged."""
    stranger.git("push", "--quiet", "origin", f"{branch}:main")
    stranger.git("switch", "--quiet", "-C", "main")
    return stranger


@pytest.fixture
def guarded(stranger: Project, prepared: Path, github: GithubStandIn, tmp_path: Path, branch: str) -> Guarded:
    """Run the guard's job with a payload."""

    def guarded(payload: Mapping[str, Any], name: str = "pull_request", python: Path = prepared) -> JobResult:
        if "pull_request" in payload:
            show(github, payload["pull_request"])
        return run_guard(stranger, github, tmp_path / "runner", python, payload=payload, name=name)

    return guarded


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server that a test may stop."""
    with running_server(newest()) as server:
        yield server
