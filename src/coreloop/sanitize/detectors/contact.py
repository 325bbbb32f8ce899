"""How a person is reached, home folders which name a user, and dates of birth."""

import ipaddress
import re
from datetime import date
from typing import Final

from coreloop.sanitize.detectors.rule import (
    Rule,
    Sign,
    ahead,
    behind,
    digits_of,
    is_money,
    rules,
    stands_alone,
    words_of,
)

_LOCAL: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]"
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_TLD: Final = r"(?:[A-Za-z]{2,24}|xn--[A-Za-z0-9-]{2,30})"
_OPEN, _CLOSE = r"\s*[\[({<|*_-]{1,2}\s*", r"\s*[\])}>|*_-]{1,2}\s*"
_AT: Final = rf"(?:{_OPEN}(?:at|@|앳|골뱅이){_CLOSE}|\s+(?:at|@|앳)\s+|\s*골뱅이\s*|@)"
_DOT: Final = rf"(?:{_OPEN}(?:dot|\.|닷|점){_CLOSE}|\s+(?:dot|\.)\s+|\s*(?:닷|점)\s*|\.)"
# Possessive, and never over "-dot-": a word that could take it in would be split in every possible way.
_WORD: Final = r"[A-Za-z0-9]++(?:(?![_-]{1,2}(?:at|dot)[_-])[+_-]++[A-Za-z0-9]++)*+"
_COMMON_TLD: Final = (
    r"(?:com|net|org|edu|gov|info|biz|io|ai|app|dev|me|co|kr|jp|cn|uk|us|de|fr|eu|ca|au|in|tv|asia|"
    r"example|test|invalid|local|xyz|site|online|tech|cloud|email|company)"
)
_MAIL_HOST: Final = re.compile(r"(?:gmail|hanmail|outlook|hotmail|icloud|proton|protonmail)\.", re.IGNORECASE)


def _is_spoken(match: re.Match[str]) -> bool:
    """Whether "at" or "dot" is used as in addresses, not as in prose such as "look at naver.com"."""
    at, rest = match["at"].strip().lower(), match["rest"].lower()
    if at == "@":
        return not re.fullmatch(r"[A-Za-z0-9.-]+", rest)
    if at != "at":
        return True
    if re.search(r"\bdot\b|닷|점|[\[({]", rest):
        return True
    return bool(re.search(r"[0-9._]", match["local"])) or bool(_MAIL_HOST.match(rest))


CONTACT_RULES: Final = (
    *rules(
        "EMAIL",
        Sign.AT,
        rf"(?<![A-Za-z0-9._+-]){_LOCAL}{{1,64}}@(?:{_LABEL}\.){{1,8}}{_TLD}(?![A-Za-z0-9])",
        rf"\"[^\"\s@]{{1,64}}\"@(?:{_LABEL}\.){{1,8}}{_TLD}",
        rf"(?<![A-Za-z0-9]){_LOCAL}{{1,64}}@\[[0-9a-fA-F.:]{{7,45}}\]",
        # letters of other scripts in the name or the host
        r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}(?:[A-Za-z]{2,24}|한국|닷컴|닷넷|[^\W\d_a-zA-Z가-힣]{2,12})",
    ),
    *rules(
        "EMAIL",
        Sign.SPOKEN_AT,
        (
            _is_spoken,
            rf"(?i)(?<![A-Za-z0-9._+-])(?P<local>{_WORD}(?:{_DOT}{_WORD}){{0,3}})(?P<at>{_AT})"
            rf"(?P<rest>{_WORD}(?:{_DOT}{_WORD}){{0,4}}?{_DOT}{_COMMON_TLD}(?:{_DOT}kr|{_DOT}uk|{_DOT}jp)?)"
            r"(?![A-Za-z0-9])",
        ),
        # kim[at]firm.shop: brackets tell enough, so any domain
        rf"(?i)(?<![A-Za-z0-9._+-]){_WORD}(?:{_DOT}{_WORD}){{0,3}}(?:\[(?:at|@|앳|골뱅이)\]|\((?:at|@|앳|골뱅이)\)|"
        rf"\{{(?:at|@)\}}|<(?:at|@)>){_LABEL}(?:(?:\.|[\[({{](?:\.|dot)[\])}}]){_LABEL}){{1,5}}(?![A-Za-z0-9])",
    ),
)


