"""One damaged file of proposals: it is named once, and the rest goes on."""

from pathlib import Path
from typing import Any

import pytest

from promoting import Project, make_project, statement, write_candidates


@pytest.fixture
def project(tmp_path: Path, quiet_git: None) -> Project:
    project = make_project(tmp_path)
    write_candidates(project.candidates, statement())
    project.candidates.with_name("2026-04-24-candidates.json").write_text('{"schema_version": 1, "cand')
    return project


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("status",), "1 pending"),
        (("judge",), "waiting: 1"),
        (("serve", "--out", "report"), "wrote "),
    ],
    ids=["status", "judge", "report"],
)
def test_a_damaged_file_is_named_and_the_rest_goes_on(
    command: tuple[str, ...], shown: str, project: Project, entry_point: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "300")
    code, out, err = entry_point(project.root, *command)
    assert code == 0, err
    assert shown in out
    named = [line for line in (out + err).splitlines() if "2026-04-24-candidates.json: is damaged" in line]
    assert len(named) == 1
    assert "move it away and run pattern again" in named[0]
