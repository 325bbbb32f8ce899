"""The queue of items to judge: near the gate, waiting, conflicting, and items that leave it."""

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Gates
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import merge
from coreloop.learn.proposals.candidates import SECTION, candidate_key
from coreloop.learn.verdicts.judge import Proposed
from coreloop.learn.verdicts.proposal_state import GitPromotions, read_states
from coreloop.learn.verdicts.queue import Waiting, WaitingKind, find_waiting
from coreloop.observe.judgments import HumanVerdict, HumanVerdicts, VerdictLetter
from logs import call, failed, record, repeated, word, write_log

TODAY = date(2026, 4, 26)
DAYS = Days(date(2026, 4, 20), TODAY)
NOON = datetime.fromisoformat("2026-04-26T12:00:00+00:00")
KEY = candidate_key("FIN-profitability-KR", "analysis(axis=수익성)", SECTION)
BAD = {"error": "ValueError: no"}


def failures(count: int, **changes: Any) -> list[dict[str, Any]]:
    return [
        record(
            **{
                **BAD,
                "request_id": f"req-bad-{index}",
                "question": f"나쁜 {word(index)} 것{word(index)}",
                **changes,
            }
        )
        for index in range(count)
    ]


def judged(thing: str, verdict: str, *, by: str = "Ann", is_key: bool = False) -> HumanVerdict:
    return HumanVerdict(
        id="cand-x" if is_key else thing,
        key=thing if is_key else None,
        verdict=VerdictLetter(verdict),
        cause="because",
        judged_at=NOON,
        judged_by=by,
    )


@pytest.fixture
def waiting(tmp_path: Path) -> Any:
    def waiting(
        records: list[dict[str, Any]],
        *judgments: HumanVerdict,
        gate: Gates | None = None,
        proposed: tuple[Proposed, ...] = (),
        known: frozenset[str] = frozenset(),
    ) -> list[Waiting]:
        write_log(tmp_path / "a.jsonl", records)
        given = HumanVerdicts(judgments)
        settings = MineSettings(verdicts=given.of_requests())
        return find_waiting(
            merge(read_folder(tmp_path, settings), DAYS),
            gate or Gates(),
            judgments=given,
            states=read_states(proposed, given, GitPromotions(known=known)),
            today=TODAY,
        )

    return waiting


# --- near the gate ---------------------------------------------------------------------------------


def test_a_pattern_one_success_short_shows_the_request_that_failed(waiting: Any):
    assert waiting(repeated(8) + failures(1)) == [
        Waiting(
            WaitingKind.NEAR,
            "req-bad-0",
            "failed; 8 of 9 succeeded, 1 more would pass the gate: analysis(axis=수익성)",
            "나쁜 가 것가",
        )
    ]


@pytest.mark.parametrize(
    ("good", "bad", "gate", "expected"),
    [
        pytest.param(8, 0, Gates(), 0, id="passed"),
        pytest.param(8, 1, Gates(), 1, id="one short"),
        pytest.param(8, 2, Gates(), 2, id="two short"),
        pytest.param(8, 3, Gates(), 0, id="three short"),
        pytest.param(1, 1, Gates(), 0, id="too few requests in any case"),
        pytest.param(0, 2, Gates(min_repeat=2, min_unique_questions=2), 2, id="no success yet"),
        pytest.param(8, 2, Gates(min_success_rate=0.9), 2, id="one short of 0.9: either failure counts"),
        pytest.param(8, 2, Gates(min_success_rate=0.8), 0, id="0.8 is enough"),
        pytest.param(80, 12, Gates(min_success_rate=0.9), 0, id="three short of 0.9"),
        pytest.param(80, 11, Gates(min_success_rate=0.9), 3, id="of eleven failures three are shown"),
    ],
)
def test_one_or_two_missing_successes_are_near(good: int, bad: int, gate: Gates, expected: int, waiting: Any):
    items = waiting(repeated(good) + failures(bad), gate=gate)
    assert len(items) == expected
    assert {item.kind for item in items} <= {WaitingKind.NEAR}


