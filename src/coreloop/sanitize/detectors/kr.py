"""Korea: residents, foreigners, businesses, passports, licences; with accounts, telephones and names."""

import re
from datetime import date
from typing import Final

from coreloop.sanitize.detectors import contact, finance, persons
from coreloop.sanitize.detectors.rule import Rule, Sign, ahead, behind, digits_of, is_money, stands_alone

RESIDENT: Final = (
    r"(?i)(?:주민|외국인\s?등록|등록번호|거소|생년월일|rrn|resident|ssn|alien|foreigner|jumin|registration n)"
)
BUSINESS: Final = r"(?i)(?:사업자|biz|business|brn|\bbrno?\b|등록번호|registration n|tax)"
LICENCE: Final = r"(?i)(?:면허|licen[cs]e)"
_CORPORATE: Final = re.compile(r"(?i)법인|corporate|crn|corp")
_PRODUCT: Final = re.compile(
    r"(?i)(?:model|part|product|serial|sku|item|order|부품|제품|모델|품번|상품|자재|도면)[\s가-힣_.:=#\"'-]{0,8}(?:no|code|number)?[\s.:=#\"']{0,3}\Z"
)
_DATED: Final = re.compile("[Mm](?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")
_REGIONS: Final = r"(?:서울|부산|경기|강원|충북|충남|전북|전남|경북|경남|제주|대구|인천|광주|대전|울산|세종)"
# Chosen: nobody with an earlier year of birth uses an agent; older dates are other numbers.
_OLDEST_YEAR: Final = 1920
_NO_CHECKSUM_SINCE: Final = date(2020, 10, 1)
_WEIGHTS: Final = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)


def birth_date(digits: str) -> date | None:
    """Decode the date of birth in the 13 digits of a registration number, or None if implausible.

    The seventh digit is the century: 1, 2, 5, 6 for 19xx; 3, 4, 7, 8 for 20xx (5 to 8: foreigners).
    """
    century = {"1": 1900, "2": 1900, "5": 1900, "6": 1900}.get(digits[6], 2000)
    try:
        born = date(century + int(digits[:2]), int(digits[2:4]), int(digits[4:6]))
    except ValueError:
        return None
    return born if _OLDEST_YEAR <= born.year <= 2035 else None


def has_resident_checksum(digits: str) -> bool:
    """Whether the check digit is valid, by the formula for residents or foreigners.

    Residents: ``(11 - sum % 11) % 10`` with weights 2-9, 2-5; foreigners (seventh digit 5 to 8) may also have
    ``(13 - sum % 11) % 10``.
    """
    rest = sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, digits, strict=False)) % 11
    valid = {(11 - rest) % 10}
    if digits[6] in "5678":
        valid.add((13 - rest) % 10)
    return int(digits[12]) in valid


def _is_resident(match: re.Match[str]) -> bool:
    digits = digits_of(match[0])
    if not stands_alone(match) or digits[6] not in "12345678":
        return False
    born = birth_date(digits)
    if born is None or _CORPORATE.search(ahead(match, 12)):
        return False
    if re.search(RESIDENT, ahead(match)) or re.search(RESIDENT, behind(match)):
        return True
    if "-" in match[0]:
        return True
    if is_money(match):
        return False
    if digits[:2] in {"16", "17"} and born.year > 2000:  # a present time in milliseconds since 1970
        return False
    return has_resident_checksum(digits) or born >= _NO_CHECKSUM_SINCE


def has_business_checksum(digits: str) -> bool:
    """Whether ten digits are a business registration number.

    Weights 1, 3, 7, 1, 3, 7, 1, 3, 5; the tens digit of the last product is added; the sum and the check
    digit add up to a multiple of ten.
    """
    total = sum(
        weight * int(digit) for weight, digit in zip((1, 3, 7, 1, 3, 7, 1, 3, 5), digits, strict=False)
    )
    total += int(digits[8]) * 5 // 10
    return (10 - total % 10) % 10 == int(digits[9])


