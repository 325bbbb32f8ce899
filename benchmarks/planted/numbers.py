"""Numbers and codes whose parts depend on each other, so that no pattern says them."""

from base64 import b64encode, urlsafe_b64encode
from random import Random
from uuid import UUID

from . import check_digits
from .kind import ALNUM, BASE64, DIGITS, HEX, UPPER, digits, draw, grouped, words

_AREAS = words("02 031 032 033 041 042 043 044 051 052 053 054 055 061 062 063 064")
# Kookmin, Shinhan, Woori, Nonghyup, Kakao, Toss, Hana, Industrial Bank
_ACCOUNTS = ((6, 2, 6), (3, 3, 6), (4, 3, 6), (3, 4, 4, 2), (4, 2, 7), (4, 4, 4), (3, 6, 5), (3, 6, 2, 3))


def mobile(chance: Random) -> str:
    return f"010{chance.randrange(2, 10)}{digits(chance, 7)}"


def landline(chance: Random) -> str:
    area = chance.choice(_AREAS)
    middle = chance.choice((3, 4))
    number = f"{area}{chance.randrange(2, 9)}{digits(chance, middle + 3)}"
    by = chance.choice(("-", "-", "-", "", " ", "."))
    text = grouped(number, len(area), middle, 4, by=by)
    return text.replace("-", ")", 1) if by == "-" and chance.random() < 0.3 else text


def passport(chance: Random) -> str:
    if chance.random() < 0.5:
        return f"{chance.choice('MSRGD')}{digits(chance, 8)}"
    return f"M{digits(chance, 3)}{chance.choice(UPPER)}{digits(chance, 4)}"


def account(chance: Random) -> str:
    sizes = chance.choice(_ACCOUNTS)
    return grouped(f"{chance.randrange(1, 10)}{digits(chance, sum(sizes) - 1)}", *sizes)


def grouped_card(chance: Random) -> str:
    number = check_digits.card(chance)
    sizes = (4, 6, 5) if len(number) == 15 else (4, 4, 4, 4)
    return grouped(number, *sizes, by=chance.choice(("-", " ", "", "-", ".")))


def grouped_iban(chance: Random) -> str:
    number = check_digits.iban(chance)
    if chance.random() < 0.4:
        return number
    return " ".join(number[at : at + 4] for at in range(0, len(number), 4))


def ssn(chance: Random) -> str:
    area = chance.choice([number for number in range(1, 900) if number != 666])
    return f"{area:03d}{chance.randrange(1, 100):02d}{chance.randrange(1, 10_000):04d}"


def itin(chance: Random) -> str:
    group = chance.choice((*range(50, 66), *range(70, 89), 90, 91, 92, *range(94, 100)))
    return f"9{digits(chance, 2)}{group}{digits(chance, 4)}"


def nino(chance: Random) -> str:
    while True:
        first, second = chance.choice("ABCEGHJKLMNOPRSTWXYZ"), chance.choice("ABCEGHJKLMNPRSTWXYZ")
        if first + second not in {"BG", "GB", "NK", "KN", "TN", "NT", "ZZ"}:
            break
    return f"{first}{second}{digits(chance, 6)}{chance.choice('ABCD')}"


def ipv6(chance: Random) -> str:
    groups = [f"{chance.randrange(0x1000, 0x10000):x}" for _ in range(6)]
    return f"2001:db8:{':'.join(groups)}" if chance.random() < 0.6 else f"fe80::{':'.join(groups[:4])}"


def mac(chance: Random) -> str:
    return chance.choice(":-").join(f"{chance.randrange(256):02x}" for _ in range(6))


def password(chance: Random) -> str:
    word = chance.choice(words("summer dragon hunter winter monkey seoul coffee rocket"))
    strong = draw(chance, ALNUM, 8) + chance.choice("!@#$%^&*") + draw(chance, ALNUM, 3)
    forms = (
        f"{word.capitalize()}{draw(chance, DIGITS, 4)}!",
        strong,
        strong,
        f"{word}{draw(chance, DIGITS, 3)}",
        f"xxxx{word}{draw(chance, DIGITS, 2)}",
        f"***{word}{draw(chance, DIGITS, 2)}",
    )
    return chance.choice(forms)


def bedrock(chance: Random) -> str:
    key = f"BedrockAPIKey-{draw(chance, ALNUM, 4)}-at-{draw(chance, DIGITS, 12)}:{draw(chance, BASE64, 44)}"
    return b64encode(key.encode()).decode()


def discord_id(chance: Random) -> str:
    return b64encode(draw(chance, "123456789", 18).encode()).decode()


def jwt_claims(chance: Random) -> str:
    claims = f'{{"sub":"{digits(chance, 10)}","iat":1516239022}}'
    return urlsafe_b64encode(claims.encode()).decode().rstrip("=")


def uuid(chance: Random) -> str:
    return str(UUID(int=chance.getrandbits(128), version=4))


def hashes(chance: Random) -> str:
    number = draw(chance, HEX, 32)
    forms = (
        f"commit {draw(chance, HEX, 40)}",
        f"sha256:{draw(chance, HEX, 64)}",
        f"md5 {number}",
        f"build {number[:7]}",
        f"trace {grouped(number, 8, 4, 4, 4, 12)}",
        f'etag "{number[:16]}"',
    )
    return chance.choice(forms)


def versions(chance: Random) -> str:
    parts = [str(chance.randrange(30)) for _ in range(4)]
    text = ".".join(parts)
    windows = f"Windows 10.0.{chance.randrange(19000, 23000)}.{chance.randrange(300, 4000)}"
    short = f"버전 {'.'.join(parts[:3])}"
    return chance.choice((short, f"version {text}", f"v{text}", f"{text}절", windows, f"section {text}"))


def isbn(chance: Random) -> str:
    number = f"978{chance.choice(('89', '11'))}{digits(chance, 7)}"
    total = sum(int(digit) * (1, 3)[at % 2] for at, digit in enumerate(number))
    number += str(-total % 10)
    return f"ISBN {chance.choice((number, grouped(number, 3, 2, 5, 2, 1)))}"


def bad_date(chance: Random) -> str:
    """As a resident number, in a month and on a day that no year has."""
    day = f"{chance.randrange(13, 99)}{chance.randrange(32, 99)}"
    return f"{digits(chance, 2)}{day}-{chance.choice('1234')}{digits(chance, 6)}"


def order(chance: Random) -> str:
    """As a bank account, beside a word that is not one's."""
    sizes = chance.choice(((4, 4, 4), (3, 3, 6), (4, 2, 7), (8, 6)))
    word = chance.choice(("주문번호", "상품코드", "order no.", "품번", "ticket", "SKU", "배치 번호"))
    return f"{word} {grouped(f'{chance.randrange(1, 9)}{digits(chance, sum(sizes) - 1)}', *sizes)}"
