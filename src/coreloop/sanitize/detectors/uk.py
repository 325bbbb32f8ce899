"""The United Kingdom: National Insurance and NHS numbers, telephones, addresses."""

import re
from typing import Final

from coreloop.sanitize.detectors.phones import CALL
from coreloop.sanitize.detectors.rule import Rule, Sign, ahead, behind, digits_of, in_row, stands_alone
from coreloop.sanitize.detectors.streets import FLAT, HOUSE, POSTCODE, STREET, TOWN

HEALTH: Final = r"(?i)(?<![a-z])nhs(?![a-z])|health|patient"


def has_nhs_checksum(digits: str) -> bool:
    """Whether ten digits are an NHS number (NHS Data Dictionary, "NHS number").

    The first nine digits have weights 10 to 2; ``11 - sum % 11`` is the check digit, 11 counts as 0.
    """
    total = sum(weight * int(digit) for weight, digit in zip(range(10, 1, -1), digits, strict=False))
    return (11 - total % 11) % 11 == int(digits[9])


def _is_nhs(match: re.Match[str]) -> bool:
    if not has_nhs_checksum(digits_of(match[0])) or not stands_alone(match):
        return False
    if re.search(HEALTH, ahead(match)) or re.search(HEALTH, behind(match)):
        return True
    return " " in match[0] and not in_row(match)


def _is_telephone(match: re.Match[str]) -> bool:
    digits = digits_of(match[0])
    if len(digits) not in {10, 11} or not stands_alone(match):
        return False
    if len(digits) == 10 and digits[1] != "1":
        return False
    if re.search("[ -]", match[0]) or digits.startswith("07"):
        return True
    return bool(re.search(CALL, ahead(match)) or re.search(CALL, behind(match)))


RULES: Final = (
    Rule(  # HMRC, National Insurance Manual, NIM39110
        "NINO",
        r"(?<![0-9A-Za-z])(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?:[ -]{0,2}[0-9]{2}){3}"
        r"[ -]?[A-D](?![0-9A-Za-z])",
        Sign.NATIONAL,
    ),
    Rule(
        "NHS",
        r"(?<![0-9-])[0-9]{3}([ -]?)[0-9]{3}\1[0-9]{4}(?![0-9]|-[0-9])",
        Sign.TEN_DIGITS,
        _is_nhs,
    ),
    Rule(
        "PHONE",
        r"(?<![0-9])\(?0(?:1[0-9]{2,4}|2[0-9]|3[0-9]{2}|7[0-9]{3}|8[0-9]{2})\)?"
        r"[ -]?[0-9]{3,4}[ -]?[0-9]{3,4}(?![0-9])",
        Sign.TEN_DIGITS,
        _is_telephone,
    ),
    Rule("ADDRESS", rf"{FLAT}{STREET}(?: ?,\s{{1,3}}{TOWN}){{0,3}},?\s{{1,3}}{POSTCODE}", Sign.STREET),
    Rule(  # a number and a postcode, whatever the street is called
        "ADDRESS",
        rf"{FLAT}{HOUSE}[0-9]{{1,4}}[A-Za-z]?,?\s{{1,3}}[A-Z][A-Za-z'’.-]{{1,20}}"
        rf"(?:\s{{1,3}}[A-Za-z'’.-]{{1,20}}){{0,4}}(?: ?,\s{{1,3}}{TOWN}){{1,3}},?\s{{1,3}}{POSTCODE}",
        Sign.STREET,
    ),
)
