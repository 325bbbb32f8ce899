"""Who says stop: every row of the table, and its order."""

from pathlib import Path
from typing import Any

import msgspec

from coreloop.runs import events as happened
from coreloop.runs.amounts import Amount
from coreloop.runs.decide import Continue, Stop, decide
from coreloop.runs.events import Event
from coreloop.runs.limits import AnswerReserve, Limits
from happenings import AT, after, created, fold
from rows import each_row


def stopped(reason: str) -> Stop:
    return Stop("stopped", reason)


def test_the_page_on_runs_has_the_rows_in_their_order():
    page = (Path(__file__).parents[3] / "docs" / "explanation" / "runs.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2:4] for line in page.splitlines() if line.startswith("| ")]
    described = [(status.strip(" `"), reason.strip(" `")) for status, reason in rows]
    decided = table_of_a_run_over_all_limits()
    assert [row for row in described if row in decided] == decided


def table_of_a_run_over_all_limits() -> list[tuple[str, str]]:
    """Statuses and reasons in the order in which limits are taken off a run that has passed them all."""
    found = []
    limits = Limits(1, 0.0, 0.0, 0, 0.0, 0, 0, 1)
    events = [
        SURE,
        failed(),
        happened.UntilMet(at=AT),
        PLANNED,
        finding("q1", "s"),
        finding("q2", "s"),
        committed(1),
    ]
    cures: dict[str | None, Any] = {
        None: lambda: events.remove(PLANNED),
        "failures": lambda: events.remove(failed()),
        "until": lambda: events.remove(happened.UntilMet(at=AT)),
    }
    while isinstance(stop := decide(fold([created(limits=limits), *events]), AT), Stop) and len(found) < 20:
        found.append((stop.status, stop.reason or ""))
        if stop.reason in cures:
            cures[stop.reason]()
        elif stop.reason == "sufficient":
            events.remove(SURE)
        elif stop.reason == "max_iterations":
            events.remove(committed(1))
        else:
            limits = msgspec.structs.replace(
                limits, **{{"deadline": "deadline_s"}.get(str(stop.reason), str(stop.reason)): None}
            )
    return found


def committed(number: int) -> happened.IterationCommitted:
    return happened.IterationCommitted(at=AT, iteration=number)


def cost(microusd: int = 0, tokens: int = 0) -> happened.StepCommitted:
    return happened.StepCommitted(at=AT, name="ask", key="k", microusd=microusd, tokens=tokens)


def failed() -> happened.StepFailed:
    return happened.StepFailed(at=AT, name="ask", key="k", attempt=1, error="no answer")


SURE = happened.Reflected(at=AT, sufficient=True, confidence=0.99)
PLANNED = happened.Planned(at=AT, sub_questions=("a", "b"))


def finding(part: str, source: str) -> happened.FindingRecorded:
    return happened.FindingRecorded(at=AT, sub_question=part, text="t", source=source)


@each_row(
    ("fields", "later", "expected"),
    [
        ({}, [], Continue()),
        ({}, [committed(99)], Continue()),
        ({}, [committed(100)], stopped("max_iterations")),
        ({}, [cost(9_999_999)], Continue()),
        ({}, [cost(10_000_000)], Stop("budget_exceeded", "usd")),
        ({"limits": Limits(usd=None)}, [cost(99_000_000)], Continue()),
        (
            {},
            [happened.Reserved(at=AT, reservation="r", microusd=10_000_000)],
            Stop("budget_exceeded", "usd"),
        ),
        ({"limits": Limits(answer=AnswerReserve(usd=1))}, [cost(9_000_000)], Stop("budget_exceeded", "usd")),
        ({"limits": Limits(tokens=100)}, [cost(tokens=99)], Continue()),
        ({"limits": Limits(tokens=100)}, [cost(tokens=100)], stopped("tokens")),
        (
            {"limits": Limits(tokens=100, answer=AnswerReserve(tokens=30))},
            [cost(tokens=70)],
            stopped("tokens"),
        ),
        (
            {"limits": Limits(queries=1)},
            [happened.Searched(at=AT, query="q", outcome="empty")],
            stopped("queries"),
        ),
        ({"limits": Limits(sources=2)}, [happened.SourceRead(at=AT, source="a")] * 2, Continue()),
        ({"limits": Limits(sources=1)}, [happened.SourceRead(at=AT, source="a")], stopped("sources")),
        ({}, [failed()] * 4, Continue()),
        ({}, [failed()] * 5, stopped("failures")),
        ({}, [*[failed()] * 4, cost(), failed()], Continue()),
        ({}, [happened.UntilMet(at=AT)], stopped("until")),
        ({}, [SURE], stopped("sufficient")),
        ({"mode": "exhaust"}, [SURE], Continue()),
        ({}, [PLANNED, finding("q1", "s"), finding("q2", "")], Continue()),
        ({"mode": "exhaust"}, [PLANNED, finding("q1", "s"), finding("q2", "s")], Stop("completed")),
        ({}, [happened.Paused(at=AT)], Stop("paused")),
        ({}, [happened.Paused(at=AT), happened.Resumed(at=AT)], Continue()),
        ({}, [happened.Paused(at=AT), happened.StopRequested(at=AT)], Stop("stopped_by_user")),
        ({}, [happened.Ended(at=AT, status="stopped", reason="until"), SURE], stopped("until")),
        ({"limits": Limits(max_iterations=1)}, [SURE, committed(1)], stopped("max_iterations")),
    ],
)
def test_a_row_of_the_table(fields: dict[str, Any], later: list[Event], expected: Continue | Stop):
    assert decide(fold([created(**fields), *later]), AT) == expected


@each_row(("seconds", "expected"), [(49, Continue()), (50, stopped("deadline"))])
def test_the_deadline_keeps_time_for_the_answer(seconds: int, expected: Continue | Stop):
    limits = Limits(deadline_s=60, answer=AnswerReserve(seconds=10))
    assert decide(fold([created(limits=limits)]), after(seconds)) == expected


def test_other_runs_of_the_day_end_this_one():
    state = fold([created(limits=Limits(usd_per_day=5))])
    assert decide(state, AT, today=Amount(4_999_999)) == Continue()
    assert decide(state, AT, today=Amount(5_000_000)) == Stop("budget_exceeded", "usd_per_day")


def test_a_run_stops_before_a_step_that_it_cannot_pay():
    state = fold([created(limits=Limits(usd=1)), cost(950_000)])
    assert decide(state, AT, least=Amount(50_000)) == Continue()
    assert decide(state, AT, least=Amount(50_001)) == Stop("budget_exceeded", "usd")
