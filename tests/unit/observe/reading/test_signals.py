"""Failure labels of a record."""

from typing import Any

import pytest

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
        pytest.param({}, set(), id="nothing"),
        pytest.param({"error": "boom"}, {"error", "other"}, id="an error"),
        pytest.param({"error": {"code": 429, "message": "rate limit"}}, {"error", "rate_limit"}, id="a dict"),
        pytest.param({"chunk_len": 199}, {"chunk_len_low"}, id="a short answer"),
        pytest.param({"tool_calls": [FLAG]}, {"extreme_flags"}, id="a flag"),
        pytest.param(
            {"override_calls": [override(), override(succeeded=False)]}, {"override_failed"}, id="one did not"
        ),
        pytest.param({"tool_calls": [failed()]}, {"tool_error", "invalid_argument"}, id="a failed call"),
        pytest.param({"tool_calls": [failed(error=None)]}, {"tool_error"}, id="no text, so no class"),
        pytest.param(
            {"tool_calls": [call(ok=None, error="KeyError: 'x'")]},
            {"tool_error", "not_found"},
            id="an older log says so only by the error",
        ),
        pytest.param({"tool_calls": [call(ok=True, error="KeyError")]}, set(), id="ok outweighs its error"),
        pytest.param(
            {"error": "연결 실패", "tool_calls": [failed(error="요청 한도 초과"), failed(error="timed out")]},
            {"error", "tool_error", "transient_network", "rate_limit", "timeout"},
            id="every class of every error",
        ),
        pytest.param(
            {
                "error": "401 Unauthorized",
                "violation": "x",
                "chunk_len": 0,
                "tool_calls": [FLAG, failed(error="no such file")],
                "override_calls": [override(succeeded=False)],
            },
            {*LABELS, "auth", "not_found"},
            id="everything",
        ),
    ],
)
def test_every_failure_label_and_error_class_of_a_record_is_named(
    changes: dict[str, Any], names: set[str]
) -> None:
    assert _signals(**changes) == names
