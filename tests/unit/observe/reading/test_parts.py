"""A long request stands on several lines, and is read as one record with all of its calls."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.record_lines import encode_line
from coreloop.observe.reading.decode import NO_FIRST_LINE, RecordLine, Skipped, find_record, read_lines
from coreloop.observe.reading.outcome import RequestOutcome, decide
from logs import call, failed, override, record

LONG = record(
    request_id="req-long",
    tool_calls=[*(call(f"tool_{number}", {"n": number}) for number in range(120)), failed("last")],
    override_calls=[override()] * 60,
    judgment={"verdict": None},
)
WHOLE: Any = encode_line(LONG)  # type: ignore[arg-type]
PARTS = WHOLE.splitlines(keepends=True)
OTHER: Any = encode_line(record(request_id="req-other"))  # type: ignore[arg-type]
OTHER_LONG = WHOLE.replace(b"req-long", b"req-two")


def _read(path: Path, content: bytes) -> tuple[list[RecordLine], list[str]]:
    path.write_bytes(content)
    lines = list(read_lines(path))
    return (
        [line for line in lines if isinstance(line, RecordLine)],
        [line.reason for line in lines if isinstance(line, Skipped)],
    )


@pytest.mark.parametrize(
    "arranged",
    [
        pytest.param(lambda lines: lines, id="as written"),
        pytest.param(lambda lines: [PARTS[0][:900], *PARTS, *lines], id="written after half a line"),
    ],
)
def test_each_request_has_its_calls(arranged: Callable[[list[bytes]], list[bytes]], tmp_path: Path) -> None:
    lines = arranged([OTHER, *PARTS, *OTHER_LONG.splitlines(keepends=True), OTHER])
    read, _ = _read(tmp_path / "2026-04-25.jsonl", b"".join(lines))
    assert sorted(line.fields.request_id or "" for line in read) == [
        "req-long",
        "req-other",
        "req-other",
        "req-two",
    ]
    for line in read:
        if line.fields.request_id != "req-other":
            assert [one.name for one in line.calls] == [one["name"] for one in LONG["tool_calls"]]
            assert len(line.fields.override_calls or ()) == 60
            assert decide(line.fields, line.calls) is RequestOutcome.FAILURE


def test_of_a_torn_request_the_calls_that_are_lost_are_counted(tmp_path: Path) -> None:
    for end in range(len(PARTS[0]), len(WHOLE), 311):
        [line], skipped = _read(tmp_path / "2026-04-25.jsonl", WHOLE[:end])
        n_lost = line.fields.tool_calls_omitted or 0
        assert len(line.calls) + n_lost == 121
        assert n_lost >= 1
        assert decide(line.fields, line.calls) is RequestOutcome.UNKNOWN
        assert skipped in ([], ["torn or not JSON"])


def test_calls_without_their_request_are_reported(tmp_path: Path) -> None:
    assert _read(tmp_path / "2026-04-25.jsonl", OTHER + PARTS[1])[1] == [NO_FIRST_LINE]
    assert find_record("req-long", tmp_path) is None
