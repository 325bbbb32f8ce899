"""Cheap detection of the signs in a text, so that few rules have to run.

`closed_signs` covers a text and all variants with less white space: most texts show no sign and need no
further checks.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import groupby, pairwise
from operator import or_
from typing import Final

from ahocorasick_rs import AhoCorasick

from coreloop.records import encodable
from coreloop.sanitize.detectors import RULES, chosen_rules
from coreloop.sanitize.detectors.detection import Country, Detection, OwnPattern, current
from coreloop.sanitize.detectors.rule import NONE, Sign
from coreloop.sanitize.detectors.streets import CLOSED_KINDS, KINDS
from coreloop.sanitize.detectors.tokens import TOKENS

# Signs of the rules that also hold after white space is removed.
JOINING: Final = int(reduce(or_, (rule.sign | rule.needs for rule in RULES if rule.joins)))
_WORDS_BESIDE: Final = int(Sign.BANK | Sign.SHORT_BANK | Sign.CALL | Sign.PASSPORT | Sign.LICENCE)
_RUN_CHARS: Final = 40
_RUN_SIGN, _STREET_SIGN, _SPOKEN_AT = int(Sign.SECRET_RUN), int(Sign.STREET), int(Sign.SPOKEN_AT)
_ORIGINAL: Final = _RUN_SIGN | _STREET_SIGN
_DIGIT: Final = re.compile("[0-9]")
_WITHOUT_DIGITS: Final = ~int(
    Sign.DIGITS
    | Sign.TEN_DIGITS
    | Sign.THIRTEEN_DIGITS
    | Sign.CODES
    | Sign.DOTTED
    | Sign.STREET
    | Sign.NATIONAL
)
_NUMBERS: Final = int(Sign.DIGITS | Sign.CODES)

_PASSWORDS: Final = "passw passph passcode pwd pswd pw cvc cvv 비밀 비번 패스워드 암호 핀"
# A blank is written as ␣.
_CREDENTIALS: Final = """
secret token credential sessid session crtfc cookie 시크릿 토큰 키 apikey api_key api-key api␣key
accesskey access_key access-key access␣key privatekey private_key private-key private␣key
encryptionkey encryption_key encryption-key encryption␣key signingkey signing_key signing-key signing␣key
accountkey account_key account-key account␣key sharedaccess shared_access shared-access shared␣access
servicekey service_key service-key service␣key masterkey master_key master-key master␣key
licensekey license_key license-key license␣key authkey auth_key auth-key auth␣key
"""
_BANKS: Final = """
계좌 통장 입금 송금 이체 환불 예금 은행 뱅크 새마을금고 우체국 신협 수협 농협 acct account a/c iban bank
"""
_SHORT_BANKS: Final = """
국민 신한 우리 하나 기업 농협 수협 산업 제일 씨티 부산 대구 광주 전북 경남 제주 카카오 토스 케이 신협 우체국
sc kb ibk nh kdb dgb bnk im
"""
_CALLS: Final = """
전화 연락 휴대 핸드폰 폰 고객센터 대표번호 콜센터 상담 문의 팩스 tel phone call mobile cell fax contact ☎
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
_MAC: Final = r"[0-9a-f]{2}(?:(?:-[0-9a-f]{2}){5}|(?::[0-9a-f]{2}){5})"
_HOME: Final = r"[\\/](?:home|users|documentsandsettings)[\\/]"
_AT_APART: Final = re.compile(r"\s(?:[aAdD]\s*[oOtT]\s*[tT]?|앳)\s")

# The same run, broken by a line break.
_BROKEN_RUN: Final = re.compile(
    r"(?<![A-Za-z0-9/+])([A-Za-z0-9/+]{4,36}+)\n(?=([A-Za-z0-9/+]{4,36}+)(?![A-Za-z0-9/+=]))"
)
_SECRET_RUN: Final = re.compile(r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])(?<![A-Za-z0-9/+].{40})")
# White space makes an address, so that a text without any shows none.
_STREET: Final = re.compile(  # begins with a digit, which is fast to search; ends with a kind or a postcode
    rf"[0-9](?:[A-Za-z]?,?\s{{1,3}}(?:[0-9A-Za-z'’.-]{{1,21}}\s{{1,3}}){{1,4}}{KINDS}(?![A-Za-z])|"
    rf"[A-Za-z]?(?:[NS]?[NSEW]\.)?(?:[A-Z][a-z'’]{{1,20}}){{1,3}}{CLOSED_KINDS}|"
    r"(?: [A-Za-z])? (?:[NSEW] \. )?[A-Z] [a-z] [a-z]|"
    r"[0-9A-Z]? ?[0-9][ABD-HJLNP-UW-Z]{2}(?![0-9A-Za-z])|(?<=[Bb][Oo][Xx]\s.))"
)


def _torn_titles() -> str:
    """Pattern of two syllables of a title with blanks between them."""
    by_first = groupby(sorted(_PAIRS), key=lambda pair: pair[0])
    return "|".join(f"{first}\\s{{1,5}}[{''.join(pair[1] for pair in pairs)}]" for first, pairs in by_first)


