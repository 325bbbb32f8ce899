"""``doctor`` about names in coreloop.yaml that do not fit: the base branch, and tools."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.admin.checks.diagnosis import Diagnosis
from coreloop.admin.checks.registry import check_setup
from promoting import run_git

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "A")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "a@example.org")
    monkeypatch.setenv("GIT_COMMITTER_NAME", "A")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "a@example.org")
    return tmp_path


def _checked(folder: Path, check: str) -> list[Diagnosis]:
    return [entry for entry in check_setup(folder, now=NOW, environ={}) if entry.check == check]


def test_an_absent_base_branch_is_a_fault_with_the_setting(folder: Path):
    run_git(folder, "init", "--quiet", "--initial-branch=master")
    assert _checked(folder, "base") == []  # without a commit there is no branch yet
    run_git(folder, "commit", "--quiet", "--allow-empty", "-m", "first")
    (fault,) = _checked(folder, "base")
    assert (fault.level, fault.todo) == ("fault", "set forge: {base: master} in coreloop.yaml")
    assert "there is no branch main, only master" in fault.message
    (folder / "coreloop.yaml").write_text("forge: {base: master}\n")
    assert _checked(folder, "base") == []
