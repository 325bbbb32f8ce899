"""Use cases of the knowledge database: without confirm nothing changes, and none needs a terminal."""

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.learn.knowledge.cleanup import Cleaned, Notes, PlannedCleanup
from coreloop.learn.knowledge.run import (
    BackfillRequest,
    backfill_blog,
    clean_up,
    export_knowledge,
    look_up_bullets,
    look_up_insights,
    project_database,
    project_notes,
    prune_playbook,
)
from old_knowledge import bullet, insight, make_old, rows_of

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)
AT = NOW.timestamp()
POST = "---\nstockCode: '990001'\nai:\n  verdict: 좋다\n---\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, Settings())


@pytest.fixture
def database(workspace: Workspace) -> Path:
    """An old database: two insights, a good bullet and a weak one."""
    return make_old(
        workspace.knowledge_file,
        insights=[insight(1, at=AT, source="live"), insight(2, at=AT)],
        playbook=[bullet(1, at=AT, successes=6), bullet(2, at=AT, failures=3, successes=0)],
    )


def test_only_the_projects_own_database_is_restricted_to_its_owner(
    workspace: Workspace, database: Path, tmp_path: Path
):
    database.chmod(0o644)
    elsewhere = tmp_path / "x.db"
    elsewhere.touch(0o644)
    assert project_database(workspace, elsewhere) == elsewhere
    assert stat.S_IMODE(database.stat().st_mode) == 0o644
    assert project_database(workspace) == database
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o644


def test_insights_and_bullets_are_looked_up_and_exported(database: Path, tmp_path: Path):
    (code,) = {row["stock_code"] for row in rows_of(database, "insights")[:1]}
    assert {insight.stock_code for insight in look_up_insights(database, stock_code=code, now=NOW)} == {code}
    assert len(look_up_insights(database, sector="", now=NOW)) == 2
    intent = rows_of(database, "playbook")[0]["intent"]
    assert [row.bullet for row in look_up_bullets(database, intent)] == ["BULLET1.", "BULLET2."]
    written = export_knowledge(database, tmp_path / "out")
    assert {path.name: rows for path, rows in written.items()} == {"insights.json": 2, "playbook.json": 2}


def test_pruning_without_confirm_only_lists(database: Path):
    before = database.read_bytes()
    assert [weak.bullet for weak in prune_playbook(database, confirm=False)] == ["BULLET2."]
    assert database.read_bytes() == before
    assert [weak.bullet for weak in prune_playbook(database, confirm=True)] == ["BULLET2."]
    assert prune_playbook(database, confirm=True) == []


def test_notes_are_named_by_the_data_folder_and_a_missing_folder_is_reported(tmp_path: Path):
    workspace = Workspace(tmp_path, Settings(data_dir="d"))
    assert project_notes(workspace) == Notes(frozenset(), "d/dart/auditAnalysis", workspace.audit_notes_dir)
    workspace.audit_notes_dir.mkdir(parents=True)
    (workspace.audit_notes_dir / "990001.md").touch()
    assert project_notes(workspace) == Notes(frozenset({"990001"}), "d/dart/auditAnalysis")


def test_a_cleanup_without_confirm_counts_the_effects(workspace: Workspace, database: Path):
    notes = project_notes(workspace)
    before = database.read_bytes()
    planned = clean_up(workspace, database, notes, confirm=False, now=NOW)
    assert database.read_bytes() == before
    workspace.archive_dir.mkdir(mode=0o755)
    cleaned = clean_up(workspace, database, notes, confirm=True, now=NOW)
    assert isinstance(planned, PlannedCleanup)
    assert isinstance(cleaned, Cleaned)
    assert (planned.effects, cleaned.residue) == (cleaned.effects, None)
    assert cleaned.archive.parent == workspace.archive_dir
    assert stat.S_IMODE(workspace.archive_dir.stat().st_mode) == 0o700


def test_a_backfill_compares_then_writes_then_changes_nothing(tmp_path: Path):
    (tmp_path / "blog").mkdir()
    (tmp_path / "blog" / "index.md").write_text(POST, encoding="utf-8")
    database = tmp_path / "x.db"

    def backfill(*, confirm: bool) -> tuple[int, int]:
        request = BackfillRequest(
            blog_root=tmp_path / "blog",
            pattern="*.md",
            project=tmp_path,
            database=database,
            confirm=confirm,
        )
        done = backfill_blog(request, now=NOW)
        return len(done.new), len(done.same)

    assert backfill(confirm=False) == (1, 0)
    assert not database.exists()
    assert backfill(confirm=True) == (1, 0)
    assert backfill(confirm=True) == (0, 1)
    assert [row["evidence_ref"] for row in rows_of(database, "insights")] == ["blog:blog/index.md"]


def test_without_a_database_there_is_nothing_to_look_up_or_clean(workspace: Workspace):
    missing = workspace.knowledge_file
    with pytest.raises(WorkspaceError, match="does not exist"):
        look_up_bullets(missing, "x")
    for confirm in (False, True):
        with pytest.raises(WorkspaceError, match="does not exist"):
            clean_up(workspace, missing, project_notes(workspace), confirm=confirm, now=NOW)
    assert not missing.parent.exists()
