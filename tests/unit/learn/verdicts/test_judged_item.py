"""The queue of proposals: the oldest first, and those that leave it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.learn.verdicts.judge import judge
from coreloop.learn.verdicts.judged_item import read_queue
from coreloop.observe.judgments import VerdictLetter
from promoting import candidate, statement, write_candidates

NOW = datetime(2026, 4, 26, 12, tzinfo=UTC)


def test_proposals_wait_by_age_until_they_have_a_verdict(tmp_path: Path):
    workspace = Workspace(tmp_path, Settings())
    path = workspace.candidates_dir / "2026-04-25-candidates.json"
    write_candidates(path, statement(id="cand-2026-04-25-002"), candidate(id="cand-2026-04-25-001"))
    waiting = read_queue(workspace, now=NOW).waiting
    assert [(one.id, one.reason) for one in waiting] == [
        ("cand-2026-04-25-001", "proposed 1 day ago, never judged"),
        ("cand-2026-04-25-002", "proposed 1 day ago, never judged"),
    ]
    assert waiting[1].text == "analysis: company: from show().code"
    later = NOW - timedelta(days=1)
    judge(workspace, waiting[0].id, VerdictLetter.PASS, cause=None, by="Ann", now=later)
    left = read_queue(workspace, now=later).waiting
    assert [(one.id, one.reason) for one in left] == [("cand-2026-04-25-002", "proposed today, never judged")]
