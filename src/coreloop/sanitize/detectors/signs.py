"""The cheap look at a text: which signs it shows, so that hardly any rule has to run on hardly any text."""

import re
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Final

from ahocorasick_rs import AhoCorasick

from coreloop.records import encodable
from coreloop.sanitize.detectors.rule import Sign

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


TITLE_PAIRS: Final = frozenset(map("".join, (pair for title in _TITLES.split() for pair in pairwise(title))))


def _torn_titles() -> str:
    """Two syllables of a title with blanks between them."""
    by_first = groupby(sorted(TITLE_PAIRS), key=lambda pair: pair[0])
    return "|".join(f"{first}\\s{{1,5}}[{''.join(pair[1] for pair in pairs)}]" for first, pairs in by_first)


# A sign, and a pattern that a text's lower case must hold; what is changed here is changed in `closed` too.
# Words are looked for all at once, which is many times quicker.
_SIGNS: Final[tuple[tuple[Sign, str], ...]] = (
    (
        Sign.SPOKEN_AT,
        r"[\[({<|*_-]\s*(?:at|dot|앳|골뱅이|닷|점|\.|@)\s*[\])}>|*_-]|\s(?:at|dot|앳)\s|골뱅이|\s@|@\s|닷\s?컴",
    ),
    (Sign.LINK, r":\s?\\?/|h\s?t\s?t\s?p\s?s?\s?:|www\.|\?[a-z0-9_.\[\]-]{1,40}="),
    (Sign.DOTTED, r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"),
    (Sign.COLONS, r"[0-9a-f]{0,4}::?[0-9a-f]{0,4}:"),
    (Sign.DIGITS, r"[0-9](?:[^0-9a-z가-힣,\n]{0,4}[0-9]){6}|[0-9]{5}\n[0-9]{2}"),
    (
        Sign.CODES,
        r"(?<![0-9a-z-])[a-z]{2}[0-9]{2}[ -]?[0-9a-z]{4}[ -]?[0-9a-z]{4}|"
        r"(?<![0-9a-z])[a-z]{1,2}[ -]?[0-9]{3}[a-z]?[0-9]{3}",
    ),
    (Sign.TORN_TITLE, _torn_titles()),
    (Sign.SPOKEN_DIGITS, r"[공영]일[공영일육륙칠팔구]"),
    (Sign.HOME, r"[\\/](?:home|users|documents and settings)[\\/]|~[a-z][\w.-]*/"),
)
WORDS: Final[dict[str, int]] = {
    **dict.fromkeys([*_TITLES.split(), "name", "holder"], int(Sign.TITLE)),
    **dict.fromkeys(_LATIN_TITLES.split(), int(Sign.LATIN_TITLE)),
    **dict.fromkeys(_KEYWORDS.split(), int(Sign.KEYWORD)),
    **dict.fromkeys(_PREFIXES.split(), int(Sign.PREFIX)),
    "@": int(Sign.AT),
}
_WORD_SIGNS: Final = tuple(WORDS.values())


@lru_cache(maxsize=1)
def _compiled() -> tuple[AhoCorasick, tuple[tuple[int, re.Pattern[str]], ...]]:
    patterns = ((int(sign), re.compile(pattern)) for sign, pattern in _SIGNS)
    return AhoCorasick(list(WORDS)), tuple(patterns)


def signs_of(text: str, *, among: int = ~0) -> int:
    """The bits of `Sign` that a text shows, of those that it may show."""
    words, patterns = _compiled()
    lowered = text.lower() if text.isascii() else encodable(text.lower())  # half a surrogate ends the search
    found = 0
    for index, _, _ in words.find_matches_as_indexes(lowered, overlapping=True):
        found |= _WORD_SIGNS[index]
    for bit, pattern in patterns:
        if among & bit and pattern.search(lowered):
            found |= bit
    return found & among
