"""When a record succeeds, fails or is neutral: every clause of the definition."""

from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coreloop.base.error_classes import error_class
from coreloop.base.record_lines import encode_line
from coreloop.base.records import NO_ANSWER, NO_RESULT, Record
from coreloop.observe.reading.decode import NOT_PLAIN, RecordLine, decode_line, decode_plain
from coreloop.observe.reading.outcome import RequestOutcome, decide
from coreloop.observe.reading.parts import join_parts
from logs import call, failed, line, override, record
from rows import each_row
from weekly import WEEKLY
from weighed import weighed

GOOD, BAD, NEITHER = RequestOutcome.SUCCESS, RequestOutcome.FAILURE, RequestOutcome.NEUTRAL
UNKNOWN = RequestOutcome.UNKNOWN
UNSEEN: dict[str, Any] = {"unknown": NO_ANSWER, "chunk_len": None}
NO_OK: dict[str, Any] = {"ok": None, "unknown": NO_RESULT}
EMPTY: tuple[Any, ...] = ("", False, [], {})
FLAG = {"extreme_flags": ["wacc>0.25"]}
OVERRIDDEN = {"overrides_used": ["wacc"]}


def _outcome(min_chunk_len: int | None = 400, **changes: Any) -> RequestOutcome:
    return _weighed(line(record(**changes)), min_chunk_len)


def _weighed(raw: bytes, min_chunk_len: int | None = 400) -> RequestOutcome:
    """However it is read."""
    read = decode_line(raw)
    assert isinstance(read, RecordLine)
    with suppress(*NOT_PLAIN):
        plain = decode_plain(raw)
        assert decide(plain, plain.tool_calls or ()) is decide(read.fields, read.calls)
    return weighed(raw, min_chunk_len=min_chunk_len)[0]


@pytest.mark.slow
@each_row(
    ("changes", "expected"),
    [
        pytest.param({}, GOOD, id="a call and a long answer"),
        pytest.param({"tool_calls": []}, GOOD, id="no call at all"),
        pytest.param({"error": "ValueError: no"}, BAD, id="an error"),
        *(pytest.param({"error": empty}, GOOD, id=f"the error {empty!r} is none") for empty in EMPTY),
        pytest.param({"error": "timed out after 30 s"}, BAD, id="a timeout is not transient"),
        pytest.param({"error": "connection reset by peer"}, NEITHER, id="a network error"),
        pytest.param({"error": "429 Too Many Requests"}, NEITHER, id="a rate limit"),
        pytest.param({"violation": "advice"}, BAD, id="a violation"),
        *(pytest.param({"violation": empty}, GOOD, id=f"the violation {empty!r} is none") for empty in EMPTY),
        pytest.param({"tool_calls": [failed(), call()]}, GOOD, id="a failed call that it recovered from"),
        pytest.param({"tool_calls": [call(), failed()]}, BAD, id="ends on a failed call"),
        pytest.param({"tool_calls": [failed(error=None)]}, BAD, id="ends on a failed call without an error"),
        pytest.param(
            {"tool_calls": [failed(error="connection reset")]}, NEITHER, id="ends on a network error"
        ),
        pytest.param(
            {"error": "429", "tool_calls": [failed(error="KeyError: x")]},
            BAD,
            id="transient and a real failure",
        ),
        pytest.param(
            {"tool_calls": [failed(error="connection reset"), call()]},
            GOOD,
            id="recovered from a network error",
        ),
        pytest.param({"tool_calls": [call(ok=None, error="x")]}, BAD, id="older log: an error says not ok"),
        pytest.param({"tool_calls": [call(ok=None)]}, GOOD, id="older log: no error says ok"),
        pytest.param({"tool_calls": [call(ok=None, error="")]}, GOOD, id="older log: an empty error says ok"),
        pytest.param({"tool_calls": ["show"]}, GOOD, id="older log: bare names are ok"),
        pytest.param({"tool_calls": [call(**NO_OK)]}, GOOD, id="an answer after a call without a result"),
        pytest.param({"tool_calls": [failed(), call(**NO_OK)]}, GOOD, id="ends on a call without a result"),
        pytest.param(UNSEEN, UNKNOWN, id="no answer in the trace"),
        pytest.param(
            {**UNSEEN, "tool_calls": [call(**NO_OK)]}, UNKNOWN, id="the last call may be the answer"
        ),
        pytest.param({**UNSEEN, "tool_calls": [failed()]}, BAD, id="no answer after a failed call"),
        pytest.param({**UNSEEN, "error": "ValueError: no"}, BAD, id="no answer but an error"),
        pytest.param({**UNSEEN, "judgment": {"verdict": "P"}}, GOOD, id="a verdict without an answer"),
        pytest.param({"tool_calls": [call(error="a warning")]}, GOOD, id="ok outweighs an error text"),
        pytest.param(
            {"tool_calls": [failed()], "tool_calls_omitted": 3, "omitted_failure": False},
            GOOD,
            id="recovered in the omitted calls",
        ),
        pytest.param(
            {"tool_calls_omitted": 3, "omitted_failure": True}, BAD, id="failed in the omitted calls"
        ),
        pytest.param(
            {"tool_calls_omitted": 3, "omitted_failure": False, "omitted_error": "KeyError: x"},
            BAD,
            id="ended badly in the omitted calls",
        ),
        pytest.param(
            {"tool_calls_omitted": 3, "omitted_failure": False, "omitted_error": "429"},
            NEITHER,
            id="ended on a rate limit in the omitted calls",
        ),
        pytest.param(
            {"tool_calls": [call(**FLAG)], "tool_calls_omitted": 3, "omitted_failure": False},
            GOOD,
            id="a flag that an omitted call cleared",
        ),
    ],
)
def test_errors_violations_and_calls(changes: dict[str, Any], expected: RequestOutcome):
    assert _outcome(**changes) is expected


