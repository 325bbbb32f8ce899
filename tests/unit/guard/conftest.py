"""What the guard's tests share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from coreloop.base.project.settings import Settings
from coreloop.base.project.settings_file import load_settings
from guard_bench import Bench
from promoting import Project


@pytest.fixture
def bench(project: Project) -> Bench:
    return Bench(project)


@pytest.fixture
def settings_of(tmp_path: Path) -> Callable[[str], Settings]:
    """Settings from the text of a coreloop.yaml."""

    def settings_of(text: str) -> Settings:
        (tmp_path / "coreloop.yaml").write_text(text, encoding="utf-8")
        return load_settings(tmp_path, check_paths=False)

    return settings_of
