"""Reports of spending: JSON lines, never prose."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from coreloop.runs.amounts import Amount
from coreloop.runs.driver.execution import ExecutionResult
from coreloop.runs.driver.process_group import Finished
from coreloop.runs.driver.spending import MOST_WAIT_S, Reports, StreamLines
from happenings import AT
from rows import each_row

RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "duration_ms": 1998,
    "num_turns": 1,
    "result": "ERROR: the budget of {'usd': 5} is over",
    "session_id": "0e639165-79b1-4bd4-bb0f-4cb4c15115d4",
    "total_cost_usd": 0.0079825,
    "usage": {
        "input_tokens": 3,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 15635,
        "output_tokens": 6,
        "server_tool_use": {"web_search_requests": 0},
        "service_tier": "standard",
    },
}


def read(*lines: Any) -> Reports:
    reports = Reports()
    for line in lines:
        reports.add_line((line if isinstance(line, str) else json.dumps(line)).encode())
    return reports


def test_a_result_of_claude_is_read():
    reports = read("thinking …", RESULT)
    assert reports.cost == Amount(7_983, 15_744)
    assert (reports.is_reported, reports.is_error, reports.retry_after_s) == (True, False, None)


def test_results_of_a_session_are_its_cost_so_far_and_sessions_add_up():
    again = RESULT | {"total_cost_usd": 0.01}
    assert read(RESULT, again).cost.microusd == 10_000
    assert read(again, RESULT | {"session_id": "other", "total_cost_usd": 0.02}).cost.microusd == 30_000


def test_lines_of_our_own_add_up():
    reports = read({"usd": 0.02, "tokens": 5}, {"tokens": 7}, {"usd": 1})
    assert reports.cost == Amount(1_020_000, 12)


@each_row(
    "line",
    [
        pytest.param({"tokens": 5, "event": "my own log"}, id="other keys"),
        pytest.param({"type": "result", "usage": None}, id="no amount"),
        pytest.param("I spent $0.02 and {'usd': 1}", id="prose"),
        pytest.param("{}", id="empty"),
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_other_lines_are_no_report(line: Any):
    reports = read(line)
    assert (reports.cost, reports.is_reported) == (Amount(), False)


@pytest.mark.parametrize(
    "line",
    [
        '{"usd": 1e999}',
        '{"usd": ' + "9" * 5_000 + "}",
        '{"tokens": ' + "9" * 5_000 + "}",
        '{"usd": -1}',
        '{"usd": "0.02"}',
        '{"type": "result", "total_cost_usd": 1e999}',
        '{"type": "result", "total_cost_usd": null, "usage": null}',
        '{"usd": 5.0, "usd": 0.0}',
        '{"usd": 5.0, "\\u0075sd": 0.0}',
        '{"type": "result", "usage": {"output_tokens": 9, "output_tokens": 0}}',
        '{"type": "result", "usage": {"output_tokens": -1}}',
    ],
)
def test_an_amount_that_cannot_be_counted_is_unreadable(line: str):
    reports = read({"usd": 0.5}, line)
    assert reports.unreadable == line[:60]
    assert reports.cost.microusd == 500_000


def rejected(at: float) -> dict[str, Any]:
    return {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": at}}


@each_row(("resets_in_s", "wait_s"), [(-5, None), (30, 30), (1e9, MOST_WAIT_S)])
def test_a_limit_of_claude_is_waited_for_seven_days_at_most(resets_in_s: float, wait_s: float | None):
    limited = ExecutionResult(Finished(1, "", 0.0), Reports(resets_at=AT.timestamp() + resets_in_s), b"")
    assert limited.retry_after_s(AT) == wait_s


def test_a_limit_of_claude_is_read_from_its_fields():
    failed = RESULT | {"is_error": True}
    assert read(failed | {"api_error_status": 429}).is_limited
    assert read(failed | {"api_error_status": 529}).is_limited
    assert not read(failed | {"api_error_status": 401}).is_limited
    assert not read(failed | {"result": "429 rate limit"}).is_limited
    assert read(rejected(1_788_441_600), failed).is_limited
    assert read(rejected(1_788_441_600), failed).resets_at == 1_788_441_600
    assert read(rejected(1_788_441_600_000), failed).resets_at == 1_788_441_600
    assert not read(rejected(1_788_441_600), RESULT).is_limited  # it went on without the limit
    allowed = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed", "resetsAt": 1}}
    assert not read(allowed, failed).is_limited
    assert not read({"type": "rate_limit_event", "rate_limit_info": [1]}, failed).is_limited


@given(some.lists(some.integers(1, 40)))
def test_lines_are_found_however_they_arrive(sizes: list[int]):
    data = b'{"usd": 1}\nprose\r\n{"tokens": 3}\r\n{"usd": 0.5}'
    reports = Reports()
    lines = StreamLines(reports.add_line)
    for size in sizes:
        lines.add(data[:size])
        data = data[size:]
    lines.add(data)
    lines.end()
    assert reports.cost == Amount(1_500_000, 3)


def test_a_line_without_end_is_skipped_and_the_next_is_read():
    reports = Reports()
    lines = StreamLines(reports.add_line)
    for _ in range(20):
        lines.add(b"{" + b"x" * 1_000_000)
    lines.add(b'\n{"usd": 1}\n')
    assert reports.cost.usd == 1
