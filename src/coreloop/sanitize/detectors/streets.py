"""Street addresses in English: a house number, a name and a word for a street."""

from typing import Final

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