def test_the_fewest_missing_successes_come_first(waiting: Any):
    other = {"tool_calls": [call("show")]}
    two_short = repeated(9, **other) + failures(2, **other)
    one_short = repeated(4) + failures(1, request_id="req-first")
    assert waiting(two_short + one_short)[0].id == "req-first"


def test_a_promoted_or_rejected_pattern_is_not_listed(waiting: Any):
    records = repeated(8) + failures(1)
    assert waiting(records, known=frozenset({KEY})) == []
    assert waiting(records, judged(KEY, "V", is_key=True)) == []


@pytest.mark.parametrize("verdict", ["V", "C"])
def test_a_judged_failure_is_not_listed_nor_a_failure_that_alone_cannot_help(verdict: str, waiting: Any):
    assert waiting(repeated(8) + failures(1), judged("req-bad-0", verdict)) == []
    assert waiting(repeated(8) + failures(2), judged("req-bad-0", verdict)) == []
    assert waiting(repeated(8) + failures(1, judgment={"verdict": verdict})) == []


def test_a_pass_brings_a_pattern_nearer(waiting: Any):
    (item,) = waiting(repeated(8) + failures(2), judged("req-bad-0", "T"))
    assert (item.id, item.reason.split(":")[0]) == (
        "req-bad-1",
        "failed; 9 of 10 succeeded, 1 more would pass the gate",
    )


@pytest.mark.parametrize("request_id", [None, ""])
def test_a_failure_without_an_id_cannot_be_judged(request_id: str | None, waiting: Any):
    assert waiting(repeated(8) + failures(1, request_id=request_id)) == []


def test_days_outside_the_window_do_not_count(waiting: Any):
    old = failures(1, ts="2026-04-01T00:00:00+00:00", request_id="req-old")
    assert [item.id for item in waiting(repeated(8) + failures(1) + old)] == ["req-bad-0"]


def test_a_recovered_failure_and_another_pattern_s_failure_are_not_shown(waiting: Any):
    recovered = record(request_id="req-recovered", tool_calls=[failed(), call(args={"axis": "수익성"})])
    other = failures(1, request_id="req-other", tool_calls=[call("show")])
    assert [item.id for item in waiting(repeated(8) + failures(1) + [recovered] + other)] == ["req-bad-0"]


@pytest.mark.parametrize(
    ("n", "is_near"), [pytest.param(3, True, id="as many as needed"), pytest.param(4, False, id="more")]
)
def test_a_candidate_that_only_just_passed_is_near(n: int, is_near: bool, waiting: Any):
    proposed = (Proposed("cand-1", KEY, TODAY, "steps"),)
    expected = Waiting(
        WaitingKind.NEAR,
        "cand-1",
        "only just passed: 3 requests, 3 different questions; proposed today",
        "analysis(axis=수익성)",
    )
    assert (waiting(repeated(n), proposed=proposed) == [expected]) is is_near


def test_a_judged_candidate_is_not_near(waiting: Any):
    proposed = (Proposed("cand-1", KEY, TODAY),)
    assert waiting(repeated(3), judged(KEY, "P", is_key=True), proposed=proposed) == []


# --- waiting ----------------------------------------------------------------------------------


def test_pending_candidates_are_listed_oldest_first_with_their_newest_id(waiting: Any):
    ago = [TODAY - timedelta(days=days) for days in (12, 5, 1)]
    proposed = (
        Proposed("cand-12-001", "a", ago[0], "a steps"),
        Proposed("cand-5-001", "a", ago[1], "a steps"),
        Proposed("ce-5-001", "b", ago[1]),
        Proposed("cand-1-001", "c", ago[2]),
        Proposed("cand-today", "d", TODAY),
    )
    assert waiting([], proposed=proposed) == [
        Waiting(WaitingKind.PENDING, "cand-5-001", "proposed 12 days ago, never judged", "a steps"),
        Waiting(WaitingKind.PENDING, "ce-5-001", "proposed 5 days ago, never judged", ""),
        Waiting(WaitingKind.PENDING, "cand-1-001", "proposed 1 day ago, never judged", ""),
        Waiting(WaitingKind.PENDING, "cand-today", "proposed today, never judged", ""),
    ]


