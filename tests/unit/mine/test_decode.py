"""Lines as they come: of two versions, of any length, torn, foreign, and from other systems."""

import gzip
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.mine.decode import (
    NOT_PLAIN,
    CallFields,
    CountedFields,
    RecordFields,
    RecordLine,
    Skipped,
    decode_line,
    decode_plain,
    microseconds,
    read_lines,
)
from coreloop.mine.window import moment
from logs import call, line, record

ZONES = (None, UTC, timezone(timedelta(hours=9)), timezone(timedelta(hours=-3, minutes=-30)))


def _read(tmp_path: Path, data: bytes) -> list[RecordLine | Skipped]:
    path = tmp_path / "2026-04-25.jsonl"
    path.write_bytes(data)
    return list(read_lines(path))


def _without(*keys: str) -> bytes:
    return line({key: value for key, value in record().items() if key not in keys})


def test_a_version_2_line_gives_its_fields():
    read = decode_line(line(record(session_hash="session:1", rounds=2)), 17)
    assert isinstance(read, RecordLine)
    assert (read.offset, read.ts_us) == (17, 1_777_109_400_000_000)
    assert read.fields.question == "삼성전자 수익성 분석해줘"
    assert read.fields.session_hash == "session:1"
    assert [one.name for one in read.calls] == ["analysis"]


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
    assert [one.name for one in read.calls] == ["show", "analysis"]


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        pytest.param(line(record())[:-40], "torn or not JSON", id="torn"),
        pytest.param(line(record())[:-1] * 2, "torn or not JSON", id="two in one line"),
        pytest.param(b"\0\0\0\0", "torn or not JSON", id="NUL bytes after a crash"),
        pytest.param(b'{"a":' * 100_000, "torn or not JSON", id="deep nesting"),
        pytest.param(line(record()).replace("삼".encode(), b"\xff"), "not UTF-8", id="not UTF-8"),
        pytest.param(
            line(record()).replace("삼".encode(), b"\\ud800"), "torn or not JSON", id="half a character"
        ),
        pytest.param(line(record()).replace(b"1000", b"NaN"), "torn or not JSON", id="NaN is not JSON"),
        pytest.param(b"[]", "not a record", id="an array"),
        pytest.param(b'"text"', "not a record", id="a string"),
        pytest.param(b'{"level": "info", "msg": "hello"}', "not a record", id="another program's log"),
        pytest.param(_without("ts"), "not a record", id="no time"),
        pytest.param(_without("tool_calls"), "not a record", id="no tool calls"),
        pytest.param(line(record(question=5)), "not a record", id="a question that is a number"),
        pytest.param(line(record(tool_calls=[{"args": {}}])), "not a record", id="a call without a name"),
        pytest.param(line(record(chunk_len="400")), "not a record", id="a length that is text"),
        pytest.param(line(record(ts="yesterday")), "no valid time", id="no valid time"),
        pytest.param(line(record(ts="2026-02-30T00:00:00Z")), "no valid time", id="a day that is none"),
        pytest.param(line(record(ts="9999-12-31T23:59:59-23:00")), "no valid time", id="after the last year"),
        pytest.param(line(record(ts="0001-01-01T00:00:00+23:00")), "no valid time", id="before the first"),
        pytest.param(line(record(origin="replay")), "replay", id="a replay"),
    ],
)
def test_an_unreadable_line_is_skipped_for_a_reason(raw: bytes, reason: str):
    assert decode_line(raw, 5) == Skipped(reason, 5)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-be", "cp949"])
def test_a_line_in_another_encoding_is_skipped(encoding: str):
    raw = json.dumps(record(), ensure_ascii=False).encode(encoding)
    assert isinstance(decode_line(raw), Skipped)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="else the same"),
        pytest.param({"tool_calls": {"of": "another form"}}, id="other types"),
        pytest.param({"ts": 1_777_109_400}, id="another time"),
    ],
)
def test_a_future_schema_version_is_refused_by_name(changes: dict[str, object]):
    read = decode_line(line(record(schema_version=3, **changes)))
    assert read == Skipped("schema version 3 is newer than 2: upgrade coreloop", 0)