_Gate = tuple[int, re.Pattern[str] | None]
_Search = Callable[[str], re.Match[str] | None]
_Index = tuple[AhoCorasick, tuple[tuple[_Gate, ...], ...], tuple[tuple[int, int, str, _Search], ...], int]


@dataclass(frozen=True, slots=True)
class _Form:
    """The forms of a sign in lower case: words, or patterns by a text that every match contains.

    The patterns for texts without white space (``closed_…``) and the additional words match at least as much.
    The patterns are searched only in texts with the sign ``after``, if any.
    """

    sign: Sign
    words: str = ""
    patterns: Mapping[str, str] = field(default_factory=dict)
    closed_words: str = ""
    closed_patterns: Mapping[str, str] = field(default_factory=dict)
    after: Sign = NONE


def _letters_before(gap: str) -> str:
    """Pattern that looks behind a digit for a word of one or two letters and a gap."""
    return rf"(?<=[a-z]{gap}.)(?<![0-9a-z][a-z]{gap}.)|(?<=[a-z][a-z]{gap}.)(?<![0-9a-z][a-z][a-z]{gap}.)"


_FORMS: Final = (
    _Form(Sign.TITLE, words=f"{_TITLES} name holder recipient payee patient"),
    _Form(Sign.LATIN_TITLE, words=_LATIN_TITLES),
    _Form(Sign.PASSWORD, words=_PASSWORDS),
    _Form(Sign.CREDENTIAL, words=_CREDENTIALS),
    _Form(Sign.AUTHORIZATION, words="authorization bearer basic cookie"),
    _Form(
        Sign.USER_OPTION,
        patterns={"-u": r"(?:-u|--user)[ =]?[\"']?[^\s:\"'@/]{1,64}:"},
        closed_patterns={"-u": r"(?:-u|--user)=?[\"']?[^\s:\"'@/]{1,64}:"},
    ),
    _Form(Sign.PRIVATE_KEY, patterns={"begin": r"private\s+key"}, closed_patterns={"begin": "privatekey"}),
    _Form(
        Sign.DER,
        patterns={"ii": r"ii[a-z0-9+/](?:[a-z0-9+/=]\s{0,3}){60}"},
        closed_patterns={"ii": r"ii[a-z0-9+/=]{61}"},
    ),
    _Form(Sign.BANK, words=_BANKS),
    _Form(Sign.SHORT_BANK, words=_SHORT_BANKS),
    _Form(Sign.CALL, words=_CALLS),
    _Form(Sign.PASSPORT, words="여권 passport"),
    _Form(Sign.LICENCE, words="면허 licence license"),
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
        words="www.",
        patterns={":": r":\s?\\?/|h\s?t\s?t\s?p\s?s?\s?:", "?": r"\?[a-z0-9_.\[\]-]{1,40}="},
        closed_words=r":/ :\/ http: https:",
        closed_patterns={"?": r"\?[a-z0-9_.\[\]-]{1,40}="},
    ),
    _Form(Sign.DOTTED, patterns={".": _DOTTED}, closed_patterns={".": _DOTTED}),
    _Form(Sign.COLONS, patterns={":": _COLONS}, closed_patterns={":": _COLONS}),
    _Form(Sign.MAC, patterns=dict.fromkeys("-:", _MAC), closed_patterns=dict.fromkeys("-:", _MAC)),
    _Form(
        Sign.DIGITS,
        patterns={"": r"[0-9](?:[^0-9a-z가-힣,\n]{0,4}[0-9]){6}|[0-9]{5}\n[0-9]{2}"},
        closed_patterns={"": r"[0-9](?:[^0-9a-z가-힣,]{0,4}[0-9]){6}"},
    ),
    _Form(
        Sign.TEN_DIGITS,
        patterns={"": r"[0-9](?:[^0-9a-z가-힣,\n]{0,5}[0-9]){9}"},
        closed_patterns={"": r"[0-9](?:[^0-9a-z가-힣,]{0,5}[0-9]){9}"},
        after=Sign.DIGITS,
    ),
    _Form(
        Sign.THIRTEEN_DIGITS,
        patterns={"": r"[0-9](?:[^0-9a-z가-힣,\n]{0,5}[0-9]){12}"},
        closed_patterns={"": r"[0-9](?:[^0-9a-z가-힣,]{0,5}[0-9]){12}"},
        after=Sign.TEN_DIGITS,
    ),
    _Form(
        Sign.CODES,
        patterns={
            # the first digit before the letters ahead of it: half the time on texts with numbers
            "": r"[0-9](?:(?<=[a-z]{2}.)(?<![0-9a-z-][a-z]{2}.)[0-9][ ._·/-]?[0-9a-z]{4}[ ._·/-]?[0-9a-z]{4}|"
            rf"(?:{_letters_before('')}|{_letters_before('[ -]')})[0-9]{{2}}[a-z]?[0-9]{{3}})"
        },
        closed_patterns={"": r"[a-z]-?[0-9]{2}[._·/-]?[0-9a-z]{4}"},
    ),
    _Form(Sign.NAME, words="name dear customer client patient recipient payee holder"),
    _Form(Sign.BIRTH, words="birth dob d.o.b born 생년 생일"),
    _Form(
        Sign.NATIONAL,
        patterns={
            "": r"[0-9](?:(?<=[a-z]{2}.)|(?<=[a-z]{2}[ -].)|(?<=[a-z]{2}  .))[0-9]"
            r"[ -]{0,2}[0-9]{2}[ -]{0,2}[0-9]{2}[ -]?[a-d]|"
            r"[0-9](?<=[a-z]{6}.)[0-9lmnp-v][a-ehlmprst][0-9lmnp-v]{2}[a-z]"
        },
        closed_patterns={
            "": r"[0-9](?:(?<=[a-z]{2}.)|(?<=[a-z]{2}-.))[0-9]-?[0-9]{2}-?[0-9]{2}-?[a-d]|"
            r"[0-9](?<=[a-z]{6}.)[0-9lmnp-v][a-ehlmprst][0-9lmnp-v]{2}[a-z]"
        },
    ),
    _Form(Sign.TORN_TITLE, patterns={"": _torn_titles()}, closed_words=" ".join(_PAIRS)),
    _Form(
        Sign.SPOKEN_DIGITS,
        patterns=dict.fromkeys(("공일", "영일"), r"[공영]일[공영일육륙칠팔구]"),
        closed_words="공일 영일",
    ),
    _Form(
        Sign.HOME,
        patterns=dict.fromkeys(
            ("home", "users", "documents", "~"),
            r"[\\/](?:home|users|documents and settings)[\\/]|~[a-z][\w.-]*/",
        ),
        closed_patterns={"~": r"~[a-z]", "home": _HOME, "users": _HOME, "documents": _HOME},
    ),
)


