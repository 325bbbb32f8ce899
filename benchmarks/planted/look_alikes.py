"""Values that look private and are not: replacing one of them is a false positive."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from . import check_digits, europe, korea
from .kind import DIGITS, HEX, UPPER, digits, draw, grouped
from .look_alike_words import LOOK_ALIKE_WORDS


@dataclass(frozen=True, slots=True)
class LookAlike:
    """A family of harmless values.

    Attributes
    ----------
    like : str
        Name of the kind that it looks like; empty for figures, dates and hashes in general.
    make : callable
        Makes a value with the words around it.
    """

    like: str
    make: Callable[[Random], str]


def _one_of(phrases: str) -> Callable[[Random], str]:
    return lambda chance: chance.choice(phrases.split(" | "))


def _wrong(make: Callable[[Random], str]) -> Callable[[Random], str]:
    """The number that ``make`` returns, with its last character changed, so that the check digit is wrong."""

    def changed(chance: Random) -> str:
        text = make(chance)
        letters = DIGITS if text[-1].isdigit() else UPPER
        return text[:-1] + letters[(letters.index(text[-1]) + chance.randrange(1, 10)) % len(letters)]

    return changed


def _beside(words: str, make: Callable[[Random], str]) -> Callable[[Random], str]:
    return lambda chance: f"{chance.choice(words.split('|'))} {make(chance)}"


def _figures(chance: Random) -> str:
    return chance.choice(
        (
            f"매출 {chance.randrange(10**9, 10**13):,}원",
            f"영업이익 {chance.randrange(10**5, 10**8):,}백만원",
            f"{chance.uniform(-99, 99):.2f}%",
            f"EPS {chance.randrange(100, 9999):,}",
            f"${chance.randrange(10**6, 10**10):,}",
            f"{chance.random():.14f}",
            f"{chance.randrange(1, 30)}조 {chance.randrange(1, 9999):,}억원",
        )
    )


def _dates(chance: Random) -> str:
    day = check_digits.birthday(chance, 2015, 2026)
    return chance.choice(
        (
            f"기준일 {day:%Y-%m-%d}",
            f"as of {day:%Y-%m-%d}",
            f"{day:%Y.%m.%d} 공시",
            f"created {day:%m/%d/%Y}",
            f"{day:%Y%m%d} 기준",
            f"{day:%Y-%m-%d}T09:30:00Z",
            f"발행일 {day.year}년 {day.month}월 {day.day}일",
            f"{day:%Y-%m-%d} 14:05:33.120",
        )
    )


def _hashes(chance: Random) -> str:
    number = draw(chance, HEX, 32)
    return chance.choice(
        (
            f"commit {draw(chance, HEX, 40)}",
            f"sha256:{draw(chance, HEX, 64)}",
            f"md5 {number}",
            f"build {number[:7]}",
            f"trace {grouped(number, 8, 4, 4, 4, 12)}",
            f'etag "{number[:16]}"',
        )
    )


def _versions(chance: Random) -> str:
    parts = [str(chance.randrange(30)) for _ in range(4)]
    return chance.choice(
        (
            f"버전 {'.'.join(parts[:3])}",
            f"version {'.'.join(parts)}",
            f"v{'.'.join(parts)}",
            f"{'.'.join(parts)}절",
            f"Windows 10.0.{chance.randrange(19000, 23000)}.{chance.randrange(300, 4000)}",
            f"section {'.'.join(parts)}",
        )
    )


def _isbn(chance: Random) -> str:
    number = f"978{chance.choice(('89', '11'))}{digits(chance, 7)}"
    total = sum(int(digit) * (1, 3)[at % 2] for at, digit in enumerate(number))
    number += str(-total % 10)
    return f"ISBN {chance.choice((number, grouped(number, 3, 2, 5, 2, 1)))}"


def _bad_date(chance: Random) -> str:
    day = f"{chance.randrange(13, 99)}{chance.randrange(32, 99)}"
    return f"{digits(chance, 2)}{day}-{chance.choice('1234')}{digits(chance, 6)}"


def _serial(chance: Random) -> str:
    return f"{chance.randrange(50, 100)}{chance.randrange(13, 100)}{digits(chance, 2)}-{digits(chance, 7)}"


def _order(sizes: tuple[int, ...]) -> Callable[[Random], str]:
    return lambda chance: grouped(f"{chance.randrange(1, 9)}{digits(chance, sum(sizes) - 1)}", *sizes)


def _placeholder(prefix: str, length: int) -> Callable[[Random], str]:
    return lambda chance: (
        prefix + chance.choice(("x" * length, "*" * length, "...", "<your-key>", "YOUR_KEY_HERE"))
    )


_ORDER_WORDS = "주문번호|상품코드|order no.|품번|ticket|SKU|배치 번호"
_NUMBERS = (
    LookAlike("", _figures),
    LookAlike("", _dates),
    LookAlike("", _hashes),
    LookAlike("", _versions),
    LookAlike("IPv4 address", _versions),
    LookAlike(
        "resident number",
        lambda chance: chance.choice(
            (f"일련번호 {_bad_date(chance)}", f"바코드 880{digits(chance, 10)}", f"17{digits(chance, 11)} ms")
        ),
    ),
    LookAlike("foreigner's number", lambda chance: f"lot {_bad_date(chance)}"),
    LookAlike(
        "business number",
        _beside("품번|상품코드|item", lambda chance: grouped(_wrong(check_digits.business)(chance), 3, 2, 5)),
    ),
    LookAlike("business number without hyphens", _beside("주문번호|order", _wrong(check_digits.business))),
    LookAlike("corporate registration number", _beside("일련번호|serial", _serial)),
    LookAlike("Korean passport", _beside("제품코드|model|부품", lambda chance: korea.passport(chance).text)),
    LookAlike(
        "Korean driving licence",
        _beside(
            "배치 번호|batch",
            lambda chance: (
                f"{chance.randrange(40, 99)}-{digits(chance, 2)}-{digits(chance, 6)}-{digits(chance, 2)}"
            ),
        ),
    ),
    LookAlike(
        "Korean bank account",
        lambda chance: _beside(
            _ORDER_WORDS, _order(chance.choice(((4, 4, 4), (3, 3, 6), (4, 2, 7), (8, 6))))
        )(chance),
    ),
    LookAlike("payment card", _beside("주문번호|운송장 번호|tracking", _wrong(check_digits.card))),
    LookAlike("IBAN", _beside("code|상품코드", lambda chance: f"DE99{digits(chance, 18)}")),
    LookAlike(
        "US telephone",
        lambda chance: chance.choice(
            (
                f"part 1{digits(chance, 2)}-{digits(chance, 3)}-{digits(chance, 4)}",
                "100-200-3000",
                "0.212.555",
                "12-555-014",
            )
        ),
    ),
    LookAlike(
        "SSN",
        _beside(
            "part no.|item",
            lambda chance: f"{chance.choice(('000', '666'))}-{digits(chance, 2)}-{digits(chance, 4)}",
        ),
    ),
    LookAlike(
        "SSN without hyphens",
        _beside("order|주문|매출", lambda chance: f"{chance.randrange(1, 9)}{digits(chance, 8)}"),
    ),
    LookAlike(
        "ITIN",
        _beside(
            "part", lambda chance: f"9{digits(chance, 2)}-{chance.randrange(10, 50)}-{digits(chance, 4)}"
        ),
    ),
    LookAlike(
        "EIN", _beside("ticket|lot|item", lambda chance: f"{chance.randrange(10, 99)}-{digits(chance, 7)}")
    ),
    LookAlike("date of birth beside its word", _dates),
    LookAlike("Korean date of birth beside its word", _dates),
    LookAlike(
        "NINO",
        _beside(
            "SKU|model",
            lambda chance: (
                f"{chance.choice(('BG', 'GB', 'ZZ', 'QQ'))}{digits(chance, 6)}{chance.choice('ABCD')}"
            ),
        ),
    ),
    LookAlike("NHS number", _beside("order|case", lambda chance: f"5{digits(chance, 9)}")),
    LookAlike("DNI", _beside("SKU|code", _wrong(check_digits.dni))),
    LookAlike("NIE", _beside("SKU|code", _wrong(check_digits.nie))),
    LookAlike("NIR", _beside("serial|order", _wrong(check_digits.nir))),
    LookAlike("codice fiscale", _beside("product key", _wrong(check_digits.codice_fiscale))),
    LookAlike(
        "Steuer-ID",
        _beside("추적번호|parcel", lambda chance: f"{chance.randrange(2, 9)}{digits(chance, 10)}"),
    ),
    LookAlike("BSN", _beside("case|사건", lambda chance: europe.bsn(chance).text)),
    LookAlike(
        "OpenAI key",
        lambda chance: chance.choice(("sk-learn", "sk-proj", "task-list", _placeholder("sk-", 24)(chance))),
    ),
    LookAlike("Anthropic key", _placeholder("sk-ant-", 24)),
    LookAlike("GitHub token", _placeholder("ghp_", 36)),
    LookAlike("AWS secret key", _hashes),
    LookAlike("Langfuse key", _hashes),
    LookAlike("Stripe key", _placeholder("sk_live_", 24)),
    LookAlike("stock code", lambda chance: f"{chance.randrange(400_000, 900_000)}건"),
    LookAlike("", _isbn),
    LookAlike(
        "",
        lambda chance: chance.choice(
            (
                f"req_{draw(chance, HEX, 16)}",
                f"job-{draw(chance, DIGITS, 6)}",
                f"AB-{digits(chance, 4)}-{draw(chance, UPPER, 2)}",
                f"ORD{digits(chance, 8)}",
                f"arXiv:24{digits(chance, 2)}.{digits(chance, 5)}",
                f"CVE-2024-{digits(chance, 5)}",
            )
        ),
    ),
)
LOOK_ALIKES: tuple[LookAlike, ...] = (
    *_NUMBERS,
    *(LookAlike(like, _one_of(phrases)) for like, phrases in LOOK_ALIKE_WORDS),
)
