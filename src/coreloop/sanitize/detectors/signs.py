"""Cheap detection of the signs in a text, so that few rules have to run.

`closed_signs` covers a text and all variants with less white space: most texts show no sign and need no
further checks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import groupby, pairwise
from operator import or_
from typing import Final

from ahocorasick_rs import AhoCorasick

from coreloop.records import encodable
from coreloop.sanitize.detectors import RULES
from coreloop.sanitize.detectors.rule import Sign

# Signs of the rules that also hold after white space is removed.
JOINING: Final = int(reduce(or_, (rule.sign for rule in RULES if rule.joins)))

_KEYWORDS: Final = """
pass pwd pswd pw pin cvc cvv secret token key credential auth bearer basic cookie sess -u --user dsn conn
비밀 비번 패스워드 암호 핀 시크릿 토큰 키
"""
_PREFIXES: Final = """
akia asia abia acca agpa aida aipa anpa anva aroa ghp_ gho_ ghr_ ghs_ ghu_ github_ glpat- gldt- glrt-
glptt- glft- glimt- glagent- glsoat- glcbt- gloas- sk- aiza ya29 gocspx xox xapp- k_live k_test whsec_
npm_ pypi- hf_ hf- gsk_ gsk- r8_ xai- xai_ ntn_ lin_api dop_v1 shpat shpss shpca dckr_pat rubygems nvapi
pplx tvly sess- sess_ dapi figd sg. hooks.slack age-s eyj mii
"""
_TITLES: Final = """
씨 님 대표 이사 회장 사장 상무 전무 부장 차장 과장 대리 팀장 실장 본부장 센터장 지점장 사원 주임 선임 책임
수석 위원 의원 장관 차관 교수 박사 변호사 회계사 세무사 변리사 노무사 법무사 기자 앵커 선생 고객 회원 의사
간호사 약사 원장 매니저 연구원 애널리스트 감사 조합장 총장 학장 교장 판사 검사 형사 경위 경감 작가 감독
배우 선수 담당 작성자 신청 예금주 수취인 보호자 환자 직원 성명 성함 이름 실명 수신 발신 사람
"""
_LATIN_TITLES: Final = "mr ms miss mx dr prof sir madam lady ceo cfo cto coo chair president"
_PAIRS: Final = frozenset("".join(pair) for title in _TITLES.split() for pair in pairwise(title))
_DOTTED: Final = r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"
_COLONS: Final = r":[0-9a-f]{0,4}:"
_HOME: Final = r"[\\/](?:home|users|documentsandsettings)[\\/]"
_AT_APART: Final = re.compile(r"\s(?:[aAdD]\s*[oOtT]\s*[tT]?|앳)\s")


def _torn_titles() -> str:
    """Pattern of two syllables of a title with blanks between them."""
    by_first = groupby(sorted(_PAIRS), key=lambda pair: pair[0])
    return "|".join(f"{first}\\s{{1,5}}[{''.join(pair[1] for pair in pairs)}]" for first, pairs in by_first)


@dataclass(frozen=True, slots=True)
class _Form:
    """The forms of a sign in lower case: words, or patterns by a text that every match contains.

    The patterns for texts without white space (``closed_…``) and the additional words match at least as much.
    """

    sign: Sign
    words: str = ""
    patterns: Mapping[str, str] = field(default_factory=dict)
    closed_words: str = ""
    closed_patterns: Mapping[str, str] = field(default_factory=dict)


_FORMS: Final = (
    _Form(Sign.TITLE, words=f"{_TITLES} name holder"),
    _Form(Sign.LATIN_TITLE, words=_LATIN_TITLES),
    _Form(Sign.KEYWORD, words=_KEYWORDS),
    _Form(Sign.PREFIX, words=_PREFIXES),
    _Form(Sign.AT, words="@"),
    _Form(
        Sign.SPOKEN_AT,
        patterns={
            "": r"[\[({<|*_-]\s*(?:at|dot|앳|골뱅이|닷|점|\.|@)\s*[\])}>|*_-]|"
            r"\s(?:at|dot|앳)\s|골뱅이|\s@|@\s|닷\s?컴"
        },
        closed_words="@ 골뱅이 닷컴",
        closed_patterns={"": r"[\[({<|*_-](?:at|dot|[앳닷점.])[\])}>|*_-]"},
    ),
    _Form(
        Sign.LINK,
        patterns={"": r":\s?\\?/|h\s?t\s?t\s?p\s?s?\s?:|www\.|\?[a-z0-9_.\[\]-]{1,40}="},
        closed_words=r":/ :\/ http: https: www.",
        closed_patterns={"?": r"\?[a-z0-9_.\[\]-]{1,40}="},
    ),
    _Form(Sign.DOTTED, patterns={".": _DOTTED}, closed_patterns={".": _DOTTED}),
    _Form(Sign.COLONS, patterns={":": _COLONS}, closed_patterns={":": _COLONS}),
    _Form(
        Sign.DIGITS,
        patterns={"": r"[0-9](?:[^0-9a-z가-힣,\n]{0,4}[0-9]){6}|[0-9]{5}\n[0-9]{2}"},
        closed_patterns={"": r"[0-9](?:[^0-9a-z가-힣,]{0,4}[0-9]){6}"},
    ),
    _Form(
        Sign.CODES,
        patterns={
            "": r"(?<![0-9a-z-])[a-z]{2}[0-9]{2}[ -]?[0-9a-z]{4}[ -]?[0-9a-z]{4}|"
            r"(?<![0-9a-z])[a-z]{1,2}[ -]?[0-9]{3}[a-z]?[0-9]{3}"
        },
        closed_patterns={"": r"[a-z]-?[0-9]{2}-?[0-9a-z]{4}"},
    ),
    _Form(Sign.TORN_TITLE, patterns={"": _torn_titles()}, closed_words=" ".join(_PAIRS)),
    _Form(Sign.SPOKEN_DIGITS, patterns={"": r"[공영]일[공영일육륙칠팔구]"}, closed_words="공일 영일"),
    _Form(
        Sign.HOME,
        patterns={"": r"[\\/](?:home|users|documents and settings)[\\/]|~[a-z][\w.-]*/"},
        closed_patterns={"~": r"~[a-z]", "/": _HOME, "\\": _HOME},
    ),
)


def signs_of(text: str, *, among: int = ~0) -> int:
    """Return the bits of `Sign` that a text shows, limited to ``among``."""
    return _shown(text, among, closed=False)


def closed_signs(text: str, compact: str) -> int:
    """Return the bits of `Sign` that a text can show after any white space is removed; 0 for most texts.

    Parameters
    ----------
    text : str
        Any text.
    compact : str
        The text without white space.
    """
    return _shown(compact, ~0, closed=True) | (int(Sign.SPOKEN_AT) if _AT_APART.search(text) else 0)


@lru_cache(maxsize=2)
def _compiled(
    *, closed: bool
) -> tuple[AhoCorasick, tuple[int, ...], tuple[tuple[int, str, re.Pattern[str]], ...]]:
    """Compile the words with their bits, and the patterns with their bit and required text."""
    bits: dict[str, int] = {}
    for form in _FORMS:
        for word in [*form.words.split(), *(form.closed_words.split() if closed else ())]:
            bits[word] = bits.get(word, 0) | int(form.sign)
    patterns = (
        (int(form.sign), required, re.compile(pattern))
        for form in _FORMS
        for required, pattern in (form.closed_patterns if closed else form.patterns).items()
    )
    return AhoCorasick(list(bits)), tuple(bits.values()), tuple(patterns)


def _shown(text: str, among: int, *, closed: bool) -> int:
    words, bits, patterns = _compiled(closed=closed)
    lowered = text.lower() if text.isascii() else encodable(text.lower())  # a lone surrogate ends the search
    signs = 0
    for index, _, _ in words.find_matches_as_indexes(lowered, overlapping=True):
        signs |= bits[index]
    for bit, required, pattern in patterns:
        if among & bit and required in lowered and pattern.search(lowered):
            signs |= bit
    return signs & among
