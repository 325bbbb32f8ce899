"""Decoding of lines: both versions, any length, torn, malformed, and from other systems."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.learn.facts.read_lines import MineSettings
from coreloop.observe.reading.decode import (
    NOT_PLAIN,
    CallFields,
    CountedFields,
    RecordFields,
    RecordLine,
    Skipped,
    decode_line,
    decode_plain,
    microseconds,
)
from logs import call, line, override, record
from rows import each_row
from samples import facts_of


def test_a_version_2_line_gives_its_fields():
    read = decode_line(line(record(session_hash="session:1", rounds=2)), 17)
    assert isinstance(read, RecordLine)
    assert (read.offset, read.ts_us) == (17, 1_777_109_400_000_000)
    assert read.fields.question == "삼성전자 수익성 분석해줘"
    assert read.fields.session_hash == "session:1"
    assert [call_fields.name for call_fields in read.calls] == ["analysis"]


def test_a_version_1_line_needs_only_its_seven_fields():
    older = {
        "ts": "2026-04-25T09:30:00",
        "question": "q",
        "tool_calls": ["show", {"name": "analysis", "args": {"axis": "수익성"}}],
        "chunk_len": 500,
        "error": None,
        "skill_used": None,
    }
    read = decode_line(line(older))
    assert isinstance(read, RecordLine)
    assert read.fields.schema_version == 1
    assert [call_fields.name for call_fields in read.calls] == ["show", "analysis"]


@each_row(
    ("text", "seconds"),
    [
        pytest.param("1970-01-02T00:00:00Z", 86_400, id="Z"),
        pytest.param("1970-01-02T09:00:00+09:00", 86_400, id="another zone is converted"),
        pytest.param("1970-01-02T00:00:00", 86_400, id="no zone is UTC"),
        pytest.param("1970-01-02", 86_400, id="a day"),
        pytest.param("1969-12-31T23:59:59.5Z", -0.5, id="before 1970"),
    ],
)
def test_times_are_read_as_utc(text: str, seconds: float):
    read = decode_line(line(record(ts=text)))
    assert isinstance(read, RecordLine)
    assert read.ts_us == int(seconds * 1_000_000)


@each_row(
    ("raw", "reason"),
    [
        pytest.param(line(record())[:-40], "torn or not JSON", id="torn"),
        pytest.param(b"\0\0\0\0", "torn or not JSON", id="NUL bytes after a crash"),
        pytest.param(b'{"a":' * 100_000, "torn or not JSON", id="deep nesting"),
        pytest.param(line(record()).replace("삼".encode(), b"\xff"), "not UTF-8", id="not UTF-8"),
        pytest.param(b"[]", "not a record", id="an array"),
        pytest.param(b'{"level": "info", "msg": "hello"}', "ts is missing", id="another program's log"),
        pytest.param(line({"question": "q", "tool_calls": []}), "ts is missing", id="no time"),
        pytest.param(line(record(ts=[2026, 4, 25])), "ts is no valid time", id="a time that is a list"),
        pytest.param(line(record(ts=1e300)), "ts is no valid time", id="a number beyond all times"),
        pytest.param(line(record(ts="2026-02-30T00:00:00Z")), "ts is no valid time", id="a day that is none"),
        pytest.param(
            line(record(ts="0001-01-01T00:00:00+23:00")), "ts is no valid time", id="before the first"
        ),
        pytest.param(line(record(origin="replay")), "replay", id="a replay"),
    ],
)
def test_an_unreadable_line_is_skipped_for_a_reason(raw: bytes, reason: str):
    assert decode_line(raw, 5) == Skipped(reason, 5)


@each_row(
    "changes",
    [
        pytest.param({}, id="else the same"),
        pytest.param({"tool_calls": {"of": "another form"}}, id="other types"),
    ],
)
def test_a_future_schema_version_is_refused_by_name(changes: dict[str, object]):
    read = decode_line(line(record(schema_version=3, **changes)))
    assert read == Skipped("schema version is newer than 2: upgrade coreloop", 0)


def _read_record(**changes: Any) -> RecordLine:
    read = decode_line(line(record(**changes)))
    assert isinstance(read, RecordLine)
    return read


@each_row(
    ("field", "value", "expected"),
    [
        pytest.param("schema_version", "2", 2, id="a version that is text"),
        pytest.param("chunk_len", "18", 18, id="a length that is text"),
        pytest.param("tool_calls_omitted", 3.0, 3, id="a count that is a float"),
        pytest.param("omitted_failure", "true", True, id="a truth that is text"),
        pytest.param("session_hash", {}, None, id="an empty object is nothing"),
        pytest.param("tool_calls", None, None, id="no calls"),
    ],
)
def test_a_field_of_another_form_is_read_as_what_it_plainly_says(field: str, value: object, expected: object):
    read = _read_record(**{field: value})
    assert getattr(read.fields, field) == expected
    assert read.absent == ()


@each_row(
    ("changes", "absent"),
    [
        ({"question": True}, ["question"]),
        ({"chunk_len": "many"}, ["chunk_len"]),
        ({"rounds": "-inf"}, ["rounds"]),
        ({"chunk_len": 10**400}, ["chunk_len"]),
        ({"tool_calls": 7}, ["tool_calls"]),
        ({"tool_calls": [call(overrides_used=3)]}, ["overrides_used"]),
        ({"override_calls": ["wacc"]}, ["override_calls entry"]),
        (
            {"question": True, "tool_calls": [call(ok=[1]), call(ok=[1], duration_ms="long")]},
            ["question", "ok", "duration_ms"],
        ),
    ],
)
def test_a_field_that_says_nothing_usable_is_absent_and_named(changes: dict[str, Any], absent: list[str]):
    read = _read_record(**changes)
    assert list(read.absent) == absent
    assert getattr(read.fields, absent[0], None) is None or absent[0] == "override_calls"


@each_row(
    ("original", "instead", "question", "chunk_len"),
    [
        pytest.param("삼".encode(), b"\\ud800", "?성전자 수익성 분석해줘", 1000, id="half a character"),
        pytest.param(b"1000", b"NaN", "삼성전자 수익성 분석해줘", None, id="NaN"),
    ],
)
def test_what_python_writes_and_others_refuse_is_read(
    original: bytes, instead: bytes, question: str, chunk_len: float | None
):
    read = decode_line(line(record()).replace(original, instead))
    assert isinstance(read, RecordLine)
    assert (read.fields.question, read.fields.chunk_len) == (question, chunk_len)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(st.sampled_from(["name", "text", "tool", "verdict", "ok"]), st.text(max_size=3)),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=5,
)
FIELD = st.sampled_from([*sorted({*record(), *RecordFields.__struct_fields__} - {"ts", "schema_version"})])
OF_A_CALL = st.sampled_from([*call(), *CallFields.__struct_fields__])
ANY_CHANGE = st.one_of(
    st.builds(lambda name, value: {name: value}, FIELD, JSON),
    st.builds(lambda name, value: {"tool_calls": [call(), {**call(), name: value}]}, OF_A_CALL, JSON),
    st.builds(
        lambda name, value: {"override_calls": [{**override(), name: value}]},
        st.sampled_from([*override()]),
        JSON,
    ),
    st.builds(lambda value: {"judgment": {"verdict": value}}, JSON),
)


@pytest.mark.slow
@given(ANY_CHANGE)
def test_a_record_is_read_whatever_one_of_its_fields_holds(changes: dict[str, Any]):
    raw = line(record(**changes))
    read = decode_line(raw)
    if isinstance(read, Skipped):
        assert read.reason == "replay"
        return
    (part,) = facts_of([(0, raw)], MineSettings(), path=Path("a.jsonl")).parts
    of_facts = {"args_from", "case", "saw"}  # only facts read these
    assert set(part.absent) - of_facts == set(read.absent) - of_facts
    assert part.skipped == {}


@given(raw=st.binary(max_size=200))
def test_no_bytes_raise(raw: bytes):
    assert isinstance(decode_line(raw), RecordLine | Skipped)


@given(cut=st.integers(0, 2000), extra=st.binary(max_size=3))
def test_no_torn_line_passes_for_a_record(cut: int, extra: bytes):
    complete = line(record())[:-1]
    torn = complete[: cut % len(complete)]
    assert isinstance(decode_line(torn + extra.replace(b"}", b"")), Skipped)


ODD = st.sampled_from([None, "", "a", 0, 2, 3, 1.5, True, [], ["a"], {}, {"verdict": None}, {"verdict": "P"}])
CHANGES = st.dictionaries(st.sampled_from([*RecordFields.__struct_fields__, "unknown"]), ODD, max_size=2)
OF_CALL = st.dictionaries(st.sampled_from([*CallFields.__struct_fields__, "unknown"]), ODD, max_size=2)


@given(CHANGES, OF_CALL)
def test_a_plain_record_is_read_alike_as_any_record(changes: dict[str, Any], of_call: dict[str, Any]):
    raw = line({**record(tool_calls=[{**call("analysis", {"axis": "수익성"}), **of_call}]), **changes})
    try:
        plain = decode_plain(raw)
    except NOT_PLAIN:
        return
    read = decode_line(raw, 7)
    assert isinstance(read, RecordLine)
    assert read.ts_us == microseconds(plain.ts)
    assert _as_json(plain) == _as_json(read.fields)


def _as_json(fields: CountedFields) -> dict[str, bytes]:
    keys = set(fields.__struct_fields__) - {"ts"}
    return {key: msgspec.json.encode(getattr(fields, key)) for key in keys}
