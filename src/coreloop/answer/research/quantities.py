"""Amounts of a text, Korean and English, in one unit each: 1.2 million, 120만 and 1,200,000 are equal."""

import math
import re
from dataclasses import dataclass, field
from typing import Final

_SCALES: Final = {
    "조": 1e12, "천억": 1e11, "백억": 1e10, "십억": 1e9, "억": 1e8, "천만": 1e7, "백만": 1e6, "십만": 1e5,
    "만": 1e4, "천": 1e3, "백": 1e2, "trillion": 1e12, "tn": 1e12, "billion": 1e9, "bn": 1e9, "million": 1e6,
    "mn": 1e6, "thousand": 1e3, "hundred": 1e2, "K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9,
}  # fmt: skip
_UNITS: Final = {
    "%": ("%", 1.0), "percent": ("%", 1.0), "퍼센트": ("%", 1.0), "프로": ("%", 1.0),
    "%p": ("%p", 1.0), "%포인트": ("%p", 1.0), "% 포인트": ("%p", 1.0), "퍼센트포인트": ("%p", 1.0),
    "퍼센트 포인트": ("%p", 1.0), "percentage point": ("%p", 1.0), "pp": ("%p", 1.0),
    "$": ("usd", 1.0), "us$": ("usd", 1.0), "usd": ("usd", 1.0), "dollar": ("usd", 1.0), "달러": ("usd", 1.0),
    "₩": ("krw", 1.0), "krw": ("krw", 1.0), "won": ("krw", 1.0), "원": ("krw", 1.0),
    "€": ("eur", 1.0), "eur": ("eur", 1.0), "euro": ("eur", 1.0), "유로": ("eur", 1.0),
    "£": ("gbp", 1.0), "gbp": ("gbp", 1.0), "¥": ("jpy", 1.0), "jpy": ("jpy", 1.0), "yen": ("jpy", 1.0),
    "엔": ("jpy", 1.0),
    "km": ("m", 1e3), "킬로미터": ("m", 1e3), "kilometer": ("m", 1e3), "kilometre": ("m", 1e3),
    "m": ("m", 1.0), "미터": ("m", 1.0), "meter": ("m", 1.0), "metre": ("m", 1.0), "cm": ("m", 1e-2),
    "센티미터": ("m", 1e-2), "mm": ("m", 1e-3), "mile": ("m", 1609.344), "마일": ("m", 1609.344),
    "foot": ("m", 0.3048), "feet": ("m", 0.3048), "ft": ("m", 0.3048), "inch": ("m", 0.0254),
    "inches": ("m", 0.0254),
    "kg": ("kg", 1.0), "킬로그램": ("kg", 1.0), "kilogram": ("kg", 1.0), "g": ("kg", 1e-3),
    "그램": ("kg", 1e-3), "gram": ("kg", 1e-3), "mg": ("kg", 1e-6),
    "ton": ("kg", 1e3), "tonne": ("kg", 1e3), "톤": ("kg", 1e3),
    "lb": ("kg", 0.45359237), "pound": ("kg", 0.45359237),
    "시간": ("s", 3600.0), "hour": ("s", 3600.0), "분": ("s", 60.0), "minute": ("s", 60.0), "초": ("s", 1.0),
    "second": ("s", 1.0), "ms": ("s", 1e-3), "일": ("s", 86400.0), "day": ("s", 86400.0),
    "주": ("s", 604800.0), "week": ("s", 604800.0), "개월": ("month", 1.0), "month": ("month", 1.0),
    "년": ("month", 12.0), "year": ("month", 12.0),
    "명": ("people", 1.0), "people": ("people", 1.0), "person": ("people", 1.0), "employee": ("people", 1.0),
    "개": ("things", 1.0), "곳": ("things", 1.0), "건": ("cases", 1.0),
    "위": ("rank", 1.0), "배": ("times", 1.0), "times": ("times", 1.0),
    "mb": ("byte", 1e6), "gb": ("byte", 1e9), "kb": ("byte", 1e3), "tb": ("byte", 1e12),
}  # fmt: skip
"""A unit's family and how many of the family's unit it is."""
_TO_NINETEEN: Final = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_SPELLED: Final = {
    **{
        word: number
        for number, word in enumerate(
            ["두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열"], start=2
        )
    },
    **{word: number for number, word in enumerate(_TO_NINETEEN.split(), start=2)},
    **{word: 10 * number for number, word in enumerate(_TENS.split(), start=2)},
}
_ENGLISH_NUMBER: Final = "|".join(word for word in _SPELLED if word.isascii())
_KOREAN_SCALE: Final = r"(?:천억|백억|십억|천만|백만|십만|조|억|만|천|백)"
_WORD_END: Final = r"(?![^\W가-힣])"
"""Of a Latin unit; a Korean particle or copula may follow it: ``494km이다``."""
_UNIT: Final = "|".join(
    re.escape(unit) + ("" if not unit.isascii() or not unit.isalpha() else rf"s?{_WORD_END}")
    for unit in sorted(_UNITS, key=len, reverse=True)
)
_NUMBER: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_QUANTITY: Final = re.compile(
    rf"""(?<![A-Za-z\d_.,])(?P<sign>[-−]\s?)? (?P<currency>US\$|[$₩€£¥])?\s?
        (?:(?P<amount>(?:{_NUMBER})\s?{_KOREAN_SCALE}(?:\s?(?:{_NUMBER})\s?{_KOREAN_SCALE})*(?:\s?(?:{_NUMBER}))?)
          |(?P<number>{_NUMBER})(?:[\s-]?(?P<scale>trillion|billion|million|thousand|hundred|[bmt]n{_WORD_END})
                                  |(?P<letter>[KkMB]){_WORD_END})?
          |(?P<word>(?i:\b(?:{_ENGLISH_NUMBER})\b(?![\s-](?:{_ENGLISH_NUMBER}|one)\b))
                    |(?<![가-힣])(?:두|세|네|다섯|여섯|일곱|여덟|아홉|열)(?=\s[가-힣]|[개명번살달]))
        )(?:[\s-]?(?P<unit>{_UNIT}))?""",
    re.VERBOSE,
)
_PIECE: Final = re.compile(rf"({_NUMBER})\s?({_KOREAN_SCALE})?")


