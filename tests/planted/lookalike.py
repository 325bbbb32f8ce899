"""What looks like something private and is not: it must come out as it went in."""

import random
import string
import uuid
from collections.abc import Callable
from typing import Final

from planted.identity import is_rrn
from planted.value import digits, token
from planted.words import WORDS


def amount(rng: random.Random) -> str:
    number = rng.randint(10**5, 10**12)
    form = rng.choice(
        (
            "{n:,}원",
            "₩{n:,}",
            "{n:,} KRW",
            "${n:,}.50",
            "{n:,}백만원",
            "{a}조 {b:,}억 원",
            "{a}.{b:02}%",
            "-{n:,}",
            "({n:,})",
        )
    )
    return form.format(n=number, a=rng.randint(1, 400), b=rng.randint(1, 99))


def figure(rng: random.Random) -> str:
    """10 to 13 digits without a sign; not one that is a valid registration number."""
    while True:
        number = str(rng.randint(10**9, 10 ** rng.randint(10, 13)))
        if len(number) < 13 or not is_rrn(number):
            break
    return rng.choice(("{}", "매출액 {}", "revenue {}", "{}원", "영업이익 -{}", "자산총계={}")).format(number)


def day(rng: random.Random) -> str:
    year, month, of_month = rng.randint(1999, 2029), rng.randint(1, 12), rng.randint(1, 28)
    form = rng.choice(
        (
            "{y}-{m:02}-{d:02}",
            "{y}{m:02}{d:02}",
            "{y}.{m:02}.{d:02}",
            "{y}년 {m}월 {d}일",
            "{d:02}/{m:02}/{y}",
            "{y}-{m:02}-{d:02}T09:30:15.123456+09:00",
            "{y}{m:02}{d:02}093015",
            "{y}.{m:02}~{y}.12",
            "FY{y}Q1",
            "{y}-{m:02}-{d:02} 13:05:59",
            "{y}/{m}/{d}",
        )
    )
    return form.format(y=year, m=month, d=of_month)


def version(rng: random.Random) -> str:
    parts = ".".join(str(rng.randint(0, 40)) for _ in range(3))
    return rng.choice(("v{}", "{}", "Python {}", "{}rc1", "polars=={}", ">={},<99", "{}-alpha.3")).format(
        parts
    )


def digest(rng: random.Random) -> str:
    form, length = rng.choice(
        (
            ("commit {}", 40),
            ("{}", 40),
            ("sha256:{}", 64),
            ("md5 {}", 32),
            ("git {}", 12),
        )
    )
    return form.format(token(rng, length, "0123456789abcdef"))


def unique_id(rng: random.Random) -> str:
    return f"{rng.choice(('', 'run ', 'id='))}{uuid.UUID(int=rng.getrandbits(128), version=4)}"


def isbn(rng: random.Random) -> str:
    twelve = rng.choice(("978", "979")) + digits(rng, 9)
    total = sum(int(digit) * (1 if place % 2 == 0 else 3) for place, digit in enumerate(twelve))
    text = f"{twelve}{-total % 10}"
    dashed = f"{text[:3]}-{text[3:5]}-{text[5:9]}-{text[9:12]}-{text[12]}"
    return f"ISBN {rng.choice((text, dashed))}"


def coordinates(rng: random.Random) -> str:
    return f"{rng.uniform(33, 39):.{rng.randint(4, 6)}f}, {rng.uniform(124, 131):.{rng.randint(4, 6)}f}"


def filing(rng: random.Random) -> str:
    """Numbers of the Korean disclosure system: 14 digits that begin with a day, or 8."""
    receipt = (
        f"20{rng.randint(15, 26)}{rng.randint(1, 12):02}{rng.randint(1, 28):02}{rng.randint(1, 3999):06}"
    )
    return rng.choice((f"접수번호 {receipt}", f"rcept_no={receipt}", f"corp_code 00{digits(rng, 6)}"))


def isin(rng: random.Random) -> str:
    """A valid one (ISO 6166) of a country without IBANs."""
    front = "US" + token(rng, 9, string.digits + "ABCDEFGH")
    doubled = "".join(str(int(char, 36)) for char in front)
    total = sum(
        sum(divmod(int(digit) * (2 - place % 2), 10)) for place, digit in enumerate(reversed(doubled))
    )
    return f"ISIN {front}{-total % 10}"


def row(rng: random.Random) -> str:
    """Numbers side by side, as in a line of a table."""
    cell = rng.choice(
        (
            lambda: str(rng.randint(2010, 2026)),
            lambda: str(rng.randint(100, 999)),
            lambda: f"{rng.uniform(0, 40):.1f}",
            lambda: f"{rng.randint(-99, 99):+}",
            lambda: f"{rng.randint(2015, 2026)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
            lambda: f"{rng.randint(1, 9)}Q{rng.randint(15, 26)}",
        )
    )
    numbers = " ".join(cell() for _ in range(rng.randint(3, 8)))
    return rng.choice(("{}", "행 {}", "은행 배당 {}", "growth {}")).format(numbers)


def ratio(rng: random.Random) -> str:
    a, b = rng.randint(1, 50), rng.randint(1, 999)
    return rng.choice(
        (
            "{a}:1 액면분할",
            "{a}.{b}x",
            "{a}-{b} 구간",
            "{b}bp",
            "{a}/{b}",
            "{a}:{b}:07",
            "P{a}-D{b}",
            "+{a}.{b}%p",
        )
    ).format(a=a, b=b)


def word(rng: random.Random) -> str:
    return str(rng.choice(WORDS["korean_words"]))


def english(rng: random.Random) -> str:
    return str(rng.choice(WORDS["english_words"]))


KINDS: Final[dict[str, Callable[[random.Random], str]]] = {
    "amount": amount,
    "figure": figure,
    "date": day,
    "version": version,
    "digest": digest,
    "unique id": unique_id,
    "ISBN": isbn,
    "coordinates": coordinates,
    "filing number": filing,
    "ISIN": isin,
    "ratio": ratio,
    "row of numbers": row,
    "Korean word": word,
    "English word": english,
}