_CALL_GAP: Final = r"[ \t.\-/·]{0,3}"
_AREA: Final = r"(?:2|3[1-3]|4[1-4]|5[1-5]|6[1-4]|70|80|50[0-9]{1,2})"
CALL: Final = (
    r"(?i)(?:전화|연락|휴대|핸드폰|폰|고객센터|대표번호|콜센터|상담|문의|팩스|tel|phone|call|mobile|cell|"
    r"fax|contact|☎)"
)
# E.164 country codes of two and three digits; 1 and 7 are handled separately.
_CODES: Final = words_of("""
20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82
84 86 90 91 92 93 94 95 98
""")
_THREE: Final = re.compile(
    r"2[1-6]\d|29[0178]|35\d|37\d|38[0-9]|42[013]|50\d|59\d|67\d|68\d|69[0-2]|80[08]|85\d|88[0-9]|96\d|97\d|99\d"
)


def _is_korean(match: re.Match[str]) -> bool:
    return stands_alone(match) and not re.search(r"[0-9]/\Z", ahead(match, 2))


def _is_korean_from_abroad(match: re.Match[str]) -> bool:
    if match[0].lstrip("(").startswith("+"):
        return True
    return stands_alone(match) and (
        match[0].lstrip("(").startswith("00") or re.search(r"82[^0-9]", match[0]) is not None
    )


def _is_international(match: re.Match[str]) -> bool:
    text = match[0]
    digits = digits_of(text).removeprefix("00") if text.startswith("00") else digits_of(text)
    if not 8 <= len(digits) <= 15 or is_money(match) or (text[0] == "0" and not stands_alone(match)):
        return False
    if re.search(r" [-+][0-9]", text):  # a row of numbers with signs
        return False
    separators = re.findall(r"[ .\-/()]+", text)
    if separators in ([], ["."]) and not (len(digits) >= 11 and separators == []):
        return False
    if digits[0] == "1":
        return re.fullmatch(r"1[2-9]\d\d[2-9]\d{6}", digits) is not None
    if digits[0] == "7":
        return len(digits) == 11
    return digits[:2] in _CODES or _THREE.match(digits) is not None


def _is_called(match: re.Match[str]) -> bool:
    """Whether what follows a word for a telephone is a number, not a date or an amount."""
    digits = digits_of(match["value"])
    return not re.match("(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-3]", digits) and not is_money(match)


PHONES_RULES: Final = (
    Rule(  # any country's number and any separators right after the word
        "PHONE",
        r"(?i)(?:전화(?:\s?번호)?|연락처|휴대(?:폰|전화)|핸드폰|팩스|"
        r"(?<![a-z])(?:(?:tele)?phone|mobile|cell|fax)(?:[ _]?(?:no|number))?|"
        r"(?<![a-z])(?:tel|telefon|call me (?:at|on)))(?:은|는|이|가)?\.?[\s:=\"'(–-]{1,4}"
        r"(?P<value>\+?\(?[0-9](?:[ .\-_/·()]{0,2}[0-9]){8,14})(?![0-9])",
        Sign.DIGITS,
        _is_called,
    ),
    Rule(
        "PHONE",
        r"(?:\+(?<![0-9A-Za-z.]\+)|0(?<![0-9A-Za-z.]0)0)[1-9][0-9]{0,2}"
        r"(?:[ .\-/]{0,2}\(?[0-9]{1,11}+\)?){1,6}(?![0-9년])",
        Sign.DIGITS,
        _is_international,
    ),
)
KOREAN: Final = (
    Rule(
        "PHONE",
        rf"(?:\((?<![0-9]\()0|0(?<![0-9]0))1[016789]\)?{_CALL_GAP}[0-9]{{3,4}}{_CALL_GAP}[0-9]{{4}}(?![0-9])",
        Sign.TEN_DIGITS,
        _is_korean,
    ),
    Rule(
        "PHONE",
        rf"(?<![0-9])(?:\(?(?:\+|00[2-8]?{_CALL_GAP})?\s?82\)?)[ .\-()]{{0,3}}0?[ .\-()]{{0,3}}(?:1[016789]|"
        rf"{_AREA})[ .\-()]{{0,3}}"
        rf"[0-9]{{3,4}}{_CALL_GAP}[0-9]{{4}}(?![0-9])",
        Sign.DIGITS,
        _is_korean_from_abroad,
    ),
    Rule(
        "PHONE",
        rf"(?:\((?<![0-9]\()0|0(?<![0-9]0)){_AREA}\)?{_CALL_GAP}[0-9]{{3,4}}{_CALL_GAP}[0-9]{{4}}(?![0-9])",
        Sign.DIGITS,
        _is_korean,
    ),
    Rule(
        "PHONE",
        r"(?<![0-9-])(?!1[89][0-9]{2}[ .-](?:19|20))1[5-9][0-9]{2}[ .-]?[0-9]{4}(?![0-9-])",
        Sign.DIGITS,
        near=CALL,
    ),
)


