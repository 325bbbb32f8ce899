"""The demo's project with its records and proposals, and what pages read of it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from coreloop.admin.demo.run import run_demo
from coreloop.base.project.workspace import open_workspace
from coreloop.web.pages.page_data import PageSource, open_source
from scripted import NOW


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    run_demo(folder, now=NOW, tell=lambda _stage: None)
    return folder


@pytest.fixture
def project(demo: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return shutil.copytree(demo, tmp_path / "project")


@pytest.fixture
def source(project: Path) -> Iterator[PageSource]:
    with open_source(open_workspace(project), {}) as source:
        yield source


@pytest.fixture(scope="session")
def unchanged(demo: Path) -> Iterator[PageSource]:
    """The demo for tests that only read."""
    with open_source(open_workspace(demo), {}) as source:
        yield source
