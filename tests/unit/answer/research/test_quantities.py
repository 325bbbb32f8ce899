"""Amounts in one unit, however they are written."""

import math

import pytest

from coreloop.answer.research.quantities import (
    Quantity,
    Span,
    is_rounded,
    read_spans,
    spans_agree,
    split_quantities,
)
from rows import each_row


def values(text: str) -> list[tuple[float, str]]:
    return [(amount.value, amount.unit) for amount in split_quantities(text)[0]]


@each_row(
    ("text", "value", "unit"),
    [
        ("1.2 million", 1_200_000, ""),
        ("1,200,000", 1_200_000, ""),
        ("120만", 1_200_000, ""),
        ("1.2M", 1_200_000, ""),
        ("1조 2,345억 6천만 원", 1_234_560_000_000, "krw"),
        ("3만 5000명", 35_000, "people"),
        ("$3.5bn", 3_500_000_000, "usd"),
        ("35억 달러", 3_500_000_000, "usd"),
        ("5 percent", 5, "%"),
        ("5퍼센트", 5, "%"),
        ("-3.5%", -3.5, "%"),
        ("3 km", 3_000, "m"),
        ("5-year", 60, "month"),
        ("세 명", 3, "people"),
        ("three men", 3, ""),
    ],
)
def test_an_amount_is_read_in_every_form(text: str, value: float, unit: str):
    assert values(text) == [(pytest.approx(value), unit)]


@each_row("text", ["세계", "version v1.2.3", "A4", "열심히", "tense"])
def test_words_and_versions_are_no_amounts(text: str):
    assert values(text) == []


@each_row(
    ("rough", "exact", "expected"),
    [
        ("1.2 million", "1,203,481", True),
        ("1,203,481", "1.2 million", False),
        ("200", "199.8", True),
        ("1.2 million", "1.3 million", False),
        ("5", "5.4", False),
        ("5%", "5 people", False),
        ("3 km", "3,000 m", True),
    ],
    ids=[
        "rounded",
        "more exact than the source",
        "a unit",
        "other",
        "by more than a twentieth",
        "unit",
        "km",
    ],
)
def test_a_claim_may_round_but_not_invent_digits(rough: str, exact: str, expected: bool):
    (one,), (other,) = split_quantities(rough)[0], split_quantities(exact)[0]
    assert is_rounded(one, other) is expected


@each_row(
    ("text", "low", "high"),
    [
        ("10–20 %", 10, 20),
        ("10에서 20%", 10, 20),
        ("between 10 and 20 %", 10, 20),
        ("more than 33 %", 33, math.inf),
        ("33% 이상", 33, math.inf),
        ("up to 33 %", -math.inf, 33),
        ("33% 미만", -math.inf, 33),
        ("about 50 %", 47.5, 52.5),
    ],
)
def test_ranges_and_bounds_are_spans(text: str, low: float, high: float):
    spans = read_spans(text)
    assert len(spans) == 1
    assert (spans[0].low, spans[0].high) == pytest.approx((low, high), abs=0.5)


def test_spans_of_different_units_do_not_agree():
    assert spans_agree(Span(1, 5, "m"), Span(5, 9, "m"))
    assert not spans_agree(Span(1, 5, "m"), Span(5, 9, "kg"))


def test_the_text_without_its_amounts_is_returned():
    amounts, rest = split_quantities("it sold 5 cars")
    assert amounts == (Quantity(5.0, "", 1.0),)
    assert rest.split() == ["it", "sold", "cars"]
