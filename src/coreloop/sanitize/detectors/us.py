"""The United States: numbers of persons and employers, telephones, addresses."""

import re
from typing import Final

from coreloop.sanitize.detectors.phones import CALL
from coreloop.sanitize.detectors.rule import Rule, Sign, ahead, behind, digits_of, in_row, stands_alone
from coreloop.sanitize.detectors.streets import FLAT, STREET, TOWN, UNIT

SOCIAL: Final = r"(?i)(?<![a-z])ssn|social[\s_]?security|(?<![a-z])itin|taxpayer"
EMPLOYER: Final = (
    r"(?i)(?<![a-z])f?ein(?![a-z])|employer|identification n|tax[\s_]?(?:id|payer)|(?<![a-z])tin(?![a-z])"
)
# IRS: prefixes that no campus assigns.
_NO_EMPLOYER_TEXT: Final = "00 07 08 09 17 18 19 28 29 49 69 70 78 79 89 96 97"
_NO_EMPLOYER: Final = frozenset(_NO_EMPLOYER_TEXT.split())
_STATES: Final = (
    r"(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|"
    r"V[AT]|W[AIVY])"
)


def is_social_security(digits: str) -> bool:
    """Whether nine digits can be a Social Security number; it has no check digit.

    The area is not 000, 666 or 900 to 999, the group not 00, the serial not 0000 (SSA, "Social Security
    Number Randomization").
    """
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in {"000", "666"} and area < "900" and group != "00" and serial != "0000"


def is_taxpayer(digits: str) -> bool:
    """Whether nine digits can be an ITIN (IRS Publication 1915).

    The first digit is 9, the group 50 to 65, 70 to 88, 90 to 92 or 94 to 99.
    """
    group = int(digits[3:5])
    return digits[0] == "9" and (
        50 <= group <= 65 or 70 <= group <= 88 or group in {90, 91, 92} or group >= 94
    )


def is_employer(digits: str) -> bool:
    """Whether nine digits begin with an assigned prefix (IRS, "Valid EIN prefixes")."""
    return digits[:2] not in _NO_EMPLOYER


def _is_marked(match: re.Match[str]) -> bool:
    """Whether nine digits have dashes, or a word beside them."""
    if not stands_alone(match):
        return False
    return "-" in match[0] or bool(re.search(SOCIAL, ahead(match)) or re.search(SOCIAL, behind(match)))


def _is_social_security(match: re.Match[str]) -> bool:
    return is_social_security(digits_of(match[0])) and _is_marked(match)


def _is_taxpayer(match: re.Match[str]) -> bool:
    return is_taxpayer(digits_of(match[0])) and _is_marked(match)


def _is_telephone(match: re.Match[str]) -> bool:
    """Whether dashes or dots, a bracket or a word mark ten digits as a telephone number."""
    if "(" in match[0] or not re.search("[ ]", match[0]):
        return stands_alone(match)
    return not in_row(match) and bool(re.search(CALL, ahead(match)) or re.search(CALL, behind(match)))


RULES: Final = (
    Rule(
        "SSN",
        r"(?<![0-9-])[0-8][0-9]{2}( ?[-_/.] ?| {0,2})[0-9]{2}\1[0-9]{4}(?![0-9]|-[0-9])",
        Sign.DIGITS,
        _is_social_security,
    ),
    Rule(
        "ITIN",
        r"(?<![0-9-])9[0-9]{2}( ?[-_/.] ?| {0,2})[5-9][0-9]\1[0-9]{4}(?![0-9]|-[0-9])",
        Sign.DIGITS,
        _is_taxpayer,
    ),
    Rule(
        "EIN",
        r"(?<![0-9-])[0-9]{2}(?: ?[-_/.·] ?| )?[0-9]{7}(?![0-9]|-[0-9])",
        Sign.DIGITS,
        lambda match: is_employer(digits_of(match[0])),
        near=EMPLOYER,
    ),
    Rule(
        "PHONE",
        r"(?<![0-9A-Za-z.-])(?:1[ .-]?(?=\()|1[ .-])?(?:\([2-9][0-9]{2}\)[ .-]?|[2-9][0-9]{2}([ ./_-]))"
        r"[2-9][0-9]{2}(?(1)\1|[ .-])[0-9]{4}(?![0-9-]|\.[0-9])",
        Sign.TEN_DIGITS,
        _is_telephone,
    ),
    Rule(
        "ADDRESS",
        rf"{FLAT}{STREET}{UNIT}(?: ?,? {{1,2}}(?:{TOWN}, {{1,2}})?{_STATES} [0-9]{{5}}(?:-[0-9]{{4}})?)?",
        Sign.STREET,
    ),
    Rule("ADDRESS", r"(?i)(?<![a-z])p\.? ?o\.? box [0-9]{1,6}(?![0-9])", Sign.STREET),
)
