"""What must agree before words are compared: numbers, dates, operators, negation, scripts, direction.

Two queries whose guards differ are different, however similar their words are. `benchmarks/duplicates.py`
measures how many paraphrases each guard refuses. Languages of one script are told apart by their words alone.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from coreloop.base.language.words import shorten_query

# "1,000", "-0.5%", "3분기", "5 million": a Korean unit follows without a space, since "2023 일본" has none
_NUMBER: Final = re.compile(
    r"""(?P<sign>(?<!\S)-)?
        (?P<digits>\d+(?:,\d{3})*(?:\.\d+)*)
        (?:\s?(?P<unit>%|percent\b|million\b|billion\b|trillion\b|thousand\b|bn\b)
          |(?P<adjacent>퍼센트|프로(?!그)|분기|개월|[만억조월일주시도]|[kmbt]\b|q(?=\d|\b)))?""",
    re.VERBOSE,
)
_UNITS: Final = {
    "퍼센트": "%", "프로": "%", "percent": "%", "분기": "q", "billion": "b", "bn": "b", "million": "m",
    "thousand": "k", "trillion": "t",
}  # fmt: skip
_QUARTER: Final = re.compile(r"\bq([1-4])(?!\d)")
_SINO: Final = re.compile(
    r"""(?<![가-힣])
        (?:([일이삼사오육칠팔구십백천]{0,6}[십백천][일이삼사오육칠팔구십백천]{0,6})\s?(?=[도월일년분층명대개번점]|시간|단계|퍼센트)
          |([일이삼사오육칠팔구])(?=단계|퍼센트|개월|분기|월))""",
    re.VERBOSE,
)
_SINO_DIGITS: Final = {digit: value for value, digit in enumerate("일이삼사오육칠팔구", start=1)}
_SINO_POWERS: Final = {"십": 10, "백": 100, "천": 1_000}
# "두 시간", not "두 개 중" (one of two)
_NATIVE: Final = re.compile(
    r"(?<![가-힣])(두|세|네|다섯|여섯|일곱|여덟|아홉|열)\s?(?=시|달|명|번|배|살|단계|주)"
)
_COUNTS: Final = {
    word: str(value)
    for value, word in enumerate(["두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열"], start=2)
}
_DATE: Final = re.compile(
    r"오늘|내일|모레|어제|올해|금년|내년|작년|전년|재작년|상반기|하반기|[월화수목금토일]요일"
    r"|(?:이번|다음|지난|저번)\s?(?:주말|주|달|월|해|년|분기|학기)"
    r"|\b(?:today|tomorrow|yesterday|(?:this|next|last|previous)\s(?:week|month|year|quarter))\b"
    r"|\b(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)(?=(?:uary|ruary|ch|il|e|y|ust|tember|t|ober|ember)?\b)"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
)
_SAME_DATE: Final = {
    "금년": "올해", "이번해": "올해", "이번년": "올해", "다음해": "내년", "다음년": "내년", "전년": "작년",
    "저번": "지난", "previous": "last",
}  # fmt: skip
_OPERATOR: Final = re.compile(
    r"(?<!\w)-?[A-Za-z][\w.]*:(?=\S)\S+"  # site:dart.fss.or.kr, -lang:en, https://…
    r'|"[^"]+"'
    r"|(?<!\S)-[^\W\d]\S*"  # -reddit
    r"|(?<!\S)(?:AND|OR|NOT|NEAR)(?!\S)"
    r"|[<>=!]=|&&|\|\||[<>*≤≥≠]"
)
_NEGATION: Final = re.compile(
    r"(?<!\S)(?<!집\s)(?<!방\s)(?:안|못)\s(?=[가-힣])|(?<!\S)(?:안|못)(?=[되돼받쓰읽보먹가오나하한했쓴썼간온])"
    r"|지\s?않(?!을까|으시겠)|없(?!을까|나|니\b|습니까|으려나)|말고|아닌(?!가|지)|불가|금지|제외|거부"
    r"|(?<![인할을일한는은올갈될볼])지\s?(?:마\b|마[라세]|말(?!해|씀))"
    r"|\b(?:not?|without|never|except|excluding|exclude|cannot|unlike|neither|nor)\b|\bnon-|n['’]t\b"
)
_EQUAL: Final = ("numbers", "dates", "operators", "scripts", "is_negated")
_WORD: Final = r"([a-z][a-z0-9+#._-]{0,40}|[가-힣]{2,16}?)"
_SOURCE: Final = re.compile(
    rf"{_WORD}(?:에서|을|를|이|가)(?![가-힣])|\bfrom\s{_WORD}|(?<!\S){_WORD}\s(?:to|into|than|over)\b"
)
_TARGET: Final = re.compile(
    rf"{_WORD}(?:으로|로|에게|한테|보다)(?![가-힣])|\b(?:to|into|than|over)\s{_WORD}(?!\S)"
)
_SUBJECT: Final = re.compile(rf"{_WORD}(?:이|가|은|는)(?![가-힣])")
_OBJECT: Final = re.compile(rf"{_WORD}(?:을|를)(?![가-힣])")


@dataclass(frozen=True, slots=True)
class Guards:
    """What must agree in two queries that ask the same.

    Attributes
    ----------
    numbers, dates, operators, scripts : frozenset of str
        In one spelling: ``삼십 도`` and ``30도`` have the same number.
    is_negated : bool
        The query contains a negation or an exclusion.
    sources, targets : frozenset of str
        ``csv`` and ``json`` in ``csv to json``; ``ibm=`` and ``sap=``, subject and object, in ``IBM이 SAP를
        인수``. They need not be equal, but must not be exchanged.
    """

    numbers: frozenset[str]
    dates: frozenset[str]
    operators: frozenset[str]
    scripts: frozenset[str]
    is_negated: bool
    sources: frozenset[str]
    targets: frozenset[str]


def differing_guards(first: Guards, other: Guards) -> tuple[str, ...]:
    """Names of the guards that tell two queries apart; symmetric."""
    names = [name for name in _EQUAL if getattr(first, name) != getattr(other, name)]
    return (*names, "direction") if is_reversed(first, other) else tuple(names)


def is_reversed(first: Guards, other: Guards) -> bool:
    """Return whether a source of one is a target of the other, and the other way round."""
    return bool(first.sources & other.targets and first.targets & other.sources)


@lru_cache(maxsize=1_024)
def read_guards(query: str) -> Guards:
    """Find what must agree in a query."""
    written = " ".join(unicodedata.normalize("NFKC", shorten_query(query)).split())
    text = written.casefold()
    return Guards(
        numbers=frozenset(_numbers(text)),
        dates=frozenset(_date_name(date) for date in _DATE.findall(text)),
        operators=frozenset(operator.casefold() for operator in _OPERATOR.findall(written)),
        scripts=frozenset(_script(char) for char in set(text) if char.isalpha()),
        is_negated=_NEGATION.search(text) is not None,
        sources=_words(_SOURCE, text) | {f"{word}=" for word in _words(_SUBJECT, text)},
        targets=_words(_TARGET, text) | {f"{word}=" for word in _words(_OBJECT, text)},
    )


def _numbers(text: str) -> list[str]:
    return [
        *(_number(match) for match in _NUMBER.finditer(_QUARTER.sub(r"\1q", text))),
        *(f"{_sino_value(match[1] or match[2])}{_sino_unit(text, match)}" for match in _SINO.finditer(text)),
        *(_COUNTS[match[1]] for match in _NATIVE.finditer(text)),
    ]


def _number(match: re.Match[str]) -> str:
    """Return ``1000``, ``-0.5%``, ``3q``."""
    unit = match["unit"] or match["adjacent"] or ""
    return f"{match['sign'] or ''}{match['digits'].replace(',', '')}{_UNITS.get(unit, unit)}"


def _sino_value(word: str) -> int:
    """Read ``삼십육`` as 36."""
    total, digit = 0, 0
    for char in word:
        if char in _SINO_POWERS:
            total, digit = total + (digit or 1) * _SINO_POWERS[char], 0
        else:
            digit = _SINO_DIGITS[char]
    return total + digit


def _sino_unit(text: str, match: re.Match[str]) -> str:
    found = re.match("퍼센트|분기|개월|[월일도]", text[match.end() : match.end() + 3])
    return _UNITS.get(found[0], found[0]) if found else ""


def _date_name(date: str) -> str:
    date = re.sub(r"\s", "" if "가" <= date[0] <= "힣" else " ", date)
    for word, same in _SAME_DATE.items():
        date = date.replace(word, same)
    return date


def _script(letter: str) -> str:
    """Return ``HANGUL``, ``LATIN``, ``CJK``, …; both kana are one script."""
    name = unicodedata.name(letter, "UNKNOWN").partition(" ")[0]
    return "KANA" if name in {"HIRAGANA", "KATAKANA"} else name


def _words(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(word for match in pattern.finditer(text) for word in match.groups() if word)
