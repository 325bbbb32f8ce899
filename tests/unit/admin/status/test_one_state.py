"""A proposal has one state on every screen, and existing proposals are counted before an alarm."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from coreloop.admin.status.read_status import read_status
from coreloop.admin.status.status import Status
from coreloop.base.project.workspace import open_workspace
from coreloop.learn.verdicts.judge import judge
from coreloop.observe.judgments import VerdictLetter
from coreloop.web.pages.health import read_health
from coreloop.web.pages.page_data import open_source
from logs import call, record, write_log
from merging import promote
from promoting import Project, make_project, statement, write_candidates

NOW = datetime(2026, 4, 26, 12, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path, quiet_git: None) -> Project:
    """A project without an address of a forge, with enough records for candidates."""
    project = make_project(tmp_path)
    project.git("remote", "remove", "origin")
    (project.root / "coreloop.yaml").write_text("{}\n")
    start = NOW - timedelta(hours=6)
    rows = [
        record(ts=(start + timedelta(minutes=n)).isoformat(), question=f"Q{n}", tool_calls=[call(f"t{n}")])
        for n in range(60)
    ]
    write_log(open_workspace(project.root).records_dir / "2026-04-26.jsonl", rows)
    project.candidates.unlink()
    return project


def _entry(n: int, **changes: Any) -> dict[str, Any]:
    line = f"- company: from search().f{n}"
    return statement(id=f"cand-2026-04-25-00{n}", line=line, **changes)


def _read(project: Project) -> Status:
    workspace = open_workspace(project.root)
    return read_status(workspace, now=NOW, environ={})


def test_three_statements_have_three_states_in_status_and_health(project: Project):
    entries = [_entry(1), _entry(2), _entry(3)]
    write_candidates(project.candidates, *entries)
    promote(project, entries[0]["key"])
    workspace = open_workspace(project.root)
    for entry, verdict in zip(
        entries, [VerdictLetter.VIOLATION, VerdictLetter.VIOLATION, VerdictLetter.PASS], strict=True
    ):
        judge(workspace, entry["id"], verdict, cause=None, by="Ann", now=NOW)
    standing = _read(project).candidates
    assert (standing.pending, standing.accepted, standing.promoted, standing.rejected) == (0, 1, 1, 1)
    with open_source(workspace, {}) as source:
        view = read_health(source)
    assert view["counts"]["accepted"] == view["counts"]["rejected"] == 1
