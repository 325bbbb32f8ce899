"""The European Union: national identity and tax numbers with check digits."""

import re
from collections import Counter
from typing import Final

from coreloop.sanitize.detectors.rule import Rule, Sign, ahead, behind, digits_of, is_money, stands_alone

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


RULES: Final = (
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