@each_row(
    ("chunk_len", "min_chunk_len", "expected"),
    [
        pytest.param(0, 400, BAD, id="nothing"),
        pytest.param(None, 400, GOOD, id="not recorded is not known"),
        pytest.param(0, None, BAD, id="no least is set: an empty answer fails"),
        pytest.param(1, None, GOOD, id="no least is set: a short answer is one"),
        pytest.param(200, 400, NEITHER, id="200 is in between"),
        pytest.param(399, 400, NEITHER, id="just under the least"),
        pytest.param(400, 400, GOOD, id="the least"),
        pytest.param(99, 100, BAD, id="a low least: under it fails"),
        pytest.param(0, 0, GOOD, id="a least of 0: nothing is enough"),
    ],
)
def test_lengths_of_answers(chunk_len: float | None, min_chunk_len: int | None, expected: RequestOutcome):
    assert _outcome(min_chunk_len, chunk_len=chunk_len) is expected


@each_row(
    ("calls", "overrides", "expected"),
    [
        pytest.param([call(**FLAG)], [], BAD, id="a flag and nothing else"),
        pytest.param([call(**FLAG), call(**OVERRIDDEN)], [], GOOD, id="cleared by a later call"),
        pytest.param([call(**FLAG), call(**OVERRIDDEN, **FLAG)], [], BAD, id="the override raises it again"),
        pytest.param([call(**OVERRIDDEN), call(**FLAG)], [], BAD, id="an override before the flag"),
        pytest.param(
            [call(**FLAG), call(**OVERRIDDEN, ok=False), call()], [], BAD, id="an override call that failed"
        ),
        pytest.param([call(**FLAG), call("show", **OVERRIDDEN)], [], BAD, id="an override of another tool"),
        pytest.param([call(**FLAG)], [override()], GOOD, id="cleared by a recorded override"),
        pytest.param([call(**FLAG)], [override("show")], BAD, id="a recorded override of another tool"),
        pytest.param([call(**FLAG)], [override(succeeded=False)], BAD, id="a recorded override that failed"),
        pytest.param(
            [call(**FLAG), call("show", **FLAG), call(**OVERRIDDEN)], [], BAD, id="one of two flags cleared"
        ),
        pytest.param(
            [failed(), call(ok=False, **FLAG), call()], [], BAD, id="a flag of a failed call counts"
        ),
    ],
)
def test_flags_and_overrides(calls: list[Any], overrides: list[Any] | None, expected: RequestOutcome):
    assert _outcome(tool_calls=calls, override_calls=overrides) is expected