def _is_business(match: re.Match[str]) -> bool:
    digits = digits_of(match[0])
    if not has_business_checksum(digits) or not stands_alone(match) or digits[:3] < "101":
        return False
    if re.fullmatch(r"[0-9]{3}[^0-9]{1,3}[0-9]{2}[^0-9]{1,3}[0-9]{5}", match[0]) and "-" in match[0]:
        return True
    return bool(re.search(BUSINESS, ahead(match)) or re.search(BUSINESS, behind(match)))


def has_company_checksum(digits: str) -> bool:
    """Whether 13 digits are a company's registration number (법인등록번호).

    Four digits of the registry, two of the kind of company; weights 1 and 2 in turns, the sum and the check
    digit add up to a multiple of ten (법인 및 재외국민의 부동산등기용등록번호 부여에 관한 규칙).
    """
    total = sum((1 + place % 2) * int(digit) for place, digit in enumerate(digits[:12]))
    return (10 - total % 10) % 10 == int(digits[12])


def _is_company(match: re.Match[str]) -> bool:
    digits = digits_of(match[0])
    if not has_company_checksum(digits) or not stands_alone(match):
        return False
    return "-" in match[0] or _CORPORATE.search(ahead(match)) is not None


def _is_passport(match: re.Match[str]) -> bool:
    """Whether a code is neither a product's, as the word before it says, nor a date behind an M."""
    return _PRODUCT.search(ahead(match)) is None and not _DATED.fullmatch(match[0])


# A pattern that begins with its first digit, and then looks behind, takes a third of the time.
RULES: Final = (
    Rule(
        "RRN",
        r"[0-9](?<![0-9].)[0-9]{5}[ \t]{0,2}[-~_./·]?[ \t]{0,2}[1-8][0-9]{6}(?![0-9])",
        Sign.TEN_DIGITS,
        _is_resident,
    ),
    Rule(
        "CRN",
        r"(?:1[1-9]|2[0-8])(?<![0-9].{2})[0-9]{4}[ \t]?[-/._·]?[ \t]?[0-9]{7}(?![0-9])",
        Sign.TEN_DIGITS,
        _is_company,
    ),
    Rule(
        "BRN",
        r"[0-9](?<![0-9-].)[0-9]{2}[ \t]?[-./·]?[ \t]?[0-9]{2}[ \t]?[-./·]?[ \t]?[0-9]{5}(?![0-9]|-[0-9])",
        Sign.TEN_DIGITS,
        _is_business,
    ),
    Rule(
        "PASSPORT",
        r"[MmSRGDO](?<![0-9A-Za-z].)(?:(?<=[Mm])[ -]?[0-9]{8}|(?<!m)[ -]?[0-9]{3}[A-Z][0-9]{4})"
        r"(?![0-9A-Za-z])",
        Sign.DIGITS | Sign.CODES,
        _is_passport,
    ),
    Rule(
        "PASSPORT",
        r"(?<![0-9A-Za-z])(?:[A-Za-z]{1,2}[ -]?[0-9]{6,9}|[A-Za-z][ -]?[0-9]{3}[A-Za-z][0-9]{4}|[0-9]{9})"
        r"(?![0-9A-Za-z])",
        Sign.DIGITS | Sign.CODES,
        near=r"(?i)여권|passport",
    ),
    Rule(
        "LICENCE",
        r"(?:1(?<![0-9-]1)[1-9]|2(?<![0-9-]2)[0-8])[ ]?[-.][ ]?[0-9]{2}[ ]?[-.][ ]?[0-9]{6}"
        r"[ ]?[-.][ ]?[0-9]{2}(?![0-9-])",
        Sign.TEN_DIGITS,
    ),
    Rule(
        "LICENCE",
        rf"{_REGIONS}[ -]?[0-9]{{2}}[ -]{{0,3}}[0-9]{{6}}[ -]{{0,3}}[0-9]{{2}}(?![0-9-])",
        Sign.TEN_DIGITS,
    ),
    Rule(
        "LICENCE",
        r"(?<![0-9])(?:1[1-9]|2[0-8])[-_/. ]?[0-9]{2}[-_/. ]?[0-9]{6}[-_/. ]?[0-9]{2}(?![0-9])",
        Sign.TEN_DIGITS,
        near=LICENCE,
    ),
    *finance.ACCOUNTS,
    *contact.KOREAN,
    *persons.KOREAN,
    *persons.INTRODUCED,
)
