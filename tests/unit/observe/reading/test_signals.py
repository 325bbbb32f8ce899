"""Failure labels of a record."""

from typing import Any

from coreloop.base.error_classes import CLASSES, LABELS, names_of
from coreloop.observe.reading.decode import RecordLine, decode_line
from coreloop.observe.reading.outcome import RequestOutcome, signals
from logs import call, failed, line, override, record
from rows import each_row
from weighed import weighed

FLAG = call(extreme_flags=["roe>100%"])


def _signals(**changes: Any) -> set[str]:
    decoded = decode_line(line(record(**changes)))
    assert isinstance(decoded, RecordLine)
    recorded = signals(decoded.fields, decoded.calls)
    outcome, counted = weighed(line(record(**changes)))
    assert counted & recorded == (recorded if outcome is RequestOutcome.FAILURE else 0)
    return set(names_of(recorded | counted, among=(*LABELS, *CLASSES)))


@each_row(
    ("changes", "names"),
    [
        ({}, set()),
        ({"error": "boom"}, {"error", "other"}),
        ({"error": {"code": 429, "message": "rate limit"}}, {"error", "rate_limit"}),
        ({"chunk_len": 199}, {"chunk_len_low"}),
        ({"tool_calls": [FLAG]}, {"extreme_flags"}),
        ({"override_calls": [override(), override(succeeded=False)]}, {"override_failed"}),
        ({"tool_calls": [failed()]}, {"tool_error", "invalid_argument"}),
        ({"tool_calls": [failed(error=None)]}, {"tool_error"}),
        ({"tool_calls": [call(ok=None, error="KeyError: 'x'")]}, {"tool_error", "not_found"}),
        ({"tool_calls": [call(ok=True, error="KeyError")]}, set()),
        (
            {"error": "연결 실패", "tool_calls": [failed(error="요청 한도 초과"), failed(error="timed out")]},
            {"error", "tool_error", "transient_network", "rate_limit", "timeout"},
        ),
        (
            {
                "error": "401 Unauthorized",
                "violation": "x",
                "chunk_len": 0,
                "tool_calls": [FLAG, failed(error="no such file")],
                "override_calls": [override(succeeded=False)],
            },
            {*LABELS, "auth", "not_found"},
        ),
    ],
)
def test_every_failure_label_and_error_class_of_a_record_is_named(
    changes: dict[str, Any], names: set[str]
) -> None:
    assert _signals(**changes) == names
