"""Each alarm is raised at its threshold and not below it."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coreloop.admin.checks.alarms import find_alarms
from coreloop.admin.status.log_figures import Failing, Log, Sieved
from coreloop.admin.status.promotions import OpenPromotion, Promotions
from coreloop.admin.status.stability import Flaw, Stability, StabilityGate
from coreloop.admin.status.status import Standing, Status, next_step
from coreloop.base.date_range import Days
from coreloop.learn.proposals.entry import Statement
from coreloop.learn.proposals.proposal_files import Proposed
from coreloop.learn.verdicts.proposal_state import ProposalState, Standpoint
from promoting import statement
from rows import each_row

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
TODAY = NOW.date()
PAGE = (Path(__file__).parents[4] / "docs" / "how-to" / "operate.md").read_text(encoding="utf-8")
GATES = (
    StabilityGate("clean merges in a row", 2, 30, False),
    StabilityGate("reverts in 90 days", 0, 0, True),
    StabilityGate("lost", 0, 0, True),
)
QUIET = Status(
    generated_at=NOW,
    how_to_record="import newer traces: dartlab-coreloop import PATH",
    log=Log(
        n_records=300,
        n_days=30,
        first=date(2026, 3, 27),
        newest=TODAY,
        days=Days(date(2026, 3, 26), TODAY),
        n_in_window=300,
        n_patterns=24,
    ),
    sieved=None,
    candidates=Standing(pending=0, oldest=None, promoted=3, rejected=0),
    counterexamples=Standing(pending=0, oldest=None, promoted=0, rejected=0),
    promotions=Promotions(
        base="main",
        merged=3,
        by_phase={"R": 3, "F": 0},
        reverted=0,
        newest=NOW,
        open=(),
        stability=Stability(GATES, ()),
    ),
)
NO_CANDIDATE = Standing(pending=0, oldest=None, promoted=0, rejected=0)

FELL = Sieved(0, {"min_repeat": 20, "min_success_rate": 4, "steps_not_recorded": 0})


def test_without_an_alarm_a_line_that_waits_is_promoted_next() -> None:
    line = msgspec.convert(statement(), Statement)
    path, todo = Path("a.json").resolve(), "dartlab-coreloop promote "
    for is_listed, chosen in ((True, f"--tool {line.tool}"), (False, f"--candidate a.json --id {line.id}")):
        proposed = Proposed(line.id, "aa", TODAY, line, path, is_listed)
        waiting = Standpoint("aa", ProposalState.WAITING, proposed, proposed)
        assert next_step(replace(QUIET, states=(waiting,))) == todo + chosen


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def log(**changes: Any) -> Status:
    assert QUIET.log is not None
    return replace(QUIET, log=replace(QUIET.log, **changes))


def waiting(*days: float) -> Status:
    assert QUIET.promotions is not None
    drafts = tuple(OpenPromotion(f"skill/caveat-{n}", ago(n)) for n in sorted(days, reverse=True))
    return replace(QUIET, promotions=replace(QUIET.promotions, open=drafts))


def stability(*figures: int, flaws: tuple[Flaw, ...] = ()) -> Status:
    assert QUIET.promotions is not None
    names = ("clean merges in a row", "reverts in 90 days", "docstrings that lost a section")
    gates = tuple(StabilityGate(name, n, 0, n == 0) for name, n in zip(names, figures, strict=True))
    return replace(QUIET, promotions=replace(QUIET.promotions, stability=Stability(gates, flaws)))


def pending(oldest: date | None) -> Standing:
    return Standing(pending=1, oldest=oldest, promoted=0, rejected=0)


def test_a_working_loop_raises_no_alarm() -> None:
    assert find_alarms(QUIET) == ()


SILENT = [
    pytest.param(log(newest=ago(6).date()), id="six days without a record: a long weekend"),
    pytest.param(log(n_records=0, n_in_window=0, newest=None, first=None), id="an empty log: a new user"),
    pytest.param(replace(QUIET, log=None, promotions=None), id="nothing at all"),
    pytest.param(replace(QUIET, sieved=Sieved(0, {"min_repeat": 1, "known": 1})), id="some are known"),
    pytest.param(replace(QUIET, candidates=pending(ago(30).date())), id="a candidate of 30 days ago"),
    pytest.param(
        replace(QUIET, candidates=replace(NO_CANDIDATE, rejected=1)), id="a candidate that was rejected"
    ),
    pytest.param(waiting(13.9, 1), id="a draft of not yet 14 days"),
    pytest.param(replace(QUIET, reached={"aa": False}), id="one refused candidate"),
    pytest.param(replace(QUIET, reached={"aa": False, "bb": True, "cc": False}), id="one that reached"),
    pytest.param(stability(0, 0, 0), id="a project without merges"),
    pytest.param(
        stability(0, 0, 0, flaws=(Flaw("f" * 40, "cand-1", ago(91), "it was reverted"),)), id="an old flaw"
    ),
]


@each_row("status", SILENT)
def test_no_alarm(status: Status) -> None:
    assert find_alarms(status) == ()


ALARMS = [
    (log(newest=ago(2).date(), longest_gap=1), "no_record", "2 days: the newest is of 2026-04-23"),
    (
        log(failing=(Failing("book", TODAY, 37, 100, 5, 400),)),
        "failing",
        "book 37 of 100 calls on 2026-04-25, before 5 of 400",
    ),
    (log(newest=ago(7).date()), "no_record", "7 days: the newest is of 2026-04-18"),
    (log(n_future=2, last=date(2031, 1, 1)), "future", "the future: 2, up to 2031-01-01"),
    (
        log(n_in_window=0),
        "outside_window",
        "no record in the window: 300 in the log, 2026-03-27 to 2026-04-25",
    ),
    (
        log(skipped={"torn or not JSON": 2, "not UTF-8": 1}),
        "torn_lines",
        "torn lines: 3 (torn or not JSON 2, not UTF-8 1)",
    ),
    (
        replace(QUIET, dropped={"write_ENOSPC": 1200, "torn_write": 1}),
        "dropped",
        "records were dropped: 1,201 (write_ENOSPC 1,200, torn_write 1)",
    ),
    (replace(log(n_in_window=30), sieved=FELL), "no_candidate", "30 in the window, 24 sequences"),
    (
        replace(QUIET, candidates=pending(ago(31).date())),
        "pending",
        "for more than 30 days: from pattern since 2026-03-25",
    ),
    (replace(QUIET, counterexamples=pending(ago(40).date())), "pending", ": from refine since 2026-03-16"),
    (waiting(14.1, 20, 1), "unmerged", "unmerged for more than 14 days: 2"),
    (
        replace(QUIET, reached={"aa": False, "bb": False}),
        "reach",
        "refuses every proposal: all 2 that were checked",
    ),
    (stability(29, 1, 0), "stability", "lost: reverts in 90 days 1"),
    (stability(30, 0, 1), "stability", "lost: docstrings that lost a section 1"),
    (
        stability(0, 0, 0, flaws=(Flaw("f" * 40, "cand-1", ago(89), "it was reverted"),)),
        "stability",
        "lost: unclean merges in 90 days 1",
    ),
]


@each_row(("status", "kind", "text"), ALARMS)
def test_an_alarm_is_raised_alone_and_says_what_to_do(status: Status, kind: str, text: str) -> None:
    (alarm,) = find_alarms(status)
    assert alarm.kind == kind
    assert text in alarm.text
    assert alarm.todo
    assert max(len(alarm.text), len(alarm.todo)) <= 120


@each_row(("status", "kind", "text"), ALARMS)
def test_operations_has_a_row_for_every_alarm(status: Status, kind: str, text: str) -> None:
    (alarm,) = find_alarms(status)
    head = re.sub(r"\d+", "N", alarm.text.partition(":")[0])
    assert f"\n| {head} | `{kind}` |" in PAGE
