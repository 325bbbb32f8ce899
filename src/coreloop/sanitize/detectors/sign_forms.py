"""The forms of the signs as data: the words and patterns that show a sign in a text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from coreloop.sanitize.detectors.credential import TOKENS
from coreloop.sanitize.detectors.rule import NONE, Sign

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
_INTRODUCTIONS: Final = """
라고 저는 제가 나는 이름 성함 안녕 입니다 인데 예요 에요
my␣name name's name’s i'm i’m i␣am this␣is call␣me go␣by
speaking here regards sincerely
"""
_LATIN_TITLES: Final = "mr ms miss mx dr prof sir madam lady ceo cfo cto coo chair president"
_LATIN_TITLE: Final = (
    r"(?<![a-z])(?:mr|mrs|ms|miss|mx|dr|prof|professor|sir|madam|lady|"
    r"c[efto]o|chairman|chairwoman|president)[.\s]"
)
_PAIRS: Final = frozenset("".join(pair) for title in _TITLES.split() for pair in pairwise(title))
_DOTTED: Final = r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"
_COLONS: Final = r":[0-9a-f]{0,4}:"
_MAC: Final = r"[0-9a-f]{2}(?:(?:-[0-9a-f]{2}){5}|(?::[0-9a-f]{2}){5})"
_HOME: Final = r"[\\/](?:home|users|documentsandsettings)[\\/]"


@dataclass(frozen=True, slots=True)
class Form:
    """The forms of a sign in lower case: words, or patterns by a text that every match contains.

    The patterns are searched only in texts with the sign ``after``, if any.
    """

    sign: Sign
    words: str = ""
    patterns: Mapping[str, str] = field(default_factory=dict)
    after: Sign = NONE


def _letters_before(gap: str) -> str:
    """Pattern that looks behind a digit for a word of one or two letters and a gap."""
    return rf"(?<=[a-z]{gap}.)(?<![0-9a-z][a-z]{gap}.)|(?<=[a-z][a-z]{gap}.)(?<![0-9a-z][a-z][a-z]{gap}.)"


FORMS: Final = (
    Form(Sign.TITLE, words=f"{_TITLES} name holder recipient payee patient"),
    Form(
        Sign.LATIN_TITLE,
        patterns=dict.fromkeys(_LATIN_TITLES.split(), _LATIN_TITLE),
    ),
    Form(
        Sign.PASSWORD,
        words=_PASSWORDS,
        patterns={"pass": r"pass[\"'*]{0,2}\s{0,3}[:=]"},
    ),
    Form(Sign.CREDENTIAL, words=_CREDENTIALS),
    Form(Sign.AUTHORIZATION, words="authorization bearer basic cookie"),
    Form(
        Sign.USER_OPTION,
        patterns={"-u": r"(?:-u|--user)[ =]?[\"']?[^\s:\"'@/]{1,64}:"},
    ),
    Form(
        Sign.PRIVATE_KEY,
        patterns={"begin": r"k {0,2}e {0,2}y(?: block)?\s*-{3}"},
    ),
    Form(
        Sign.DER,
        patterns={"ii": r"ii[a-z0-9+/](?:[a-z0-9+/=]\s{0,3}){60}"},
    ),
    Form(Sign.BANK, words=_BANKS),
    Form(Sign.SHORT_BANK, words=_SHORT_BANKS),
    Form(Sign.CALL, words=_CALLS),
    Form(Sign.PASSPORT, words="여권 passport"),
    Form(Sign.LICENCE, words="면허 licence license"),
    Form(Sign.AT, words="@"),
    Form(
        Sign.SPOKEN_AT,
        patterns={
            "": r"[\[({<|*_-]\s*(?:at|dot|앳|골뱅이|닷|점|\.|@)\s*[\])}>|*_-]|"
            r"\s(?:at|dot|앳)\s|골뱅이|\s@|@\s|닷\s?컴"
        },
    ),
    Form(
        Sign.LINK,
        words="www. hxxp [:] [://] [.] (.) [dot] (dot) {.} {dot}",
        patterns={":": r":\s?\\?/|h\s?t\s?t\s?p\s?s?\s?:", "?": r"\?[a-z0-9_.\[\]-]{1,40}="},
    ),
    Form(Sign.DOTTED, patterns={".": _DOTTED}),
    Form(Sign.COLONS, patterns={":": _COLONS}),
    Form(Sign.MAC, patterns=dict.fromkeys("-:", _MAC)),
    Form(
        Sign.DIGITS,
        # looking ahead for six characters halves the time on texts with short numbers
        patterns={"": r"[0-9](?=[^a-z가-힣,]{6})(?:(?:[^0-9a-z가-힣,\n]{0,4}[0-9]){6}|[0-9]{4}\n[0-9]{2})"},
    ),
    Form(
        Sign.TEN_DIGITS,
        patterns={"": r"[0-9](?:[^0-9a-z가-힣,\n]{0,5}[0-9]){9}"},
        after=Sign.DIGITS,
    ),
    Form(
        Sign.THIRTEEN_DIGITS,
        patterns={"": r"[0-9](?:[^0-9a-z가-힣,\n]{0,5}[0-9]){12}"},
        after=Sign.TEN_DIGITS,
    ),
    Form(
        Sign.CODES,
        patterns={
            # the first digit before the letters ahead of it: half the time on texts with numbers
            "": r"[0-9](?:(?<=[a-z]{2}.)(?<![0-9a-z-][a-z]{2}.)[0-9][ ._·/-]?[0-9a-z]{4}[ ._·/-]?[0-9a-z]{4}|"
            rf"(?:{_letters_before('')}|{_letters_before('[ -]')})[0-9]{{2}}[a-z]?[0-9]{{3}})"
        },
    ),
    Form(Sign.NAME, words="name dear customer client patient recipient payee holder"),
    Form(Sign.INTRODUCTION, words=_INTRODUCTIONS),
    Form(Sign.BIRTH, words="birth dob d.o.b born 생년 생일"),
    Form(
        Sign.NATIONAL,
        patterns={
            "": r"[0-9](?<=[a-z -].)(?:(?:(?<=[a-z]{2}.)|(?<=[a-z]{2}[ -].)|(?<=[a-z]{2}  .))[0-9]"
            r"[ -]{0,2}[0-9]{2}[ -]{0,2}[0-9]{2}[ -]?[a-d]|"
            r"(?<=[a-z]{6}.)[0-9lmnp-v][a-ehlmprst][0-9lmnp-v]{2}[a-z])"
        },
    ),
    Form(
        Sign.SPOKEN_DIGITS,
        patterns=dict.fromkeys(("공일", "영일"), r"[공영]일[공영일육륙칠팔구]"),
    ),
    Form(
        Sign.HOME,
        patterns=dict.fromkeys(
            ("home", "users", "documents", "~"),
            r"[\\/](?:home|users|documents and settings)[\\/]|~[a-z][\w.-]*/",
        ),
    ),
)


def token_forms() -> Iterator[Form]:
    """Yield the form of each row of `TOKENS` that has words."""
    for row, token in enumerate(TOKENS):
        sign, words = Sign(Sign.FIRST_TOKEN << row), token.words
        if token.gate:
            patterns = dict.fromkeys(words.split(), token.gate)
            yield Form(sign, patterns=patterns)
        else:
            yield Form(sign, words=words)
