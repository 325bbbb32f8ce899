"""``promote --tool`` for a tool whose statements were decided, or that never had a statement."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.errors import RefusedError
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.observe.judgments import HumanVerdict, VerdictLetter, append_verdict
from coreloop.promote.run import select_tool
from promoting import (
    counterexample,
    hush_git,
    make_project,
    statement,
    write_candidates,
    write_counterexamples,
)

OLD = statement(id="cand-2026-04-25-001")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A project whose statement is in an older file; the newest file leaves it out, but has a failure."""
    hush_git(monkeypatch)
    project = make_project(tmp_path)
    write_candidates(project.candidates, OLD)
    write_candidates(project.candidates.with_name("2026-04-26-candidates.json"), statement(tool="show"))
    folder = project.root / "data/audit/counterexamples"
    write_counterexamples(folder / "2026-04-26-counterexamples.json", counterexample(suggested_append=None))
    return open_workspace(project.root)


def test_a_rejected_statement_is_refused_with_who_rejected_it(workspace: Workspace):
    judgment = HumanVerdict(
        id=OLD["id"],
        key=OLD["key"],
        verdict=VerdictLetter.VIOLATION,
        cause=None,
        judged_at=datetime(2026, 4, 26, tzinfo=UTC),
        judged_by="Ann",
    )
    append_verdict(workspace.judgments_dir, judgment)
    with pytest.raises(RefusedError, match=rf"waits: {OLD['id']}: rejected by Ann: V \(violation\)"):
        select_tool(workspace, "analysis", None)


def test_a_tool_without_a_line_is_not_suggested_to_itself(workspace: Workspace):
    (workspace.candidates_dir / "2026-04-25-candidates.json").unlink()
    with pytest.raises(RefusedError, match="about analysis waits: run refine when more is recorded"):
        select_tool(workspace, "analysis", None)


def test_a_line_that_only_an_older_file_has_is_named_with_how_to_promote_it(workspace: Workspace):
    path = workspace.candidates_dir / "2026-04-25-candidates.json"
    with pytest.raises(RefusedError, match=f"{OLD['id']}: promote it alone, with --candidate {path} --id"):
        select_tool(workspace, "analysis", None)


def test_a_tool_without_a_definition_is_refused_with_that(workspace: Workspace):
    document = counterexample(tool="pay", suggested_append=None)
    folder = workspace.counterexamples_dir
    write_counterexamples(folder / "2026-04-27-counterexamples.json", document)
    with pytest.raises(RefusedError, match="about pay waits: no definition of that name; name it under"):
        select_tool(workspace, "pay", None)
