"""Cards, bank accounts and IBANs; and the numbers of Korea: residents, businesses, passports, licences."""

import re
from datetime import date
from typing import Final

from coreloop.sanitize.detectors import contact, persons
from coreloop.sanitize.detectors.rule import (
    Rule,
    Sign,
    ahead,
    behind,
    digits_of,
    in_row,
    is_money,
    rules,
    stands_alone,
)

CARD_WORD: Final = r"(?i)(?:카드|card|visa|master|amex|결제|신용|체크)"
_GROUPS: Final = frozenset(
    {
        *((4, 4, 4, 4), (4, 6, 5), (4, 4, 4, 4, 3), (4, 6, 4), (4, 4, 4, 2), (4, 4, 4, 3)),
        *((8, 4, 4), (4, 8, 4), (4, 4, 8), (10, 5), (4, 11), (10, 4), (4, 10)),
    }
)
PAYMENT: Final = r"계좌|통장|입금|송금|이체|환불|예금주|acct|account(?!ing)|a/c|iban"
_BANKS: Final = r"은행|뱅크|새마을금고|우체국|신협|수협|농협|예금|bank"
_BANK: Final = rf"(?i)(?:{PAYMENT}|{_BANKS})"
_BANK_BESIDE: Final = (
    rf"(?i)(?:{PAYMENT}|(?:{_BANKS})[^0-9가-힣\n]{{0,4}}(?:으로|로|에|은|는|이|가|의)?[^0-9가-힣\n]{{0,4}}\Z)"
)
_SHORT_BANK: Final = (
    r"(?:국민|신한|우리|하나|기업|농협|수협|산업|제일|씨티|부산|대구|광주|전북|경남|제주|카카오|토스|케이|SC|KB|IBK|NH|KDB|"
    r"DGB|BNK|iM|신협|우체국)"
)
# ISO 13616: countries and the lengths of their IBANs.
_IBAN_LENGTHS_TEXT: Final = """
AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24
FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32
LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22
SA24 SC31 SD18 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20
"""
_IBAN_LENGTHS: Final = _IBAN_LENGTHS_TEXT.split()


