"""Argument values in facts: what is equal, what is empty or unknown, and the buckets of numbers."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.encoding import ELIDED
from coreloop.learn.facts.values import EDGES, EMPTY, UNKNOWN, bucket_of, read_values, texts_by_hash
from rows import each_row


def _values(*values: Any, ensure_ascii: bool = False) -> list[int | None]:
    return read_values([json.dumps(value, ensure_ascii=ensure_ascii).encode() for value in values])[
        "value"
    ].to_list()


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
    first, second = _values(value, other)
    assert first == second
    assert first not in {None, EMPTY, UNKNOWN}


def test_values_that_differ_have_different_hashes():
    different = [123456789.5, 123456788.5, 0.1234567, "a", "A", "a b", True, False, [1], {"a": 1}, "가"]
    assert len(set(_values(*different))) == len(different)


@each_row(("value", "expected"), [(None, None), ("", EMPTY), ([], EMPTY), ({}, EMPTY), (ELIDED, UNKNOWN)])
def test_what_stands_for_a_value_without_a_hash(value: Any, expected: int | None):
    assert _values(value, ensure_ascii=True) == _values(value) == [expected]


@each_row(
    "raw", [b"1e400", b"9" * 5000, b"-" + b"9" * 400, b"[" * 300 + b"]" * 300, b'"' + b"x" * 100_000 + b'"']
)
def test_an_unusual_value_is_present_and_differs_from_others(raw: bytes):
    first, second = read_values([raw, b'"W1"'])["value"]
    assert first not in {None, EMPTY, second}


def test_bytes_that_are_not_utf_8_are_an_unknown_value_and_spoil_no_other():
    assert read_values([b'"a"', b'"\xff"', b'"b"'])["value"].to_list() == [
        *_values("a"),
        UNKNOWN,
        *_values("b"),
    ]


def test_line_ends_within_json_are_white_space():
    assert read_values([b'["a",\n"b"]', b'"c"', b"1"])["value"].to_list() == _values(["a", "b"], "c", 1)


def test_no_values_are_an_empty_frame():
    assert read_values([]).height == 0


def test_a_declared_value_has_the_hash_of_a_recorded_one():
    texts = ["delivered", " 배당 ", "true", "é"]
    assert texts_by_hash(texts) == dict(zip(_values(*texts), texts, strict=True))


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(_json, max_size=6))
def test_any_json_is_read_alike_however_it_is_written(values: list[Any]):
    rows = read_values([json.dumps(value, ensure_ascii=True).encode() for value in values])
    plain = [json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") for value in values]
    if all(b"?" not in text for text in plain):  # a lone surrogate can only be written escaped
        assert rows.equals(read_values(plain))
    for value, (number, bucket) in zip(values, rows.iter_rows(), strict=True):
        assert (number is None) == (value is None)
        assert (number == EMPTY) == (value in ("", [], {}))
        if type(value) in {int, float}:
            assert bucket == bucket_of(value) or abs(value) >= 2**53
        else:
            assert bucket is None


# --- buckets ---------------------------------------------------------------------------------------

_numbers = st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False)


@given(_numbers, _numbers)
def test_buckets_are_monotone(number: float, other: float):
    lower, higher = sorted((number, other))
    assert bucket_of(lower) <= bucket_of(higher)


@given(st.sampled_from(EDGES))
def test_a_bucket_ends_at_its_edge_which_it_holds(edge: float):
    place = bucket_of(edge)
    assert EDGES[place] == edge
    assert bucket_of(edge * 1.001) == place + 1


def test_zero_and_the_greatest_numbers_have_buckets():
    assert bucket_of(0) == 0
    assert bucket_of(10**400) == len(EDGES)
    assert bucket_of(-(10**400)) == -1 - len(EDGES)
