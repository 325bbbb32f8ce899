"""Argument values in facts: what is equal, what is empty or unknown, and how texts are written."""

import json
from typing import Any

from coreloop.base.record_lines import ELIDED
from coreloop.learn.statements.values import Value, read_value
from rows import each_row


def _value(value: Any, *, ensure_ascii: bool = False) -> Value:
    return read_value(json.dumps(value, ensure_ascii=ensure_ascii).encode())


@each_row(
    ("value", "other"),
    [
        ("W1", " W1 "),
        ("é", "e\u0301"),
        (1, 1.0),
        (7, "7"),
        (True, "true"),
        (123456789, 123456789.0),
        (0, -0.0),
    ],
)
def test_equivalent_values_have_the_same_hash(value: Any, other: Any):
    assert _value(value).value == _value(other).value is not None


@each_row(
    ("value", "kind"),
    [(None, "null"), ("", "empty"), ([], "empty"), ({}, "empty"), (ELIDED, "unknown"), ("…a", "text")],
)
def test_a_value_without_a_hash_has_a_kind_that_says_why(value: Any, kind: str):
    for is_ascii in (True, False):
        read = _value(value, ensure_ascii=is_ascii)
        assert (read.kind, read.value is None) == (kind, kind != "text")


@each_row(
    "raw", [b"1e400", b"9" * 5000, b"-" + b"9" * 400, b"[" * 300 + b"]" * 300, b'"' + b"x" * 100_000 + b'"']
)
def test_an_unusual_value_is_present_and_differs_from_others(raw: bytes):
    read = read_value(raw)
    assert read.kind != "null"
    assert read.value != _value("W1").value


def test_bytes_that_are_not_utf_8_are_an_unknown_value():
    assert read_value(b'"\xff"') == Value("unknown")


@each_row(
    ("value", "shape", "letters"),
    [
        ("2026-04-25", "as YYYY-MM-DD", None),
        ("2026-04-25T09:30:00+00:00", "as YYYY-MM-DDTHH:MM", "upper"),
        ("2026-04-25 09:30", "other time", None),
        ("2026-04", "as YYYY-MM", None),
        ("2026-13", "identifier", None),
        ("+82 10-1234-5678", "with a country code (+…)", None),
        ("010-1234-5678", "identifier", None),
        ("25.04.2026", "other date", None),
        ("04/25/26", "other date", None),
        ("0042", "a whole number", None),
        ("-1,234.50", "separated", None),
        ("1,5", "decimal", None),
        ("66fd9aca-0c73-e524-e91e-c424fe4f8886", "a UUID", "lower"),
        ("ann@example.com", "an e-mail address", "lower"),
        ("https://example.com/a", "address", "lower"),
        ("/srv/data.csv", "an absolute path", "lower"),
        ("~/data.csv", "an absolute path", "lower"),
        ("C:\\data.csv", "an absolute path", "mixed"),
        ("data/a.csv", "relative path", "lower"),
        ("#W123", "prefixed", "upper"),
        ("ORD-0012-a", "prefixed", "mixed"),
        ("12ab", "identifier", "lower"),
        ("None", "null word", "mixed"),
        ("delivered", "word", "lower"),
        ("삼성전자", "word", None),
        ("wrong size", "text", "lower"),
        ("room 5", "text", "lower"),
    ],
)
def test_the_shape_of_a_text_says_how_it_is_written(value: str, shape: str, letters: str | None):
    read = _value(value)
    assert (read.kind, read.shape, read.letters, read.length) == ("text", shape, letters, len(value))


def test_dates_and_times_as_numbers_are_in_order():
    texts = ["2026-04-25", "2026-04-25T09:30:00Z", "2026-04-25 10:00", "2026-04-26"]
    numbers = [_value(text).number or 0 for text in texts]
    assert numbers == sorted(numbers)
    assert numbers[3] - numbers[0] == 86_400
    assert _value("2026-13-45").number is None