def has_luhn(digits: str) -> bool:
    """Whether the check digit is valid by the Luhn formula (ISO/IEC 7812-1)."""
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(two // 10 + two % 10 for two in doubled)) % 10 == 0


def _is_issued(digits: str) -> bool:
    """Whether a card network issues numbers with this length and prefix."""
    if len(digits) == 16:
        return digits[0] in "4569" or digits[:2] == "35" or "2221" <= digits[:4] <= "2720"
    if len(digits) == 15:
        return digits[:2] in {"34", "37"}
    if len(digits) == 14:
        return digits[:2] in {"30", "36", "38", "39"}
    return digits[0] in "46" if len(digits) == 19 else digits[0] == "4"


def _is_card(match: re.Match[str]) -> bool:
    digits = digits_of(match["value"])
    if len(digits) not in {13, 14, 15, 16, 19} or not _is_issued(digits) or not has_luhn(digits):
        return False
    if not stands_alone(match) or digits.endswith("00000000"):
        return False
    named = bool(re.search(CARD_WORD, ahead(match)) or re.search(CARD_WORD, behind(match)))
    if named:
        return True
    groups = tuple(len(group) for group in re.findall(r"[0-9]+", match["value"]))
    if len(groups) > 1:
        return groups in _GROUPS and not (" " in match["value"] and in_row(match))
    return len(digits) in {14, 15, 16, 19} and not is_money(match)


def _is_account(match: re.Match[str]) -> bool:
    digits = digits_of(match[0])
    if not 10 <= len(digits) <= 16 or is_money(match) or not stands_alone(match):
        return False
    if re.fullmatch(r"(?:19|20)[0-9]{2}(?:[ -](?:19|20)[0-9]{2})+", match[0]):
        return False
    return not re.match(r"(?:19|20)[0-9]{2}[-/][01]?[0-9][-/][0-3]?[0-9](?![0-9])", match[0])


def _is_bare_account(match: re.Match[str]) -> bool:
    return _is_account(match) and not (" " in match[0] and in_row(match))


def _is_iban(match: re.Match[str]) -> bool:
    text = re.sub(r"[^0-9A-Za-z]", "", match[0]).upper()
    moved = text[4:] + text[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def _iban_pattern() -> str:
    bodies = (
        rf"{entry[:2]}[0-9]{{2}}(?:[ ._·/-]?[0-9A-Z]){{{int(entry[2:]) - 4}}}" for entry in _IBAN_LENGTHS
    )
    return rf"(?i)(?=[A-Z]{{2}}[0-9]{{2}})(?<![0-9A-Za-z-])(?:{'|'.join(bodies)})(?![0-9A-Za-z]|-[0-9A-Za-z])"


# a point with a space only behind it ends a sentence, which a year may follow
_DASHED: Final = r"[0-9]{2,6}(?:(?:[ ]?[-/_][ ]?|\.| \. ?)[0-9]{1,8}){1,4}"
_ENDS: Final = r"(?![0-9]|-[0-9])"
_BARE: Final = r"[0-9]{3,6}(?: [0-9]{2,8}){1,3}|[0-9]{10,16}"
FINANCE_RULES: Final = (
    *rules(
        "CARD",
        Sign.TEN_DIGITS,
        (_is_card, r"(?<![0-9])(?=(?P<value>[0-9](?:(?:\.(?! )|[ \-/·_]){0,2}[0-9]){12,18})(?![0-9]))"),
        (  # alone or in groups, even if another number follows
            _is_card,
            r"(?<![0-9])(?P<value>[0-9]{14,16}|"
            r"[0-9]{4}([ -])(?:[0-9]{6}\2[0-9]{4,5}|[0-9]{4}\2[0-9]{4}\2[0-9]{4}))(?![0-9])",
        ),
    ),
    Rule("IBAN", _iban_pattern(), Sign.CODES, _is_iban),
)

ACCOUNTS: Final = (
    Rule("ACCOUNT", rf"(?<![0-9-])(?:{_DASHED}){_ENDS}", Sign.TEN_DIGITS, _is_account, near=_BANK),
    Rule("ACCOUNT", rf"(?<![0-9-])(?:{_BARE}){_ENDS}", Sign.TEN_DIGITS, _is_bare_account, near=_BANK_BESIDE),
    *rules(
        "ACCOUNT",
        Sign.TEN_DIGITS,
        (
            _is_account,
            rf"(?<![가-힣A-Za-z])(?:KB|NH|IBK)?{_SHORT_BANK}[ :=(은는-]{{0,4}}",
            rf"(?P<value>{_DASHED}|[0-9]{{11,14}}){_ENDS}",
        ),
        (
            _is_account,
            r"(?<![0-9-])(?P<value>[0-9]{2,6}(?:[ ]?-[ ]?[0-9]{1,8}){1,4}|[0-9]{11,14})",
            rf"\s?[(\[]{_SHORT_BANK}",
        ),
    ),
)


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
KR_RULES: Final = (
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
    *rules(
        "LICENCE",
        Sign.TEN_DIGITS,
        r"(?:1(?<![0-9-]1)[1-9]|2(?<![0-9-]2)[0-8])[ ]?[-.][ ]?[0-9]{2}[ ]?[-.][ ]?[0-9]{6}"
        r"[ ]?[-.][ ]?[0-9]{2}(?![0-9-])",
        rf"{_REGIONS}[ -]?[0-9]{{2}}[ -]{{0,3}}[0-9]{{6}}[ -]{{0,3}}[0-9]{{2}}(?![0-9-])",
    ),
    Rule(
        "LICENCE",
        r"(?<![0-9])(?:1[1-9]|2[0-8])[-_/. ]?[0-9]{2}[-_/. ]?[0-9]{6}[-_/. ]?[0-9]{2}(?![0-9])",
        Sign.TEN_DIGITS,
        near=LICENCE,
    ),
    *ACCOUNTS,
    *contact.KOREAN,
    *persons.KOREAN,
    *persons.INTRODUCED,
)
