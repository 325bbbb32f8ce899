"""``propose-axis`` as a use case: a document if every gate is passed, else nothing."""

from datetime import UTC, datetime

import pytest

from coreloop.base.errors import NoRepositoryError
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.promote.axis.axis_gates import AxisRequest, Thresholds
from coreloop.promote.axis.run import run_propose_axis
from promoting import Project

NOW = datetime(2026, 4, 25, 9, 30, tzinfo=UTC)
NOTHING = Thresholds(phase_r_merges=0, phase_f_caveats=0, age_days=0)


def test_a_gate_that_is_not_passed_writes_nothing(project: Project) -> None:
    result = run_propose_axis(open_workspace(project.root), AxisRequest(engine="analysis"), now=NOW)
    assert (result.case.passed, result.path, result.written) == (False, None, False)
    assert not (project.root / "docs").exists()


def test_a_document_is_written_once_a_day(project: Project) -> None:
    workspace = open_workspace(project.root)
    request = AxisRequest(engine="analysis", axis="수익성", thresholds=NOTHING)
    first, second = (run_propose_axis(workspace, request, now=NOW) for _ in range(2))
    assert first.path == second.path
    assert (first.written, second.written) == (True, False)
    assert first.path is not None
    assert "## 2026-04-25: analysis, axis 수익성" in first.path.read_text(encoding="utf-8")


@pytest.mark.usefixtures("quiet_git")
def test_without_a_repository_there_is_no_history(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(NoRepositoryError):
        run_propose_axis(Workspace(tmp_path, Settings()), AxisRequest(engine="analysis"), now=NOW)
