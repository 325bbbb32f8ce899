"""Canonical arguments, plain values, and the size cap for any record."""

import json
from dataclasses import dataclass, field

import orjson
import pytest

import logs
from coreloop.base.record_lines import MAX_LINE_BYTES, canonical_json, encode_line, to_plain
from coreloop.base.records import (
    hash_args,
)
from logs import call, override
from rows import each_row

QUESTION = "삼성전자 수익성 분석해줘"


def record(**changes):
    hashes = {"question_hash": "sha256:ae89748d2c4839b8", "tool_sequence_hash": "seq:e7285e7f08691bca"}
    return logs.record(**{**hashes, **changes})


def written(full, selectors=None):
    """The record as a reader sees it; what holds for every line is checked here."""
    line = encode_line(full, selectors)
    assert len(line) <= MAX_LINE_BYTES == 4096
    assert line.endswith(b"\n")
    assert len(line.splitlines()) == line.count(b"\n") == 1
    read = json.loads(line)
    hashes = ("question_hash", "tool_sequence_hash", "category_hash", "ts", "schema_version", "request_id")
    assert [read[key] for key in hashes] == [full[key] for key in hashes]
    assert read.keys() >= full.keys() - {"unknown"}
    return read


@each_row(
    ("args", "hashed"),
    [
        ({"years": [2024, 2025], "axis": "수익성"}, "493f552ef2be6efc"),
        ({"k": "é", "a": {"z": True, "b": None}}, "0663ca138372f915"),
        ({}, "44136fa355b3678a"),
    ],
)
def test_args_hash_is_golden_and_ignores_the_order_of_keys(args, hashed):
    assert hash_args(canonical_json(args)) == hashed
    assert hash_args(canonical_json(dict(reversed(args.items())))) == hashed


# values


def test_a_value_that_contains_itself_ends():
    value = {"n": 1}
    value["self"] = [value, value]
    assert to_plain(value)["n"] == 1
    assert len(orjson.dumps(to_plain(value))) < 1_000_000


def test_a_value_without_a_json_form_becomes_its_type():
    assert to_plain({"o": object(), "b": b"x", 3: 2**70, "s": "\ud800", "t": (1, {2})}) == {
        "o": "<object>",
        "b": "<bytes>",
        "3": "<int>",
        "s": "?",
        "t": [1, [2]],
    }


# the line


def test_dropped_calls_are_the_last_ones_and_are_counted():
    calls = [call(name=f"tool_{number}") for number in range(200)]
    read = written(record(tool_calls=calls))
    names = [recorded["name"] for recorded in read["tool_calls"]]
    assert len(names) > 5
    assert names == [recorded["name"] for recorded in calls[: len(names)]]
    assert read["tool_calls_omitted"] == 200 - len(names)
    assert read["omitted_failure"] is False


@each_row(
    ("changes", "fails"),
    [
        pytest.param(
            {"tool_calls": [call(extreme_flags=["wacc"]), *[call()] * 198, call(overrides_used=["wacc"])]},
            False,
            id="cleared by an omitted call",
        ),
        pytest.param(
            {"tool_calls": [call(extreme_flags=["wacc"]), *[call()] * 199], "override_calls": [override()]},
            False,
            id="cleared by an override",
        ),
        pytest.param(
            {"tool_calls": [call(extreme_flags=["wacc"]), *[call()] * 199]},
            True,
            id="flag of a recorded call",
        ),
        pytest.param({"tool_calls": [*[call()] * 199, call(extreme_flags=["wacc"])]}, True, id="flag"),
        pytest.param(
            {"override_calls": [*[override()] * 99, override(succeeded=False)]}, True, id="override"
        ),
        pytest.param({"override_calls": [override()] * 100}, False, id="good overrides"),
        pytest.param(
            {"tool_calls": [call(ok=False, error="E")], "question": "x" * 9000}, None, id="nothing is omitted"
        ),
    ],
)
def test_an_omitted_reason_of_failure_is_noted(changes, fails):
    assert written(record(**changes)).get("omitted_failure") is fails


@each_row(
    ("last", "error"),
    [
        pytest.param([call(ok=False, error="연결 실패" * 100)], "연결 실패연결 실패", id="ends failed"),
        pytest.param([call(ok=False)], "", id="ends failed without an error"),
        pytest.param([call(ok=False, error="E"), call()], None, id="recovered"),
    ],
)
def test_the_error_of_an_omitted_last_call_is_recorded(last, error):
    read = written(record(tool_calls=[*[call()] * 199, *last]))
    assert read["omitted_failure"] is False
    assert (read.get("omitted_error") or "")[:10] == (error or "")
    assert ("omitted_error" in read) == (error is not None)
    assert len(read.get("omitted_error", "").encode()) <= 120


@pytest.mark.slow
def test_a_record_of_the_longest_everything_fits():
    worst = "\x00" * 500
    texts = {key: worst for key, value in record().items() if isinstance(value, str)}
    texts |= dict.fromkeys(
        ("stockCode_hint", "error", "violation", "skill_used", "session_hash", "origin"), worst
    )
    calls = [
        call(worst, {worst[:60] + str(n): worst for n in range(90)}, error=worst, extreme_flags=[worst] * 99)
        for _ in range(200)
    ]
    overrides = [{**override(worst), "override_keys": [worst] * 99, "trigger": worst}] * 99
    judgment = dict.fromkeys(("verdict", "judged_at", "judged_by", "pr_url"), worst)
    line = encode_line(
        record(**texts, tool_calls=calls, override_calls=overrides, judgment=judgment, chunk_len=2**63 - 1)
    )
    assert len(line) <= MAX_LINE_BYTES
    read = json.loads(line)
    assert len(read["tool_calls"]) + read["tool_calls_omitted"] == 200


@dataclass(slots=True)
class _Slotted:
    city: str
    unset: dict[str, int] = field(init=False)


def test_a_dataclass_is_its_fields_without_those_that_are_not_set():
    """orjson by itself kills the process here."""
    assert canonical_json({"filters": _Slotted("Seoul")}) == b'{"filters":{"city":"Seoul"}}'


def test_no_code_of_a_dataclass_is_run():
    @dataclass
    class Hostile:
        a: int = 1

        def __getattribute__(self, name: str) -> object:
            raise RuntimeError("asked")

    assert canonical_json({"x": Hostile()}) == b'{"x":{"a":1}}'
