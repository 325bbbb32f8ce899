"""Cheap signs of private data in a text, so that few rules have to run."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, reduce
from operator import or_
from typing import Final

from ahocorasick_rs import AhoCorasick, Implementation

from coreloop.base.records import encodable
from coreloop.sanitize.detectors import chosen_rules
from coreloop.sanitize.detectors.national import KINDS
from coreloop.sanitize.detectors.rule import Country, OwnPattern, Sign, current
from coreloop.sanitize.detectors.secrets import TOKENS

# Words in lower case that show a sign; a blank is written as ␣.
_WORDS: Final[Mapping[Sign, str]] = {
    Sign.AT: "@",
    Sign.LINK: "www. hxxp [:] [://] [.] (.) [dot] (dot) {.} {dot}",
    Sign.PASSWORD: "passw passph passcode pwd pswd pw cvc cvv 비밀 비번 패스워드 암호 핀",
    Sign.CREDENTIAL: """
        secret token credential sessid session crtfc cookie 시크릿 토큰 키 apikey api_key api-key api␣key
        accesskey access_key access-key access␣key privatekey private_key private-key private␣key
        encryptionkey encryption_key encryption-key encryption␣key signingkey signing_key signing-key
        signing␣key accountkey account_key account-key account␣key sharedaccess shared_access
        shared-access shared␣access servicekey service_key service-key service␣key masterkey master_key
        master-key master␣key licensekey license_key license-key license␣key authkey auth_key auth-key
        auth␣key
        """,
    Sign.AUTHORIZATION: "authorization bearer basic cookie",
    Sign.TITLE: """
        씨 님 대표 이사 회장 사장 상무 전무 부장 차장 과장 대리 팀장 실장 본부장 센터장 지점장 사원 주임
        선임 책임 수석 위원 의원 장관 차관 교수 박사 변호사 회계사 세무사 변리사 노무사 법무사 기자 앵커
        선생 고객 회원 의사 간호사 약사 원장 매니저 연구원 애널리스트 감사 조합장 총장 학장 교장 판사 검사
        형사 경위 경감 작가 감독 배우 선수 담당 작성자 신청 예금주 수취인 보호자 환자 직원 성명 성함 이름
        실명 수신 발신 사람 name holder recipient payee patient
        """,
    Sign.INTRODUCTION: """
        라고 저는 제가 나는 이름 성함 안녕 입니다 인데 예요 에요
        my␣name name's name’s i'm i’m i␣am this␣is call␣me go␣by speaking here regards sincerely
        """,
    Sign.NAME: "name dear customer client patient recipient payee holder",
    Sign.BIRTH: "birth dob d.o.b born 생년 생일",
}
_LATIN_TITLES: Final = "mr ms miss mx dr prof sir madam lady ceo cfo cto coo chair president"
_SPOKEN_AT: Final = (
    r"[\[({<|*_-]\s*(?:at|dot|앳|골뱅이|닷|점|\.|@)\s*[\])}>|*_-]|\s(?:at|dot|앳)\s|골뱅이|\s@|@\s|닷\s?컴"
)


def _letters_before(gap: str) -> str:
    """Pattern that looks behind a digit for a word of one or two letters and a gap."""
    return rf"(?<=[a-z]{gap}.)(?<![0-9a-z][a-z]{gap}.)|(?<=[a-z][a-z]{gap}.)(?<![0-9a-z][a-z][a-z]{gap}.)"


# Patterns on lower case, by texts of which every match contains one; "" for any text.
_PATTERNS: Final[tuple[tuple[Sign, str, str], ...]] = (
    (Sign.SPOKEN_AT, "", _SPOKEN_AT),
    (Sign.LINK, ":", r":\\?/"),
    (Sign.LINK, "?", r"\?[a-z0-9_.\[\]-]{1,40}="),
    (Sign.PASSWORD, "pass", r"pass[\"'*]{0,2}\s{0,3}[:=]"),
    (Sign.USER_OPTION, "-u", r"(?:-u|--user)[ =]?[\"']?[^\s:\"'@/]{1,64}:"),
    (Sign.PRIVATE_KEY, "begin", r"key(?: block)?\s*-{3}"),
    (Sign.DER, "ii", r"ii[a-z0-9+/](?:[a-z0-9+/=]\s{0,3}){60}"),
    (Sign.DOTTED, ".", r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"),
    (Sign.COLONS, ":", r":[0-9a-f]{0,4}:"),
    (Sign.MAC, "- :", r"[0-9a-f]{2}(?:(?:-[0-9a-f]{2}){5}|(?::[0-9a-f]{2}){5})"),
    # looking ahead for six characters halves the time on texts with short numbers
    (
        Sign.DIGITS,
        "",
        r"[0-9](?=[^a-z가-힣,]{6})(?:(?:[^0-9a-z가-힣,\n]{0,4}[0-9]){6}|[0-9]{4}\n[0-9]{2})",
    ),
    (Sign.TEN_DIGITS, "", r"[0-9](?:[^0-9a-z가-힣,\n]{0,5}[0-9]){9}"),
    # the first digit before the letters ahead of it: half the time on texts with numbers
    (
        Sign.CODES,
        "",
        r"[0-9](?:(?<=[a-z]{2}.)(?<![0-9a-z-][a-z]{2}.)[0-9][ ._·/-]?[0-9a-z]{4}[ ._·/-]?[0-9a-z]{4}|"
        rf"(?:{_letters_before('')}|{_letters_before('[ -]')})[0-9]{{2}}[a-z]?[0-9]{{3}})",
    ),
    (
        Sign.NATIONAL,
        "",
        r"[0-9](?<=[a-z -].)(?:(?:(?<=[a-z]{2}.)|(?<=[a-z]{2}[ -].)|(?<=[a-z]{2}  .))[0-9]"
        r"[ -]{0,2}[0-9]{2}[ -]{0,2}[0-9]{2}[ -]?[a-d]|"
        r"(?<=[a-z]{6}.)[0-9lmnp-v][a-ehlmprst][0-9lmnp-v]{2}[a-z])",
    ),
    (
        Sign.LATIN_TITLE,
        _LATIN_TITLES,
        r"(?<![a-z])(?:mr|mrs|ms|miss|mx|dr|prof|professor|sir|madam|lady|"
        r"c[efto]o|chairman|chairwoman|president)[.\s]",
    ),
    (Sign.HOME, "home users documents ~", r"[\\/](?:home|users|documents and settings)[\\/]|~[a-z][\w.-]*/"),
    *((Sign(Sign.FIRST_TOKEN << row), token.words, token.gate) for row, token in enumerate(TOKENS)),
)
# Patterns on capitals and white space.
_CASED: Final[tuple[tuple[Sign, str], ...]] = (
    # 40 characters: the length of the shortest secret without words beside it (AWS)
    (Sign.SECRET_RUN, r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])(?<![A-Za-z0-9/+].{40})"),
    (Sign.KEY_BODY, r"[A-Za-z0-9/+]{48}"),
    (  # begins with a digit, which is fast to search; ends with a kind or a postcode
        Sign.STREET,
        r"[0-9](?:(?=,?[A-Za-z\s])(?:"
        rf"[A-Za-z]?,?\s{{1,3}}(?:[0-9A-Za-z'’.-]{{1,21}}\s{{1,3}}){{1,4}}{KINDS}(?![A-Za-z])|"
        r"[ABD-HJLNP-UW-Z]{2}(?![0-9A-Za-z])(?:(?<=[0-9].{3})|(?<=[0-9] .{3})|(?<=[0-9][0-9A-Z].{3})|"
        r"(?<=[0-9][0-9A-Z] .{3})))|(?<=[Bb][Oo][Xx]\s.))",
    ),
)
_Search = Callable[[str], re.Match[str] | None]
_Shows = tuple[int, _Search | None]


def signs_of(text: str) -> int:
    """Return the bits of `Sign` that a text shows."""
    words, by_word, anywhere, cased, markers = _index(current().countries, current().own)
    lowered = encodable(text).lower()
    found = words.find_matches_as_indexes(lowered, overlapping=True)
    for bit, search in (shows for word in {word for word, _, _ in found} for shows in by_word[word]):
        if not markers & bit and (search is None or search(lowered)):
            markers |= bit
    markers |= sum(bit for bit, search in anywhere if not markers & bit and search(lowered))
    return markers | sum(bit for bit, search in cased if search(text))


_Searches = list[tuple[int, _Search]]


@lru_cache(maxsize=16)
def _index(
    countries: tuple[Country, ...], own: tuple[OwnPattern, ...]
) -> tuple[AhoCorasick, list[list[_Shows]], _Searches, _Searches, int]:
    """Compile the words, what each shows, the patterns for any text, and what every text shows."""
    wanted = reduce(or_, (int(rule.sign) for rule in chosen_rules(countries, own)))
    by_word: dict[str, list[_Shows]] = {}
    anywhere: _Searches = []
    for sign, words, pattern in _forms():
        search = re.compile(pattern).search if pattern else None
        if int(sign) & wanted:
            for word in words.split():
                by_word.setdefault(word.replace("␣", " "), []).append((int(sign), search))
            if search and not words:
                anywhere.append((int(sign), search))
    cased: _Searches = [
        (int(sign), re.compile(pattern).search) for sign, pattern in _CASED if int(sign) & wanted
    ]
    automaton = AhoCorasick(list(by_word), implementation=Implementation.DFA)  # a quarter less time
    return automaton, list(by_word.values()), anywhere, cased, wanted & int(Sign.OWN)


def _forms() -> Iterator[tuple[Sign, str, str]]:
    yield from ((sign, words, "") for sign, words in _WORDS.items())
    yield from _PATTERNS
