"""Telephone numbers: international ones, and the national forms of Korea."""

import re
from typing import Final

from coreloop.sanitize.detectors.rule import Rule, Sign, ahead, digits_of, is_money, stands_alone

_GAP: Final = r"[ \t.\-/·]{0,3}"
_AREA: Final = r"(?:2|3[1-3]|4[1-4]|5[1-5]|6[1-4]|70|80|50[0-9]{1,2})"
CALL: Final = (
    r"(?i)(?:전화|연락|휴대|핸드폰|폰|고객센터|대표번호|콜센터|상담|문의|팩스|tel|phone|call|mobile|cell|"
    r"fax|contact|☎)"
)
# E.164 country codes of two and three digits; 1 and 7 are handled separately.
_CODES_TEXT: Final = """
20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82
84 86 90 91 92 93 94 95 98
"""
_CODES: Final = frozenset(_CODES_TEXT.split())
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


RULES: Final = (
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
        rf"(?:\((?<![0-9]\()0|0(?<![0-9]0))1[016789]\)?{_GAP}[0-9]{{3,4}}{_GAP}[0-9]{{4}}(?![0-9])",
        Sign.TEN_DIGITS,
        _is_korean,
    ),
    Rule(
        "PHONE",
        rf"(?<![0-9])(?:\(?(?:\+|00[2-8]?{_GAP})?\s?82\)?)[ .\-()]{{0,3}}0?[ .\-()]{{0,3}}(?:1[016789]|"
        rf"{_AREA})[ .\-()]{{0,3}}"
        rf"[0-9]{{3,4}}{_GAP}[0-9]{{4}}(?![0-9])",
        Sign.DIGITS,
        _is_korean_from_abroad,
    ),
    Rule(
        "PHONE",
        rf"(?:\((?<![0-9]\()0|0(?<![0-9]0)){_AREA}\)?{_GAP}[0-9]{{3,4}}{_GAP}[0-9]{{4}}(?![0-9])",
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
