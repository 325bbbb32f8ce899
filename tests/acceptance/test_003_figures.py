"""Numbers and limits that document 003 of the specification promises, each told from its neighbours."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from acceptance.walk import command, public_name, script
from merging import promote, revert
from old_knowledge import rows_of
from promoting import hush_git, make_project

KNOWLEDGE = "data/ai/knowledge/dartlab_knowledge.db"
NOTES = "data/dart/auditAnalysis"


@pytest.mark.promise("003-24")
@pytest.mark.parametrize("gate", ["", "auto-extracted", "migration", "human-approved"])
def test_24_a_cleanup_drops_a_live_insight_whatever_its_quality_gate(tmp_path: Path, gate: str) -> None:
    (tmp_path / NOTES).mkdir(parents=True)
    database, now = tmp_path / KNOWLEDGE, datetime.now(UTC)
    live = public_name("Insight")(stock_code="990168", narrative="좋다", source="live")
    with public_name("writing", beside="save_live")(database) as knowledge:
        public_name("save_live")(knowledge, live, answer_chars=500, grade="P", now=now)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE insights SET quality_gate = ?", (gate,))
    assert [row["source"] for row in rows_of(database, "insights")] == ["live"]
    script(tmp_path, "cleanup_knowledge_db.py", "--confirm").assert_code()
    assert rows_of(database, "insights") == []


@pytest.mark.promise("003-31")
def test_31_a_revert_counts_for_90_days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hush_git(monkeypatch)
    now = datetime.now(UTC)
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{now - timedelta(days=92):%Y-%m-%dT%H:%M:%SZ}")
    project = make_project(tmp_path)
    counted = []
    for days in (91, 89, 60):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{now - timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}")
        revert(project, promote(project, str(days)))
        project.git("push", "--quiet", "origin", "main")
        gates = json.loads(command(project.root, "status", "--stability", "--json").assert_code(1).out)
        counted.append({gate["name"]: gate["figure"] for gate in gates["gates"]}["reverts in 90 days"])
    assert counted == [0, 1, 2]