@pytest.mark.parametrize("verdict", "PTCV")
def test_a_judged_proposal_is_not_pending(verdict: str, waiting: Any):
    proposed = (Proposed("cand-1", "a", date(2026, 4, 1)),)
    assert waiting([], judged("a", verdict, is_key=True), proposed=proposed) == []


def test_a_promoted_proposal_is_not_pending(waiting: Any):
    proposed = (Proposed("cand-1", "a", date(2026, 4, 1)),)
    assert waiting([], proposed=proposed, known=frozenset({"a"})) == []


def test_an_id_is_listed_once_for_its_first_reason(waiting: Any):
    (item,) = waiting(repeated(3), proposed=(Proposed("cand-1", KEY, date(2026, 4, 1)),))
    assert item.kind is WaitingKind.NEAR
    assert item.reason.endswith("proposed 25 days ago")


# --- conflicting -----------------------------------------------------------------------------------


def asked_again(**changes: Any) -> list[dict[str, Any]]:
    """A question asked three times, in two spellings: a success, then two failures."""
    bad = {**BAD, "question": "삼성전자  수익성, 분석해줘!"}
    return [
        record(),
        record(**bad, request_id="req-newest", ts="2026-04-25T11:00:00Z"),
        record(**{**bad, "request_id": "req-bad", **changes}),
    ]


def test_a_question_that_succeeded_and_failed_with_the_same_steps_is_conflicting(waiting: Any):
    assert waiting(asked_again()) == [
        Waiting(
            WaitingKind.CONFLICT,
            "req-newest",
            "failed; the same question with the same steps succeeded 1 time and failed 2 times: "
            "analysis(axis=수익성)",
            "삼성전자  수익성, 분석해줘!",
        )
    ]


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([record(), record(**BAD, question="다른 질문")], id="another question"),
        pytest.param([record(), record(**BAD, tool_calls=[call("show")])], id="other steps"),
        pytest.param([record(tool_calls=[]), record(**BAD, tool_calls=[])], id="no steps"),
        pytest.param([record(question=None), record(**BAD, question=None)], id="questions not recorded"),
        pytest.param([record(), record(error="429")], id="a rate limit"),
        pytest.param([record(), record(**BAD, judgment={"verdict": "V"})], id="judged in the record"),
    ],
)
def test_no_conflict(records: list[dict[str, Any]], waiting: Any):
    assert waiting(records) == []


def test_a_conflict_ends_when_its_failures_are_judged(waiting: Any):
    newest = judged("req-newest", "V")
    assert [item.id for item in waiting(asked_again(), newest)] == ["req-bad"]
    assert waiting(asked_again(), newest, judged("req-bad", "T")) == []


def test_people_who_disagree_are_conflicting(waiting: Any):
    assert waiting([], judged("req-1", "V"), judged("req-1", "P", by="Bob")) == [
        Waiting(
            WaitingKind.CONFLICT,
            "req-1",
            "Ann said V (violation) but Bob said P (pass) (because); the newest counts",
            "",
        )
    ]


def test_the_queue_is_empty_without_records(waiting: Any):
    assert waiting([]) == []


def test_the_real_episodes_have_requests_near_the_gate_and_one_conflict(
    waiting: Any, tau_log: Path, tmp_path
):
    (tmp_path / "tau.jsonl").write_bytes(tau_log.read_bytes())
    settings = MineSettings(min_chunk_len=0)
    items = find_waiting(
        merge(read_folder(tmp_path, settings), Days(date(2025, 7, 1), TODAY)),
        Gates(),
        judgments=HumanVerdicts(),
        states=(),
        today=TODAY,
    )
    assert items[0].id == "req-tau-retail-l1-4o-t027-27-0027"
    assert "38 of 39 succeeded" in items[0].reason
    assert [item.id for item in items if item.kind is WaitingKind.CONFLICT] == [
        "req-tau-retail-l0-4o-t063-63-0063"
    ]