_RANGE: Final = re.compile(r"\s?(?:[-–~∼]|to|and|에서|부터|내지)\s?")
_AT_LEAST: Final = re.compile(
    r"\b(?:more than|over|at least|above|exceed\w*|minimum of|from)\s?$", re.IGNORECASE
)
_AT_MOST: Final = re.compile(
    r"\b(?:less than|fewer than|under|at most|below|up to|maximum of)\s?$", re.IGNORECASE
)
_ROUGHLY: Final = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|nearly|almost|some)|약|대략|거의)\s?$", re.IGNORECASE
)
_OR_MORE: Final = re.compile(r"\s?(?:이상|초과|을 넘|를 넘|이 넘|\+|or more)")
_OR_LESS: Final = re.compile(r"\s?(?:이하|미만|까지|or less|or fewer)")
_OR_SO: Final = re.compile(r"\s?(?:여|정도|쯤|가량|안팎|내외|or so)")


_ROUGH_SHARE: Final = 0.05  # chosen, with the next: about 30 days may be 29 or 31
_ROUND_SHARE: Final = 0.02
"""The most that ``about`` and rounding leave out."""


@dataclass(frozen=True, slots=True)
class Span:
    """Amounts from ``low`` to ``high``, in the unit of a family."""

    low: float
    high: float
    unit: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount.

    Attributes
    ----------
    value : float
        In the unit of its family: metres, kilograms, seconds, months, or what was written.
    unit : str
        The family: ``%``, ``usd``, ``m``, …; empty if the unit is not known.
    step : float
        One of the last digit that was written: 100,000 in ``1.2 million``.
    text : str
        As it was written.
    """

    value: float
    unit: str
    step: float
    text: str = field(default="", compare=False)


def find_quantities(text: str) -> list[tuple[Quantity, int, int]]:
    """Return the amounts of a text whose dates were taken out, where each begins and where it ends."""
    return [(_read(match), match.start(), match.end()) for match in _QUANTITY.finditer(text)]


def split_quantities(text: str) -> tuple[tuple[Quantity, ...], str]:
    """Return the amounts of a text whose dates were taken out, and the text without them."""
    return tuple(_read(match) for match in _QUANTITY.finditer(text)), _QUANTITY.sub(" ", text)


def is_rounded(rough: Quantity, exact: Quantity) -> bool:
    """Return whether one amount is another one, or that one rounded (by at most a twentieth)."""
    if rough.unit and exact.unit and rough.unit != exact.unit:
        return False
    apart = abs(rough.value - exact.value)
    converted = 1e-9 * abs(exact.value)
    return apart <= converted or (
        rough.step > exact.step and apart <= rough.step / 2 and apart * 20 <= abs(exact.value)
    )


def read_spans(text: str) -> tuple[Span, ...]:
    """Return the amounts of a text as ranges: ``10–20 %``, ``over 100``, ``100 이상``, ``about 5``."""
    matches = list(_QUANTITY.finditer(text))
    spans: list[Span] = []
    for place, match in enumerate(matches):
        before = text[matches[place - 1].end() if place else 0 : match.start()]
        after = text[match.end() : matches[place + 1].start() if place + 1 < len(matches) else None]
        span = _span(_read(match), before, after)
        if spans and _RANGE.fullmatch(before):
            span = Span(min(spans[-1].low, span.low), max(spans.pop().high, span.high), span.unit)
        spans.append(span)
    return tuple(spans)


def spans_agree(one: Span, other: Span) -> bool:
    """Return whether two ranges of one unit overlap."""
    return one.unit == other.unit and one.low <= other.high and other.low <= one.high


def _span(amount: Quantity, before: str, after: str) -> Span:
    if _AT_LEAST.search(before) or _OR_MORE.match(after):
        return Span(amount.value, math.inf, amount.unit)
    if _AT_MOST.search(before) or _OR_LESS.match(after):
        return Span(-math.inf, amount.value, amount.unit)
    is_rough = _ROUGHLY.search(before) or _OR_SO.match(after)
    room = abs(amount.value) * (_ROUGH_SHARE if is_rough else _ROUND_SHARE)
    room = room if is_rough else min(room, _zeros(amount) / 2)
    return Span(amount.value - room, amount.value + room, amount.unit)


def _zeros(amount: Quantity) -> float:
    """One of the last digit that is no zero: 100,000 in ``1,200,000``, which may be rounded."""
    step = amount.step
    while step and amount.value and abs(amount.value / (step * 10)) % 1 < 1e-9:
        step *= 10
    return step


def _read(match: re.Match[str]) -> Quantity:
    value, step = _value(match)
    family, factor = _UNITS.get(
        (match["currency"] or match["unit"] or "").casefold().removesuffix("s"), ("", 1.0)
    )
    sign = -1 if match["sign"] else 1
    return Quantity(sign * value * factor, family, step * factor, match[0].strip())


def _value(match: re.Match[str]) -> tuple[float, float]:
    if match["word"]:
        return float(_SPELLED[match["word"].casefold()]), 1.0
    if match["amount"]:
        pieces = [(number, _SCALES.get(scale, 1.0)) for number, scale in _PIECE.findall(match["amount"])]
    else:
        pieces = [(match["number"], _SCALES.get(match["scale"] or match["letter"], 1.0))]
    value = sum(float(number.replace(",", "")) * scale for number, scale in pieces)
    number, scale = pieces[-1]
    return value, scale * 10.0 ** -len(number.partition(".")[2])