@each_row(
    ("verdict", "expected"), [("P", GOOD), ("T", GOOD), ("V", BAD), ("C", BAD), (None, None), ("?", None)]
)
@each_row(
    ("changes", "otherwise"),
    [
        pytest.param({}, GOOD, id="a good one"),
        pytest.param({"error": "KeyError: x"}, BAD, id="an error"),
        pytest.param({"violation": "advice"}, BAD, id="a violation"),
        pytest.param({"chunk_len": 0}, BAD, id="no answer"),
        pytest.param({"error": "429"}, NEITHER, id="a rate limit"),
        pytest.param({"override_calls": [override(succeeded=False)]}, BAD, id="a failed override"),
    ],
)
def test_a_verdict_overrides_everything(
    changes: dict[str, Any], otherwise: RequestOutcome, verdict: str | None, expected: RequestOutcome | None
):
    assert _outcome(**changes, judgment={"verdict": verdict}) is (otherwise if expected is None else expected)


@each_row(
    ("text", "expected"),
    [
        ("rate limit exceeded (429): retry after 20 s", "rate_limit"),
        ("Error 요청 한도 초과", "rate_limit"),
        ("openai.RateLimitError: too many requests", "rate_limit"),
        ("ConnectionError: connection refused", "transient_network"),
        ("서버 연결에 실패했습니다", "transient_network"),
        ("시간 초과", "timeout"),
        ("PermissionError: permission denied", "auth"),
        ("TypeError: f() missing 1 required positional argument: 'axis'", "invalid_argument"),
        ("ValueError: unknown axis '주가'", "invalid_argument"),
        ("LookupError: unknown company '없는회사'", "not_found"),
        ("회사를 찾을 수 없습니다", "not_found"),
        ("ZeroDivisionError: division by zero", "other"),
        ("", "other"),
    ],
)
def test_errors_are_classed(text: str, expected: str):
    assert error_class(text) == expected


_LONG = {"arguments": ["가" * 100]}
_CALLS = st.lists(
    st.builds(
        call,
        st.sampled_from(["a", "b", "도구" * 40 + "1", "도구" * 40 + "2"]),
        st.sampled_from([{}, {"axis": "수익성"}, _LONG]),
        ok=st.booleans(),
        error=st.sampled_from([None, "connection reset", "429", "KeyError: x"]),
        overrides_used=st.sampled_from([None, [], ["wacc"]]),
        extreme_flags=st.sampled_from([[], [], [], ["wacc"]]),
    ),
    max_size=12,
)
_OVERRIDES = st.lists(
    st.builds(
        override,
        st.sampled_from(["a", "b", "도구" * 40 + "1"]),
        succeeded=st.sampled_from([True] * 9 + [False]),
    )
)


@pytest.mark.slow
@settings(max_examples=500 if WEEKLY else 100)
@given(_CALLS, _CALLS, st.integers(0, 60), _OVERRIDES, st.sampled_from([None, "429", "KeyError: x"]))
def test_a_record_on_several_lines_has_the_outcome_of_the_complete_record(
    first: list[Any], last: list[Any], between: int, overrides: list[Any], error: str | None
):
    calls = [*first, *[call("between", {"text": "가" * 80})] * between, *last]
    complete = {
        **record(tool_calls=calls, override_calls=overrides, error=error),
        "tool_sequence_hash": "seq:0",
    }
    lines = encode_line(cast(Record, complete)).splitlines(keepends=True)
    [(_, joined)] = join_parts(enumerate(lines))
    assert _weighed(joined) == _weighed(line(complete))
