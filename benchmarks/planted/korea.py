"""Numbers of Korean people and firms, and telephone numbers there."""

from random import Random

from . import check_digits
from .kind import UPPER, Kind, Value, digits, grouped, words

PHONE_WORDS = ("전화 {}", "연락처: {}", "연락처는 {}", "휴대폰 {}", "phone: {}", "call me at {}", "Tel. {}")
_AREAS = words("02 031 032 033 041 042 043 044 051 052 053 054 055 061 062 063 064")
_ACCOUNTS = {
    "국민은행": (6, 2, 6),
    "신한은행": (3, 3, 6),
    "우리은행": (4, 3, 6),
    "농협": (3, 4, 4, 2),
    "카카오뱅크": (4, 2, 7),
    "토스뱅크": (4, 4, 4),
    "하나은행": (3, 6, 5),
    "기업은행": (3, 6, 2, 3),
}


def mobile(chance: Random) -> Value:
    number = f"010{chance.randrange(2, 10)}{digits(chance, 7)}"
    return Value(_phone(chance, number, 3, 4, 4))


def landline(chance: Random) -> Value:
    area = chance.choice(_AREAS)
    middle = chance.choice((3, 4))
    number = f"{area}{chance.randrange(2, 9)}{digits(chance, middle + 3)}"
    text = _phone(chance, number, len(area), middle, 4)
    return Value(
        f"{area}){text[len(area) + 1 :]}" if text[len(area)] == "-" and chance.random() < 0.3 else text
    )


def international(chance: Random) -> Value:
    number = f"{chance.randrange(2, 10)}{digits(chance, 7)}"
    country = chance.choice(("+82", "+82", "0082", "(+82)"))
    local = f"10{chance.choice('- ')}{grouped(number, 4, 4)}" if chance.random() < 0.8 else f"10{number}"
    return Value(f"{country}{chance.choice('- ')}{local}", (f"10{number}",))


def _phone(chance: Random, number: str, *sizes: int) -> str:
    return grouped(number, *sizes, by=chance.choice(("-", "-", "-", "", " ", ".")))


def resident(chance: Random) -> Value:
    return Value(grouped(check_digits.resident(chance), 6, 7, by=chance.choice(("-", "-", "", " "))))


def foreigner(chance: Random) -> Value:
    number = check_digits.resident(chance, foreign=True)
    return Value(grouped(number, 6, 7, by=chance.choice(("-", "-", "", " "))))


def business(chance: Random) -> Value:
    return Value(grouped(check_digits.business(chance), 3, 2, 5))


def business_plain(chance: Random) -> Value:
    return Value(check_digits.business(chance))


def corporate(chance: Random) -> Value:
    return Value(grouped(check_digits.corporate(chance), 6, 7))


def passport(chance: Random) -> Value:
    if chance.random() < 0.5:
        return Value(f"{chance.choice('MSRGD')}{digits(chance, 8)}")
    return Value(f"M{digits(chance, 3)}{chance.choice(UPPER)}{digits(chance, 4)}")


def licence(chance: Random) -> Value:
    number = f"{chance.randrange(11, 27)}{chance.randrange(100):02d}{digits(chance, 8)}"
    return Value(grouped(number, 2, 2, 6, 2))


def account(chance: Random) -> Value:
    sizes = chance.choice(list(_ACCOUNTS.values()))
    return Value(grouped(f"{chance.randrange(1, 10)}{digits(chance, sum(sizes) - 1)}", *sizes))


KINDS = (
    Kind(
        "Korean mobile number",
        mobile,
        beside=PHONE_WORDS,
        keys=("phone", "mobile", "연락처"),
        disguises="digits text",
        is_number=True,
    ),
    Kind(
        "Korean landline",
        landline,
        beside=PHONE_WORDS,
        keys=("phone", "tel", "전화번호"),
        disguises="digits text",
    ),
    Kind(
        "Korean number with country code",
        international,
        beside=PHONE_WORDS,
        keys=("phone",),
        disguises="digits text",
    ),
    Kind(
        "resident number",
        resident,
        beside=("주민등록번호 {}", "주민번호: {}", "주민번호는 {}"),
        keys=("rrn", "주민등록번호", "user_no"),
        disguises="digits text",
        is_number=True,
    ),
    Kind(
        "foreigner's number",
        foreigner,
        beside=("외국인등록번호 {}", "외국인 등록번호: {}"),
        keys=("외국인등록번호",),
        disguises="digits text",
        is_number=True,
    ),
    Kind(
        "business number",
        business,
        beside=("사업자등록번호 {}", "사업자번호: {}"),
        keys=("사업자등록번호", "biz_no"),
        disguises="digits text",
    ),
    Kind(
        "business number without hyphens",
        business_plain,
        beside=("사업자번호 {}", "사업자등록번호: {}", "사업자 등록번호는 {}"),
        bare=False,
        keys=("사업자등록번호", "business_number"),
        disguises="digits text",
        is_number=True,
    ),
    Kind(
        "corporate registration number",
        corporate,
        beside=("법인등록번호 {}", "법인번호: {}"),
        keys=("법인등록번호",),
        disguises="digits text",
    ),
    Kind(
        "Korean passport",
        passport,
        beside=("여권번호 {}", "여권번호는 {}", "여권 {}", "passport no. {}", "Passport: {}"),
        bare=False,
        keys=("passport", "여권번호", "passport_no"),
        disguises="text",
    ),
    Kind(
        "Korean driving licence",
        licence,
        beside=("운전면허번호 {}", "운전면허 {}", "면허번호: {}"),
        keys=("운전면허번호",),
        disguises="digits text",
    ),
    Kind(
        "Korean bank account",
        account,
        beside=(
            *(f"{bank} {{}}" for bank in _ACCOUNTS),
            "계좌번호 {}",
            "계좌: {}",
            "입금 계좌는 {}",
            "환불계좌 {}",
            "국민 {}",
            "{} 국민은행",
            "{} (신한)",
        ),
        bare=False,
        keys=("account", "계좌번호", "account_number"),
        disguises="digits text",
    ),
)
