"""The cheap look at a text: which signs it shows, so that hardly any rule has to run on hardly any text.

The cheapest look is that for which signs a text, or any text made of it by taking white space out, can show.
Nearly every text can show none, and needs no other look.
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

# Signs of the rules that hold where white space was taken out.
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
    """Two syllables of a title with blanks between them."""
    by_first = groupby(sorted(_PAIRS), key=lambda pair: pair[0])
    return "|".join(f"{first}\\s{{1,5}}[{''.join(pair[1] for pair in pairs)}]" for first, pairs in by_first)


@dataclass(frozen=True, slots=True)
class _Look:
    """What a sign looks like in lower case: words, or patterns with what a text that has them must hold.

    In a text without white space its own patterns count and more words; they may say more than the others,
    never less.
    """

    sign: Sign
    words: str = ""
    whole: Mapping[str, str] = field(default_factory=dict)
    closed_words: str = ""
    closed: Mapping[str, str] = field(default_factory=dict)


_LOOKS: Final = (
    _Look(Sign.TITLE, words=f"{_TITLES} name holder"),
    _Look(Sign.LATIN_TITLE, words=_LATIN_TITLES),
    _Look(Sign.KEYWORD, words=_KEYWORDS),
    _Look(Sign.PREFIX, words=_PREFIXES),
    _Look(Sign.AT, words="@"),
    _Look(
        Sign.SPOKEN_AT,
        whole={
            "": r"[\[({<|*_-]\s*(?:at|dot|앳|골뱅이|닷|점|\.|@)\s*[\])}>|*_-]|"
            r"\s(?:at|dot|앳)\s|골뱅이|\s@|@\s|닷\s?컴"
        },
        closed_words="@ 골뱅이 닷컴",
        closed={"": r"[\[({<|*_-](?:at|dot|[앳닷점.])[\])}>|*_-]"},
    ),
    _Look(
        Sign.LINK,
        whole={"": r":\s?\\?/|h\s?t\s?t\s?p\s?s?\s?:|www\.|\?[a-z0-9_.\[\]-]{1,40}="},
        closed_words=r":/ :\/ http: https: www.",
        closed={"?": r"\?[a-z0-9_.\[\]-]{1,40}="},
    ),
    _Look(Sign.DOTTED, whole={".": _DOTTED}, closed={".": _DOTTED}),
    _Look(Sign.COLONS, whole={":": _COLONS}, closed={":": _COLONS}),
    _Look(
        Sign.DIGITS,
        whole={"": r"[0-9](?:[^0-9a-z가-힣,\n]{0,4}[0-9]){6}|[0-9]{5}\n[0-9]{2}"},
        closed={"": r"[0-9](?:[^0-9a-z가-힣,]{0,4}[0-9]){6}"},
    ),
    _Look(
        Sign.CODES,
        whole={
            "": r"(?<![0-9a-z-])[a-z]{2}[0-9]{2}[ -]?[0-9a-z]{4}[ -]?[0-9a-z]{4}|"
            r"(?<![0-9a-z])[a-z]{1,2}[ -]?[0-9]{3}[a-z]?[0-9]{3}"
        },
        closed={"": r"[a-z]-?[0-9]{2}-?[0-9a-z]{4}"},
    ),
    _Look(Sign.TORN_TITLE, whole={"": _torn_titles()}, closed_words=" ".join(_PAIRS)),
    _Look(Sign.SPOKEN_DIGITS, whole={"": r"[공영]일[공영일육륙칠팔구]"}, closed_words="공일 영일"),
    _Look(
        Sign.HOME,
        whole={"": r"[\\/](?:home|users|documents and settings)[\\/]|~[a-z][\w.-]*/"},
        closed={"~": r"~[a-z]", "/": _HOME, "\\": _HOME},
    ),
)


def signs_of(text: str, *, among: int = ~0) -> int:
    """The bits of `Sign` that a text shows, of those that it may show."""
    return _shown(text, among, closed=False)


def closed_signs(text: str, compact: str) -> int:
    """The bits of `Sign` that a text may show with more or less of its white space; 0 for most texts.

    Parameters
    ----------
    text : str
        Any text.
    compact : str
        The same without any white space.
    """
    return _shown(compact, ~0, closed=True) | (int(Sign.SPOKEN_AT) if _AT_APART.search(text) else 0)


@lru_cache(maxsize=2)
def _compiled(
    *, closed: bool
) -> tuple[AhoCorasick, tuple[int, ...], tuple[tuple[int, str, re.Pattern[str]], ...]]:
    """Words, their bits; and bits, each with what a text must hold and the pattern."""
    bits: dict[str, int] = {}
    for look in _LOOKS:
        for word in [*look.words.split(), *(look.closed_words.split() if closed else ())]:
            bits[word] = bits.get(word, 0) | int(look.sign)
    patterns = (
        (int(look.sign), held, re.compile(pattern))
        for look in _LOOKS
        for held, pattern in (look.closed if closed else look.whole).items()
    )
    return AhoCorasick(list(bits)), tuple(bits.values()), tuple(patterns)


def _shown(text: str, among: int, *, closed: bool) -> int:
    words, bits, patterns = _compiled(closed=closed)
    lowered = text.lower() if text.isascii() else encodable(text.lower())  # half a surrogate ends the search
    found = 0
    for index, _, _ in words.find_matches_as_indexes(lowered, overlapping=True):
        found |= bits[index]
    for bit, held, pattern in patterns:
        if among & bit and held in lowered and pattern.search(lowered):
            found |= bit
    return found & among
