"""Canonical arguments, plain values, and the size cap for any record."""

import json
from dataclasses import dataclass, field

import orjson
import pytest

import logs
from coreloop.base.record_lines import MAX_LINE_BYTES, encode_line, to_plain
from coreloop.base.records import digest
from coreloop.observe.calls import canonical_json
from logs import call, override
from rows import each_row


def record(**changes):
    hashes = {"question_hash": "sha256:ae89748d2c4839b8", "tool_sequence_hash": "seq:e7285e7f08691bca"}
    return logs.record(**{**hashes, **changes})


def written(full):
    """The lines of a record as a reader sees them; what holds for every line is checked here."""
    lines = encode_line(full).splitlines(keepends=True)
    assert max(map(len, lines)) <= MAX_LINE_BYTES == 4096
    read = [json.loads(line) for line in lines if line.endswith(b"\n")]
    hashes = ("question_hash", "tool_sequence_hash", "category_hash", "ts", "schema_version", "request_id")
    assert [read[0][key] for key in hashes] == [full[key] for key in hashes]
    assert read[0].keys() >= full.keys() - {"unknown"}
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
    assert digest(canonical_json(args)) == hashed
    assert digest(canonical_json(dict(reversed(args.items())))) == hashed


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


def test_a_long_request_stands_on_lines_that_hold_all_of_its_calls():
    calls = [call(f"tool_{number}", {"text": "x" * 300}, ok=number % 6 > 0) for number in range(60)]
    full = record(tool_calls=calls, override_calls=[override(), override(succeeded=False)])
    first, *parts = written(full)
    assert [line["part"] for line in parts] == list(range(1, len(parts) + 1))
    assert [one for line in (first, *parts) for one in line["tool_calls"]] == calls
    assert first["tool_calls_omitted"] == 60 - len(first["tool_calls"])
    assert first["override_calls"] == full["override_calls"]
    assert parts[0].keys() == {"part", "schema_version", "ts", "request_id", "tool_calls"}


@each_row(
    ("args", "stored"),
    [
        pytest.param({"axis": "a", "text": ["y" * 400] * 20}, ["axis", "text"], id="long strings"),
        pytest.param({"axis": "a", "b": [1] * 4000}, {"axis": "a", "b": "…"}, id="a long list"),
        pytest.param({f"{'키' * 60}{n}": n for n in range(90)}, {}, id="too many arguments"),
    ],
)
def test_a_call_that_fills_a_line_alone_loses_arguments_but_not_its_failure(args, stored):
    long = call("wide", args, ok=False, error="E" * 500)
    lines = written(record(tool_calls=[call(), long, call()]))
    _, read, after = [one for line in lines for one in line["tool_calls"]]
    assert (read["name"], read["ok"], read["error"][:9]) == ("wide", False, "E" * 9)
    assert (list(read["args"]) if isinstance(stored, list) else read["args"]) == stored
    assert after == call()


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
    lines = encode_line(
        record(**texts, tool_calls=calls, override_calls=overrides, judgment=judgment, chunk_len=2**63 - 1)
    ).splitlines(keepends=True)
    assert max(map(len, lines)) <= MAX_LINE_BYTES
    read = [json.loads(line) for line in lines]
    assert sum(len(line.get("tool_calls", ())) for line in read) == 200
    assert sum(len(line.get("override_calls", ())) for line in read) == 99


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
