"""Cards, Korean bank accounts and IBANs."""

import re
from typing import Final

from coreloop.sanitize.detectors.rule import (
    Rule,
    Sign,
    ahead,
    behind,
    digits_of,
    in_row,
    is_money,
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
_BARE: Final = r"[0-9]{3,6}(?: [0-9]{2,8}){1,3}|[0-9]{10,16}"
RULES: Final = (
    Rule(
        "CARD",
        r"(?<![0-9])(?=(?P<value>[0-9](?:(?:\.(?! )|[ \-/·_]){0,2}[0-9]){12,18})(?![0-9]))",
        Sign.TEN_DIGITS,
        _is_card,
    ),
    Rule(  # alone or in groups, even if another number follows
        "CARD",
        r"(?<![0-9])(?P<value>[0-9]{14,16}|"
        r"[0-9]{4}([ -])(?:[0-9]{6}\2[0-9]{4,5}|[0-9]{4}\2[0-9]{4}\2[0-9]{4}))(?![0-9])",
        Sign.TEN_DIGITS,
        _is_card,
    ),
    Rule("IBAN", _iban_pattern(), Sign.CODES, _is_iban),
)

ACCOUNTS: Final = (
    Rule(
        "ACCOUNT",
        rf"(?<![0-9-])(?:{_DASHED})(?![0-9]|-[0-9])",
        Sign.TEN_DIGITS,
        _is_account,
        near=_BANK,
    ),
    Rule(
        "ACCOUNT",
        rf"(?<![0-9-])(?:{_BARE})(?![0-9]|-[0-9])",
        Sign.TEN_DIGITS,
        _is_bare_account,
        near=_BANK_BESIDE,
    ),
    Rule(
        "ACCOUNT",
        rf"(?<![가-힣A-Za-z])(?:KB|NH|IBK)?{_SHORT_BANK}[ :=(은는-]{{0,4}}"
        rf"(?P<value>{_DASHED}|[0-9]{{11,14}})(?![0-9]|-[0-9])",
        Sign.TEN_DIGITS,
        _is_account,
    ),
    Rule(
        "ACCOUNT",
        rf"(?<![0-9-])(?P<value>[0-9]{{2,6}}(?:[ ]?-[ ]?[0-9]{{1,8}}){{1,4}}|[0-9]{{11,14}})"
        rf"\s?[(\[]{_SHORT_BANK}",
        Sign.TEN_DIGITS,
        _is_account,
    ),
)