_END: Final = r"[^\s<>\"'`\u3000]"
_BRACKETED: Final = r"[\[({](?:\.|dot)[\])}]"
_VERSION: Final = re.compile(
    r"(?:\bv|ver|version|release|버전|판|build|section|sec\.|chapter|clause|§|제|절|항|chrome|safari|firefox|edge|opera|android|windows|ios|macos|driver|"
    r"firmware|kernel|java|sdk|[a-z]/)\s*[.:/]?\s*\Z",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(
    r"(?:\bip\b|ipv[46]|host|server|addr|주소|아이피|서버|접속|client|remote)", re.IGNORECASE
)


def _is_ipv4(match: re.Match[str]) -> bool:
    octets = [int(part) for part in match["address"].split(".")]
    if max(octets) > 255 or _VERSION.search(ahead(match)) or behind(match, 2).lstrip()[:1] in {"절", "항"}:
        return False
    if any(part != "0" and part.startswith("0") for part in match["address"].split(".")):
        return False
    # 1.2.3.4 without a telling word is more often a section or a version than a host
    return max(octets) > 9 or bool(_ADDRESS.search(ahead(match)) or match["port"])


def _is_ipv6(match: re.Match[str]) -> bool:
    text = match["address"]
    if len(text) < 6 or not any(char.isdigit() for char in text) or text.count(":") < 2:
        return False
    try:
        return not ipaddress.IPv6Address(text).is_loopback
    except ValueError:
        return False


NETWORK_RULES: Final = (
    *rules(
        "URL",
        Sign.LINK,
        rf"(?i)(?<![A-Za-z0-9])(?![a-z]*file:/{{3}}(?!\S{{0,256}}(?:home|users)[\\/]))[a-z][a-z0-9+.-]{{1,24}}:\\?/\\?/{_END}+",
        (  # made unclickable: hxxps[:]//acme[.]example/x
            lambda match: re.search(r"//|[\[({]/", match[0][:16]) is not None,
            rf"(?i)(?<![A-Za-z0-9])h[tx]{{2}}ps?(?:[\[({{]:(?://)?[\])}}]|:)(?:\\?/|[\[({{]/[\])}}]){{0,2}}{_END}{{3,}}",
        ),
        (  # acme[.]example/x, www[.]acme[.]example
            lambda match: match[0][:3].lower() == "www" or re.search("[/?]", match[0]) is not None,
            rf"(?i)(?<![A-Za-z0-9.@/_-])(?:www{_BRACKETED}|(?=[a-z0-9.-]{{1,80}}{_BRACKETED}))"
            rf"[a-z0-9-]{{1,63}}(?:(?:\.|{_BRACKETED})[a-z0-9-]{{1,63}}){{1,5}}(?:(?:/|\?[a-z0-9_]){_END}*|(?<=[a-z0-9]))",
        ),
        rf"(?i)(?<![A-Za-z0-9.@/])www\.[a-z0-9-]{{1,63}}\.{_END}{{2,}}",
        rf"(?i)(?<![A-Za-z0-9.@/_-])(?:[a-z0-9-]{{1,63}}\.){{1,6}}[a-z]{{2,12}}(?::[0-9]{{2,5}})?(?:/[^\s<>\"'`?]{{0,400}})?"
        rf"\?[A-Za-z0-9_.\[\]-]{{1,40}}={_END}+",
    ),
    Rule(
        "IP",
        r"(?<![0-9A-Za-z.])(?P<value>(?P<address>[0-9]{1,3}(?:\.[0-9]{1,3}){3}))"
        r"(?P<port>:[0-9]{2,5})?(?![0-9]|\.[0-9])",
        Sign.DOTTED,
        _is_ipv4,
    ),
    Rule(
        "IP",
        r"(?:(?<![0-9A-Za-z:.])|(?<=[A-Za-z][G-Zg-z]:)|(?<=[G-Zg-z][A-Za-z]:))(?P<address>(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{1,4}|[0-9]{1,3}(?:\.[0-9]{1,3}){3})?)"
        r"(?:%[a-z0-9]+)?(?![0-9A-Za-z:])",
        Sign.COLONS,
        _is_ipv6,
    ),
    Rule(
        "MAC",
        r"(?:(?<![0-9A-Za-z:-])|(?<=[A-Za-z][G-Zg-z]:)|(?<=[G-Zg-z][A-Za-z]:)|(?<=[A-Za-z]{3}:))[0-9A-Fa-f]{2}([:-])[0-9A-Fa-f]{2}(?:\1[0-9A-Fa-f]{2}){4}(?![0-9A-Za-z]|[:-][0-9A-Za-z])",
        Sign.MAC,
    ),
)


_REST: Final = r"[^\s\"'`<>|]*"
_USER: Final = r"(?P<user>[^\s\\/:*?\"'`<>|]+(?: [^\s\\/:*?\"'`<>|]+){0,2}(?=[\\/])|[^\s\\/:*?\"'`<>|,;)\]]+)"
_SHARED: Final = frozenset(
    {"public", "shared", "default", "default user", "all users", "$user", "username", "user"}
)


def _is_personal(match: re.Match[str]) -> bool:
    user = match["user"].strip().lower()
    return user not in _SHARED and re.match(r"[\w가-힣.%~+-]", user) is not None


PATHS_RULES: Final = rules(
    "PATH",
    Sign.HOME,
    (
        _is_personal,
        rf"(?<![A-Za-z0-9_.-])(?:file:/{{0,3}})?(?:[A-Za-z]:)?(?:[\\/]{{1,8}}[\w.$-]{{1,64}}){{0,3}}"
        rf"[\\/]{{1,8}}(?:home|Users|export/home|u01/home)[\\/]{{1,8}}{_USER}{_REST}",
    ),
    (
        _is_personal,
        rf"(?i)(?<![A-Za-z0-9])[A-Z]:[\\/]{{1,8}}(?:users|documents and settings)[\\/]{{1,8}}{_USER}{_REST}",
    ),
    r"(?<![\w./~])~(?P<user>[A-Za-z][\w.-]{1,31})/[^\s\"'`<>|]*",
)


_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = rf"(?:{'|'.join(_MONTHS)})[a-z]{{0,6}}"
_DAY: Final = "[0-9]{1,2}"
_NTH: Final = r"(?:st|nd|rd|th)?(?: ?,)?"
_DATE_GAP: Final = r"(?: {0,2}(?:[년월][ ]{0,2}[-./_·]?|[-./_·])| ) {0,2}"
_DATE: Final = (
    rf"(?:[0-9]{{4}}{_DATE_GAP}{_DAY}{_DATE_GAP}{_DAY}일?|"
    rf"{_DAY}{_DATE_GAP}{_DAY}{_DATE_GAP}(?:[0-9]{{4}}|[0-9]{{2}})|"
    rf"(?:{_MONTH})\.?[-–—·/_\s]{{0,2}}{_DAY}{_NTH}\s{{1,2}}[0-9]{{4}}|"
    rf"{_DAY}{_NTH}[-–—·/_.\s]{{1,2}}(?:of\s)?(?:{_MONTH})\.?,?[-–—·/_\s]{{1,2}}[0-9]{{4}}|"
    rf"[0-9]{{8}}(?![0-9])|[0-9]{{6}})"
)
_FORMATS: Final = ((0, 4, 6), (4, 0, 2), (4, 2, 0))
"""Places of year, month and day in eight digits."""


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        return 1900 <= date(year, month, day).year <= 2035
    except ValueError:
        return False


def _is_date(match: re.Match[str]) -> bool:
    """Whether the value is a day: with a month in letters, in three groups, or six or eight digits."""
    text = match["value"]
    if re.search(_MONTH, text.lower()):
        return re.search("(?:19|20)[0-9]{2}$", text[-4:]) is not None
    groups = re.findall("[0-9]+", text)
    digits = "".join(groups)
    if len(groups) == 3 and len(groups[0]) == 4:
        return _is_day(*map(int, groups))
    if len(groups) == 3 and len(digits) != 8 and (len(groups[2]) == 2 or groups[2][:2] in {"19", "20"}):
        return True
    if len(digits) == 8:
        return any(
            _is_day(int(digits[year : year + 4]), int(digits[month : month + 2]), int(digits[day : day + 2]))
            for year, month, day in _FORMATS
        )
    return len(digits) == 6 and _is_day(2000, int(digits[2:4]), int(digits[4:]))


BIRTH_RULES: Final = (
    Rule(
        "BIRTH",
        r"(?i)(?:(?:date|day)[ _]of[ _]birth|birth(?:[ _-]?(?:date|day))?|"
        r"(?<![a-z])(?:dob|d\.o\.b\.?|born(?: on)?)|생년\s?월일|생일)"
        rf"(?:\s?(?:은|는|이|가)|\s(?:is|was))?(?:\son)?(?:\sthe)?[\s:=\"'(–-]{{0,5}}(?P<value>{_DATE})(?![0-9])",
        Sign.BIRTH,
        _is_date,
    ),
)
