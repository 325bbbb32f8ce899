"""The `Rule` type, the signs that decide whether its pattern is applied, and what a run looks for."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntFlag, auto
from typing import Final, Literal, NamedTuple, Protocol, get_args


class Sign(IntFlag):
    """Features of a text that are required before a rule is applied."""

    AT = auto()
    SPOKEN_AT = auto()
    LINK = auto()
    DOTTED = auto()
    COLONS = auto()
    MAC = auto()
    DIGITS = auto()
    TEN_DIGITS = auto()
    CODES = auto()
    SECRET_RUN = auto()
    PASSWORD = auto()
    CREDENTIAL = auto()
    AUTHORIZATION = auto()
    USER_OPTION = auto()
    PRIVATE_KEY = auto()
    DER = auto()
    HOME = auto()
    TITLE = auto()
    LATIN_TITLE = auto()
    NAME = auto()
    INTRODUCTION = auto()
    BIRTH = auto()
    STREET = auto()
    NATIONAL = auto()
    KEY_BODY = auto()
    OWN = auto()
    FIRST_TOKEN = auto()  # one bit for each row of `TOKENS` from here on


NONE: Final = Sign(0)


@dataclass(frozen=True, slots=True)
class Rule:
    """A notation of private data.

    Attributes
    ----------
    kind : str
        Kind of data; it is replaced by ``[KIND-n]``.
    pattern : str
        Regular expression; the group ``value``, or else the whole match, is cut.
    sign : Sign
        Signs of which the text must show one.
    check : callable, optional
        Validates a match: checksums, dates, context.
    near : str, optional
        Regular expression that must match within `BEFORE` characters before or `AFTER` characters after.
    """

    kind: str
    pattern: str
    sign: Sign
    check: Callable[[re.Match[str]], bool] | None = None
    near: str | None = None


Check = Callable[[re.Match[str]], bool]


def rules(kind: str, sign: Sign, *forms: str | tuple[Check | str | None, ...]) -> tuple[Rule, ...]:
    """Rules of one kind and sign: a pattern each, or a check and the parts of its pattern."""
    rows = ((None, form) if isinstance(form, str) else form for form in forms)
    return tuple(
        Rule(kind, "".join(map(str, parts)), sign, None if isinstance(check, str) else check)
        for check, *parts in rows
    )


BEFORE: Final = 28  # chosen: a label, a colon and a title fit, as in "주민등록번호 (뒷자리 포함): "
AFTER: Final = 14  # chosen: a label in brackets fits; beyond it another value may begin

_HEX_RUN: Final = re.compile(r"[0-9A-Za-z_-]{0,80}")
_WORD_BEFORE: Final = re.compile(r"[A-Za-z]+\Z")
_SECURITY: Final = re.compile(r"[A-Z]{2}[A-Z0-9]{9}[0-9](?![A-Za-z0-9])")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MONEY_BEHIND: Final = re.compile(
    r"\s?(?:원|won\b|krw|usd|eur|달러|억|조(?!회)|만|천|백만|십억|주\b|%|퍼센트|건|명(?!의)|개|배|년|bps?\b|bytes?)",
    re.IGNORECASE,
)
_MONEY_AHEAD: Final = re.compile(
    r"(?:(?:매출(?!채권)|이익|손익|손실|자산|부채|자본|금액|가격|시총|시가총액|거래량|거래대금|비용|현금|차입금|잔액|예산)(?!비율|흐름|률)|"
    r"revenue|sales|amount|profit|income|asset|equity|price|volume|total|market.?cap|cash|cost|debt|size|bytes|"
    r"elapsed|duration|timestamp|epoch|isbn|corp.?code|바코드|barcode|(?<![a-z])ts\b|₩|\$|￦|krw|usd)[^\n0-9.?!]{0,8}\Z",
    re.IGNORECASE,
)


def ahead(match: re.Match[str], chars: int = BEFORE) -> str:
    """The text just before the value."""
    start = value_span(match)[0]
    return match.string[max(0, start - chars) : start]


def behind(match: re.Match[str], chars: int = AFTER) -> str:
    """The text just after the value."""
    end = value_span(match)[1]
    return match.string[end : end + chars]


def value_span(match: re.Match[str]) -> tuple[int, int]:
    """The span to cut: the group ``value``, or the whole match."""
    return match.span("value") if "value" in match.re.groupindex else match.span()


def is_money(match: re.Match[str]) -> bool:
    """Whether the words around a number mark it as an amount, a count or a time."""
    after = behind(match)
    # 110-123-456789만: a particle, not ten thousand
    is_particle = after.startswith("만") and re.search(r"[-+() ]", match.string[slice(*value_span(match))])
    return bool((not is_particle and _MONEY_BEHIND.match(after)) or _MONEY_AHEAD.search(ahead(match)))


def in_row(match: re.Match[str]) -> bool:
    """Whether a neighbouring number has as many digits as the first or last group; years are ignored."""
    groups = re.findall("[0-9]+", match.string[slice(*value_span(match))])
    before = re.search(r"(?<![^\s])(?!(?:19|20)[0-9]{2} )([0-9]+) \Z", ahead(match))
    after = re.match(r" ([0-9]+)(?![0-9년.-])", behind(match))
    return bool((before and len(before[1]) == len(groups[0])) or (after and len(after[1]) == len(groups[-1])))


def stands_alone(match: re.Match[str]) -> bool:
    """Whether digits are a separate number, not part of a hash, an id or a decimal fraction."""
    text = match.string
    start, end = value_span(match)
    if re.match(r"[A-Za-z_]", text[end : end + 1]):
        return False
    before = text[max(0, start - 40) : start]
    if re.search(r"[0-9]\.\Z", before) or re.match(r"\.[0-9]", text[end : end + 2]):
        return False
    if re.match(r",[0-9]{3}(?![0-9])", text[end : end + 5]) and re.search(
        r"(?<![0-9])[0-9]{1,3}\Z", text[start:end]
    ):
        return False  # a comma between thousands; others separate the fields of a row
    if before.endswith("_"):
        before = before.rstrip("_")
        return not before[-1:].isdigit()
    if before.endswith("-"):
        run = re.search(r"[0-9A-Za-z_-]*\Z", before)
        joined = (run[0] if run else "") + (_HEX_RUN.match(text, start) or match)[0]
        return not _UUID.search(joined) and not re.search(r"[0-9]-\Z", before)
    word = _WORD_BEFORE.search(before)
    if word is None:
        return True
    glued = before[: word.start()]
    if is_isin(text[max(0, start - len(word[0])) : end + 12]):
        return False
    return len(word[0]) > 1 and not re.search(r"[0-9_-]\Z", glued) and not re.fullmatch(r"[a-fA-F]+", word[0])


def is_isin(text: str) -> bool:
    """Whether a text begins with an ISIN with a valid check digit (ISO 6166)."""
    isin = _SECURITY.match(text)
    if isin is None:
        return False
    digits = "".join(str(int(char, 36)) for char in isin[0])
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(two // 10 + two % 10 for two in doubled) % 10 == 0


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list that is written as a text."""
    return frozenset(text.split())