def test_unknown_fields_do_no_harm():
    assert isinstance(decode_line(line(record(colour="red", nested={"a": [1, {"b": None}]}))), RecordLine)


@pytest.mark.parametrize("args", [None, [], ["수익성"], "수익성", 5, 2.5, {"axis": {"deep": [1]}}], ids=repr)
def test_arguments_of_any_form_are_read(args: object):
    read = decode_line(line(record(tool_calls=[{**call(), "args": args}])))
    assert isinstance(read, RecordLine)


def test_errors_of_any_form_are_read():
    for error in ("text", 5, {"code": 1}, ["a"], False):
        read = decode_line(line(record(error=error, violation=error)))
        assert isinstance(read, RecordLine)
        assert read.fields.error == error


def test_offsets_lead_back_to_the_lines(tmp_path: Path):
    raw = [line(record(question=f"질문 {number}")) for number in range(3)]
    data = b"\xef\xbb\xbf" + raw[0] + b"\n  \r\n" + raw[1].replace(b"\n", b"\r\n") + raw[2][:-1]
    read = _read(tmp_path, data)
    assert [one.fields.question for one in read if isinstance(one, RecordLine)] == [
        "질문 0",
        "질문 1",
        "질문 2",
    ]
    assert [data[one.offset :].lstrip(b"\xef\xbb\xbf")[:1] for one in read] == [b"{"] * 3


def test_a_byte_order_mark_inside_the_file_is_no_space(tmp_path: Path):
    read = _read(tmp_path, line(record()) + b"\xef\xbb\xbf" + line(record()))
    assert [type(one) for one in read] == [RecordLine, Skipped]


def test_blank_lines_are_nothing(tmp_path: Path):
    assert _read(tmp_path, b"\n\r\n \t \n") == []
    assert _read(tmp_path, b"") == []
    assert _read(tmp_path, b"\xef\xbb\xbf") == []


def test_a_line_of_50_mb_is_read_like_any_other(tmp_path: Path):
    long = line(record(tool_calls=[call("show", {"text": "가" * 17_000_000})]))
    assert len(long) > 50_000_000
    read = _read(tmp_path, long + line(record()))
    assert [type(one) for one in read] == [RecordLine, RecordLine]
    assert read[1].offset == len(long)


def test_gzip_bytes_are_skipped_line_by_line(tmp_path: Path):
    read = _read(tmp_path, gzip.compress(b"".join(line(record()) for _ in range(50)), mtime=0))
    assert read
    assert {type(one) for one in read} == {Skipped}


@given(raw=st.binary(max_size=200))
def test_no_bytes_raise(raw: bytes):
    assert isinstance(decode_line(raw), RecordLine | Skipped)


@given(cut=st.integers(0, 2000), extra=st.binary(max_size=3))
def test_no_torn_line_passes_for_a_record(cut: int, extra: bytes):
    whole = line(record())[:-1]
    torn = whole[: cut % len(whole)]
    assert isinstance(decode_line(torn + extra.replace(b"}", b"")), Skipped)


@given(at=st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.sampled_from(ZONES)))
def test_a_time_is_exact(at: datetime):
    read = decode_line(line(record(ts=at.isoformat())))
    assert isinstance(read, RecordLine)
    assert moment(read.ts_us) == (at if at.tzinfo is not None else at.replace(tzinfo=UTC))


@pytest.mark.parametrize("ts", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
def test_the_first_and_the_last_moment_are_times(ts: str):
    read = decode_line(line(record(ts=ts)))
    assert isinstance(read, RecordLine)
    assert moment(read.ts_us) == datetime.fromisoformat(ts)


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


def test_comparing_a_replay_needs_no_polars():
    script = "import sys, coreloop.promote.asking; sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
