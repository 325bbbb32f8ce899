"""Reports of agents: a wrong field is named by its path; nothing in them ends a run or raises its limits."""

import json
from typing import Any

import pytest

from coreloop.base.errors import UsageError
from coreloop.runs import events as happened
from coreloop.runs.agent.agent_report import read_report, report_events
from coreloop.runs.agent.json_input import MAX_BYTES
from coreloop.runs.state import State
from happenings import AT, created, fold
from rows import each_row
from running import claims


def state() -> State:
    return fold([created(), happened.Planned(at=AT, sub_questions=("one?", "two?"))])


def events(report: dict[str, Any], run: State | None = None) -> list[Any]:
    return report_events(run or state(), read_report(json.dumps(report).encode()), AT, claims)


def finding(**fields: Any) -> dict[str, Any]:
    return {"text": "up", "sources": ["dart:1"], **fields}


@each_row(
    ("report", "message"),
    [
        ("{", "$: not JSON ("),
        ("[]", "$: expected object, got array;"),
        ('"완료되었습니다"', "$: expected object, got str;"),
        ('{"status": "completed"}', "$: unknown field status; leave it out;"),
        ('{"limits": {"usd": 99}}', "$: unknown field limits; leave it out;"),
        ('{"usage": {"usd": -1}}', "$.usage.usd: expected float >= 0.0;"),
        ('{"usage": {"usd": 1e999}}', "$"),
        ('{"usage": {"usd": NaN}}', "$: not JSON ("),
        ('{"usage": {"usd": 5, "usd": 0}}', "$"),
        ('{"findings": [{"text": "up"}]}', "$.findings[0]: the field sources is missing; add it;"),
        ('{"findings": [{"text": " \\t", "sources": []}]}', "$.findings[0].text: is blank; write a text;"),
        ('{"usage": {"usd": 0.01}}', "$: the report is empty;"),
        ('{"sub_questions": [{"id": "q1"}]}', "$.sub_questions[0]: the field falls_away is"),
        ('{"a\\u001b[2J": 1}', "$: unknown field a\\u{1b}[2J; leave it out;"),
        ("[" * 100_000, "$: "),
        (" " * (MAX_BYTES + 1), "$: the report has more than 1,000,000 bytes;"),
        (b"\xff\xfe", "$: not JSON ("),
    ],
)
def test_a_wrong_field_is_named_in_a_line(report: str | bytes, message: str):
    with pytest.raises(UsageError) as refused:
        read_report(report if isinstance(report, bytes) else report.encode())
    text = str(refused.value)
    assert text.startswith(message)
    assert text.endswith("; nothing was recorded")
    assert "\n" not in text


@each_row(
    ("report", "message"),
    [
        (
            {"findings": [finding(), finding(answers="q9")]},
            "$.findings[1].answers: no sub-question q9; the run has q1, q2;",
        ),
        (
            {"sub_questions": ["three?", {"id": "q7", "falls_away": "moot"}]},
            "$.sub_questions[1].id: no sub-question q7; the run has q1, q2;",
        ),
        (
            {"iteration": 7, "next_actions": ["read"]},
            "$.iteration: iteration 7 is not the next one: expected 1; runs next shows the state;",
        ),
    ],
)
def test_what_the_run_does_not_have_is_named(report: dict[str, Any], message: str):
    with pytest.raises(UsageError) as refused:
        events(report)
    assert str(refused.value).startswith(message)


def test_a_finding_answers_by_id_or_text_also_what_the_same_report_asks():
    made = events(
        {
            "sub_questions": ["three?", "one?"],
            "findings": [finding(answers=["q1", "three?", "q3"]), finding()],
        }
    )
    found = [event.sub_question for event in made if isinstance(event, happened.FindingRecorded)]
    assert found == ["q1", "q3", ""]
    run = state()
    after = fold([created(), happened.Planned(at=AT, sub_questions=("one?", "two?")), *made])
    assert [part.id for part in run.sub_questions] == ["q1", "q2"]
    assert [part.is_answered for part in after.sub_questions] == [True, False, True]


def test_an_action_that_an_iteration_repeats_counts_once():
    action = {"tool": "web", "strategy": ["recent"]}
    made = events({"actions": [action, action, "read", action]})
    assert [event.tool for event in made if isinstance(event, happened.ActionTaken)] == ["web", "read"]