def digits_of(text: str) -> str:
    """Return only the ASCII digits."""
    return re.sub(r"[^0-9]", "", text)


Country = Literal["kr", "us", "uk", "eu"]
COUNTRIES: Final[tuple[Country, ...]] = get_args(Country)


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """A form of private data that the project describes.

    Attributes
    ----------
    kind : str
        Two to nine capital letters; the label is ``[KIND-n]``.
    pattern : str
        Regular expression in Python's syntax; the group ``value``, or else the whole match, is cut.
    """

    kind: str
    pattern: str


class Hit(NamedTuple):
    """A finding: its kind as in its label (``EMAIL``, ``PHONE``), and its place in the original text.

    ``value`` is the undisguised value, or the code of a company, so that equal values get equal labels.
    """

    kind: str
    start: int
    end: int
    value: str


class Companies(Protocol):
    """Companies by name and by stock code."""

    def find(self, text: str) -> list[Hit]: ...

    def has_code(self, text: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Detection:
    """The choices of a run.

    Attributes
    ----------
    countries : tuple of str
        Countries whose numbers, addresses and names are searched.
    own : tuple of OwnPattern
        The project's own patterns.
    names : tuple of str
        Companies to mask, if there is no file of names.
    allow : frozenset of str
        Values that stay: a finding whose whole text is one of them.
    companies : Companies or None
        Companies that are searched, too.
    """

    countries: tuple[Country, ...] = COUNTRIES
    own: tuple[OwnPattern, ...] = ()
    names: tuple[str, ...] = ()
    allow: frozenset[str] = frozenset()
    companies: Companies | None = None


_current: list[Detection] = [Detection()]


def current() -> Detection:
    """Return the choices of this process."""
    return _current[0]


def use(detection: Detection) -> None:
    """Search with these choices from now on."""
    _current[0] = detection


@contextmanager
def using(detection: Detection) -> Iterator[None]:
    """Search with these choices within the block."""
    before = current()
    use(detection)
    try:
        yield
    finally:
        use(before)
