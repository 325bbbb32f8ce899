"""The United States, the United Kingdom and the European Union: numbers of persons, telephones, addresses."""

import re
from collections import Counter
from typing import Final

from coreloop.sanitize.detectors.contact import CALL
from coreloop.sanitize.detectors.rule import (
    Rule,
    Sign,
    ahead,
    behind,
    digits_of,
    in_row,
    is_money,
    stands_alone,
    words_of,
)

KINDS: Final = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Terrace|Parkway|Pkwy|Highway|Hwy|Circle|"
    r"Cir|Square|Sq|Way|Close|Crescent|Gardens|Grove|Mews|Row)"
)
_WORD: Final = r"[A-Z][A-Za-z'’.-]{1,20}"
_NAME: Final = (
    rf"(?:[NS]?[NSEW]\.? )?(?:{_WORD}|[0-9]{{1,3}}(?:st|nd|rd|th))"
    rf"(?:\s{{1,3}}{_WORD}){{0,2}}(?:\s[a-z]{{2,15}})?"
)
HOUSE: Final = r"(?<![0-9A-Za-z.$€£₩-])"
"""Before a house number; a comma may stand there, as in a row."""
STREET: Final = rf"{HOUSE}[0-9]{{1,6}}[A-Za-z]?,?\s{{1,3}}{_NAME}\s{{1,3}}{KINDS}(?![A-Za-z])(?:\s?\.)?"
"""221B Baker Street, not 12 Monkeys."""
POSTCODE: Final = r"[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][ABD-HJLNP-UW-Z]{2}(?![0-9A-Za-z])"
UNIT: Final = r"(?:,? {0,2}(?:#|(?:Flat|Apartment|Apt|Unit|Suite|Ste)\.?) {0,2}[0-9A-Za-z-]{1,6})?"
FLAT: Final = r"(?:(?:Flat|Apartment|Apt\.?|Unit|Suite|Ste\.?) [0-9A-Za-z-]{1,6},? ?)?"
TOWN: Final = r"[A-Z][A-Za-z'’.-]{1,25}(?: [A-Z][A-Za-z'’.-]{1,25}){0,2}"


SOCIAL: Final = r"(?i)(?<![a-z])ssn|social[\s_]?security|(?<![a-z])itin|taxpayer"
EMPLOYER: Final = (
    r"(?i)(?<![a-z])f?ein(?![a-z])|employer|identification n|tax[\s_]?(?:id|payer)|(?<![a-z])tin(?![a-z])"
)
# IRS: prefixes that no campus assigns.
_NO_EMPLOYER: Final = words_of("00 07 08 09 17 18 19 28 29 49 69 70 78 79 89 96 97")
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


def _us_is_telephone(match: re.Match[str]) -> bool:
    """Whether dashes or dots, a bracket or a word mark ten digits as a telephone number."""
    if "(" in match[0] or not re.search("[ ]", match[0]):
        return stands_alone(match)
    return not in_row(match) and bool(re.search(CALL, ahead(match)) or re.search(CALL, behind(match)))


US_RULES: Final = (
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
        _us_is_telephone,
    ),
    Rule(
        "ADDRESS",
        rf"{FLAT}{STREET}{UNIT}(?: ?,? {{1,2}}(?:{TOWN}, {{1,2}})?{_STATES} [0-9]{{5}}(?:-[0-9]{{4}})?)?",
        Sign.STREET,
    ),
    Rule("ADDRESS", r"(?i)(?<![a-z])p\.? ?o\.? box [0-9]{1,6}(?![0-9])", Sign.STREET),
)


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


def _uk_is_telephone(match: re.Match[str]) -> bool:
    digits = digits_of(match[0])
    if len(digits) not in {10, 11} or not stands_alone(match):
        return False
    if len(digits) == 10 and digits[1] != "1":
        return False
    if re.search("[ -]", match[0]) or digits.startswith("07"):
        return True
    return bool(re.search(CALL, ahead(match)) or re.search(CALL, behind(match)))


UK_RULES: Final = (
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
        _uk_is_telephone,
    ),
    Rule("ADDRESS", rf"{FLAT}{STREET}(?: ?,\s{{1,3}}{TOWN}){{0,3}},?\s{{1,3}}{POSTCODE}", Sign.STREET),
    Rule(  # a number and a postcode, whatever the street is called
        "ADDRESS",
        rf"{FLAT}{HOUSE}[0-9]{{1,4}}[A-Za-z]?,?\s{{1,3}}[A-Z][A-Za-z'’.-]{{1,20}}"
        rf"(?:\s{{1,3}}[A-Za-z'’.-]{{1,20}}){{0,4}}(?: ?,\s{{1,3}}{TOWN}){{1,3}},?\s{{1,3}}{POSTCODE}",
        Sign.STREET,
    ),
)


