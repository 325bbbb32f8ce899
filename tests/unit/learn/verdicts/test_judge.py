"""Verdicts: how they are written, which verdict counts, their effect, and damaged files."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from coreloop.base.errors import UsageError
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.learn.verdicts.judge import judge
from coreloop.learn.verdicts.proposal_state import kept_states, pending
from coreloop.observe.judgments import HumanVerdict, VerdictLetter, read_verdicts
from logs import record, write_log
from promoting import KEY, statement, write_candidates
from promoting import candidate as a_candidate

NOON = datetime(2026, 4, 25, 12, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Requests and a candidate to judge."""
    workspace = Workspace(tmp_path, Settings())
    write_log(
        workspace.records_dir / "a.jsonl", [record(request_id="req-1"), record(request_id="imported/7")]
    )
    write_candidates(workspace.candidates_dir / "2026-04-25-candidates.json", a_candidate())
    return workspace


def give(
    workspace: Workspace, item_id: str, verdict: str, *, at: datetime = NOON, by: str = "Ann", cause: str = ""
) -> HumanVerdict:
    return judge(workspace, item_id, VerdictLetter(verdict), cause=cause, by=by, now=at)[0]


# --- giving a verdict ------------------------------------------------------------------------------


def test_a_verdict_is_one_line_of_the_utc_day_and_the_records_stay_as_they_are(workspace: Workspace):
    log = workspace.records_dir / "a.jsonl"
    before = log.read_bytes()
    late = datetime(2026, 4, 26, 3, tzinfo=timezone(timedelta(hours=9)))
    _, path = judge(workspace, "req-1", VerdictLetter.VIOLATION, cause="가격\n예측", by="Ann", now=late)
    assert path == workspace.judgments_dir / "2026-04-25.jsonl"
    assert path.read_text(encoding="utf-8").count("\n") == 1
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "schema_version": 1,
        "id": "req-1",
        "key": None,
        "verdict": "V",
        "cause": "가격\n예측",
        "judged_at": "2026-04-25T18:00:00+00:00",
        "judged_by": "Ann",
    }
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert log.read_bytes() == before


@pytest.mark.parametrize("item_id", ["req-2", "", "cand-2026-04-25-002", "ce-2026-04-24-001", KEY, "cand-"])
def test_an_unknown_id_is_refused_and_nothing_is_written(item_id: str, workspace: Workspace):
    with pytest.raises(UsageError, match="copy an id from there"):
        give(workspace, item_id, "P")
    assert not workspace.judgments_dir.exists()


def test_a_candidate_that_a_later_run_of_the_day_left_out_can_still_be_judged(workspace: Workspace):
    path = workspace.candidates_dir / "2026-04-25-candidates.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**document, "candidates": [], "ids": {KEY: "cand-2026-04-25-001"}}))
    assert give(workspace, "cand-2026-04-25-001", "P").key == KEY


# --- which verdict counts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "is_rejected"),
    [("V", True), ("C", True), ("P", False), ("T", False), ("VP", False), ("CT", False), ("PV", True)],
)
def test_v_and_c_reject_a_key_until_p_or_t(verdicts: str, is_rejected: bool, workspace: Workspace):
    for hours, verdict in enumerate(verdicts):
        give(workspace, "cand-2026-04-25-001", verdict, at=NOON + timedelta(hours=hours))
    judgments = read_verdicts(workspace.judgments_dir)
    assert judgments.rejected() == (frozenset({KEY}) if is_rejected else frozenset())
    assert judgments.of_requests() == {}


# --- damaged files ---------------------------------------------------------------------------------


def test_a_broken_line_is_skipped_and_counted(workspace: Workspace):
    give(workspace, "req-1", "P")
    with (workspace.judgments_dir / "2026-04-25.jsonl").open("ab") as file:
        file.write(b'{"torn\n[]\n')
    give(workspace, "req-1", "V")
    judgments = read_verdicts(workspace.judgments_dir)
    assert len(judgments.given) == 2
    assert judgments.skipped == {"torn or not JSON": 1, "not a judgment": 1}


# --- what waits ------------------------------------------------------------------------------------


def test_proposals_wait_by_age_until_they_have_a_verdict(tmp_path: Path):
    workspace = Workspace(tmp_path, Settings())
    path = workspace.candidates_dir / "2026-04-25-candidates.json"
    write_candidates(path, statement(id="cand-2026-04-25-002"), a_candidate(id="cand-2026-04-25-001"))
    waiting = pending(kept_states(workspace, read_verdicts(workspace.judgments_dir)))
    assert [one.id for one in waiting] == ["cand-2026-04-25-001", "cand-2026-04-25-002"]
    assert waiting[1].text == "analysis: company: from show().code"
    give(workspace, waiting[0].id, "P")
    left = pending(kept_states(workspace, read_verdicts(workspace.judgments_dir)))
    assert [one.id for one in left] == ["cand-2026-04-25-002"]