def _token_forms() -> Iterator[_Form]:
    for row, token in enumerate(TOKENS):
        sign, words = Sign(Sign.FIRST_TOKEN << row), token.words
        if token.gate:
            patterns = dict.fromkeys(words.split(), token.gate)
            yield _Form(sign, patterns=patterns, closed_patterns=patterns)
        else:
            yield _Form(sign, words=words)


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
    signs = _shown(compact, ~0, closed=True)
    if _AT_APART.search(text):
        signs |= _SPOKEN_AT
    return signs | _in_original(text)


def _in_original(text: str) -> int:
    """Return the signs that depend on capitals or on white space."""
    signs = _RUN_SIGN if len(text) >= _RUN_CHARS and _has_run(text) else 0
    return signs | _STREET_SIGN if current().streets and _STREET.search(text) else signs


def _has_run(text: str) -> bool:
    """Whether a text has a run of 40 characters, in one line or in two."""
    if _SECRET_RUN.search(text):
        return True
    return "\n" in text and any(len(run[1]) + len(run[2]) == _RUN_CHARS for run in _BROKEN_RUN.finditer(text))


_last: dict[bool, tuple[Detection, _Index]] = {}


@lru_cache(maxsize=16)
def _compiled(countries: tuple[Country, ...], own: tuple[OwnPattern, ...], *, closed: bool) -> _Index:
    """Compile the words, what each of them shows, and the patterns for any text."""
    wanted = reduce(or_, (int(rule.sign | rule.needs) for rule in chosen_rules(countries, own)))
    shown: dict[str, list[_Gate]] = {}
    anywhere = []
    for form in (*_FORMS, *_token_forms()):
        bit = int(form.sign)
        if not bit & wanted:
            continue
        for word in [*form.words.split(), *(form.closed_words.split() if closed else ())]:
            shown.setdefault(word.replace("␣", " "), []).append((bit, None))
        for required, pattern in (form.closed_patterns if closed else form.patterns).items():
            if len(required) > 1:
                shown.setdefault(required, []).append((bit, re.compile(pattern)))
            else:
                anywhere.append((bit, int(form.after), required, re.compile(pattern).search))
    return (
        AhoCorasick(list(shown)),
        tuple(map(tuple, shown.values())),
        tuple(anywhere),
        wanted & int(Sign.OWN),
    )


def _index(chosen: Detection, *, closed: bool) -> _Index:
    last = _last.get(closed)
    if last is None or last[0] is not chosen:
        last = _last[closed] = chosen, _compiled(chosen.countries, chosen.own, closed=closed)
    return last[1]


def _shown(text: str, among: int, *, closed: bool) -> int:
    words, shown, anywhere, signs = _index(current(), closed=closed)
    lowered = text.lower() if text.isascii() else encodable(text.lower())  # a lone surrogate ends the search
    for index in {found[0] for found in words.find_matches_as_indexes(lowered, overlapping=True)}:
        for bit, gate in shown[index]:
            if not signs & bit and (gate is None or gate.search(lowered)):
                signs |= bit
    wanted = among if _DIGIT.search(lowered) else among & _WITHOUT_DIGITS
    for bit, after, required, search in anywhere:
        if bit & wanted and (not after or signs & after) and required in lowered and search(lowered):
            signs |= bit
    if not closed and among & _ORIGINAL:
        signs |= _in_original(text)
    if not signs & _NUMBERS:  # a word beside a number needs the number
        signs &= ~_WORDS_BESIDE
    return signs & among