_SPANISH: Final = "TRWAGMYFPDXBNJZSQVHLCKE"
_ITALIAN_ODD: Final = (
    *(1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20),
    *(11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
)
DUTCH: Final = r"(?i)(?<![a-z])bsn(?![a-z])|burgerservice|sofi"


def has_spanish_letter(text: str) -> bool:
    """Whether the letter of a DNI or NIE is valid: the number modulo 23 (Orden INT/2058/2008).

    The first letter of a NIE counts as a digit: X, Y, Z are 0, 1, 2.
    """
    number = text[:-1].upper().translate(str.maketrans("XYZ", "012"))
    return _SPANISH[int(number) % 23] == text[-1].upper()


def has_french_key(text: str) -> bool:
    """Whether the key of a NIR is valid: 97 less the number modulo 97 (INSEE; 2A and 2B are 19 and 18)."""
    number = text[:13].upper().replace("2A", "19").replace("2B", "18")
    return 97 - int(number) % 97 == int(text[13:])


def has_italian_letter(text: str) -> bool:
    """Whether the last letter of a codice fiscale is valid (Decreto ministeriale 23 dicembre 1976).

    Letters and digits in odd places count by a table, others by their order; the sum modulo 26 is the letter.
    """
    values = [int(char) if char.isdigit() else ord(char) - ord("A") for char in text.upper()]
    total = sum(_ITALIAN_ODD[value] if place % 2 == 0 else value for place, value in enumerate(values[:15]))
    return total % 26 == values[15]


def is_german_tax_id(digits: str) -> bool:
    """Whether eleven digits are a Steuer-ID (ISO/IEC 7064, MOD 11,10).

    Among the first ten digits exactly one occurs two or three times (Bundeszentralamt für Steuern).
    """
    counts = Counter(digits[:10])
    if digits[0] == "0" or sum(n > 1 for n in counts.values()) != 1 or max(counts.values()) > 3:
        return False
    product = 10
    for digit in digits[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def has_dutch_checksum(digits: str) -> bool:
    """Whether nine digits pass the eleven test of a BSN: weights 9 to 2 and -1 (Logisch ontwerp BSN)."""
    weights = (9, 8, 7, 6, 5, 4, 3, 2, -1)
    return sum(weight * int(digit) for weight, digit in zip(weights, digits, strict=True)) % 11 == 0


def _compact(match: re.Match[str]) -> str:
    return re.sub(r"[^0-9A-Za-z]", "", match[0])


def _is_french(match: re.Match[str]) -> bool:
    return has_french_key(_compact(match)) and stands_alone(match)


def _is_german(match: re.Match[str]) -> bool:
    return is_german_tax_id(digits_of(match[0])) and stands_alone(match) and not is_money(match)


def _is_dutch(match: re.Match[str]) -> bool:
    beside = re.search(DUTCH, ahead(match)) or re.search(DUTCH, behind(match))
    return beside is not None and has_dutch_checksum(digits_of(match[0]).zfill(9)) and stands_alone(match)


EU_RULES: Final = (
    Rule(
        "DNI",
        r"(?<![0-9A-Za-z-])[0-9]{2}\.?[0-9]{3}\.?[0-9]{3}(?: ?- ?| )?"
        r"[A-HJ-NP-TV-Za-hj-np-tv-z](?![0-9A-Za-z])",
        Sign.DIGITS,
        lambda match: has_spanish_letter(_compact(match)),
    ),
    Rule(
        "NIE",
        r"(?<![0-9A-Za-z-])[XYZxyz](?: ?- ?| )?[0-9]{7}(?: ?- ?| )?[A-HJ-NP-TV-Za-hj-np-tv-z](?![0-9A-Za-z])",
        Sign.DIGITS,
        lambda match: has_spanish_letter(_compact(match)),
    ),
    Rule(
        "NIR",
        r"(?<![0-9A-Za-z])[12378][ ./_-]{0,2}[0-9]{2}[ ./_-]{0,2}(?:0[1-9]|1[0-2]|[2-9][0-9])"
        r"[ ./_-]{0,2}(?:[0-9]{2}|2[ABab])"
        r"[ ./_-]{0,2}[0-9]{3}[ ./_-]{0,2}[0-9]{3}[ ./_-]{0,2}[0-9]{2}(?![0-9A-Za-z])",
        Sign.DIGITS,
        _is_french,
    ),
    Rule(
        "FISCAL",
        r"(?i)(?<![0-9a-z])[a-z]{6}[0-9][0-9lmnp-v][a-ehlmprst][0-9lmnp-v]{2}[a-z][0-9lmnp-v]{3}[a-z](?![0-9a-z])",
        Sign.NATIONAL,
        lambda match: has_italian_letter(match[0]),
    ),
    Rule(
        "STEUER",
        r"(?<![0-9-])[1-9][0-9](?:\s{1,2}|[-_/.]?)[0-9]{3}(?:\s{1,2}|[-_/.]?)[0-9]{3}(?:\s{1,2}|[-_/.]?)[0-9]{3}(?![0-9]|-[0-9])",
        Sign.TEN_DIGITS,
        _is_german,
    ),
    Rule(
        "BSN",
        r"(?<![0-9-])(?:[0-9]{8,9}|[0-9]{3}( ?[-_/. ] ?)[0-9]{3}\1[0-9]{3}|"
        r"[0-9]{4}( ?[-_/. ] ?)[0-9]{2}\2[0-9]{3})"
        r"(?![0-9]|-[0-9])",
        Sign.DIGITS,
        _is_dutch,
    ),
)
