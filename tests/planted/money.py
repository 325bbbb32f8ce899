"""Cards, bank accounts, IBANs, and the firms of a names file."""

import random
import re
from collections.abc import Callable, Sequence
from typing import Final

from planted.value import Core, Value, digits

_BRANDS: Final = (
    ("4", 16),
    ("51", 16),
    ("55", 16),
    ("2221", 16),
    ("9410", 16),
    ("356600", 16),
    ("37", 15),
    ("36", 14),
)
_GROUPS: Final = {16: (4, 4, 4, 4), 15: (4, 6, 5), 14: (4, 6, 4)}
_BANKS: Final = (
    ("국민은행", (6, 2, 6)),
    ("KB국민", (6, 2, 6)),
    ("신한은행", (3, 3, 6)),
    ("우리은행", (4, 3, 6)),
    ("하나은행", (3, 6, 5)),
    ("농협", (3, 4, 4, 2)),
    ("기업은행", (3, 6, 2, 3)),
    ("카카오뱅크", (4, 2, 7)),
    ("토스뱅크", (4, 4, 4)),
    ("새마을금고", (4, 4, 4, 1)),
    ("계좌번호", (3, 3, 6)),
    ("입금 계좌", (6, 2, 6)),
    ("account no.", (3, 3, 6)),
    ("bank account", (4, 3, 6)),
)
_IBANS: Final = (("DE", 18), ("CH", 17), ("NL", 14), ("GB", 18), ("LU", 16), ("AT", 16))
Name = tuple[str, str, str]
NAMES: Final[tuple[Name, ...]] = (
    ("005930", "삼성전자", "Samsung Electronics"),
    ("000660", "SK하이닉스", "SK hynix|하이닉스"),
    ("035420", "NAVER", "네이버"),
    ("005380", "현대차", "현대자동차|Hyundai Motor"),
    ("068270", "셀트리온", "Celltrion"),
    ("373220", "LG에너지솔루션", "LG엔솔"),
    ("105560", "KB금융", ""),
    ("009150", "삼성전기", ""),
    ("097950", "CJ제일제당", ""),
    ("028260", "삼성물산", ""),
    ("010130", "고려아연", ""),
    ("003490", "대한항공", "Korean Air"),
    ("001680", "대상", ""),
    ("000270", "기아", ""),
)
"""Code, name, aliases: as in the file that ``--names`` takes. The last two are ordinary words too."""

_PARTICLES: Final = (
    "",
    "는",
    "은",
    "의",
    "가",
    "이",
    "를",
    "와",
    "도",
    "에서",
    "보다",
    "에 대해",
    "까지의",
    "만큼은",
)


def luhn(front: str) -> str:
    """The check digit (ISO/IEC 7812) that makes ``front`` a card's number."""
    doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(front))]
    return str(-sum(number // 10 + number % 10 for number in doubled) % 10)


def card(rng: random.Random) -> Value:
    prefix, length = rng.choice(_BRANDS)
    front = prefix + digits(rng, length - len(prefix) - 1)
    number = front + luhn(front)
    text = rng.choice(("-", " ", "", "-")).join(_cut(number, _GROUPS[length]))
    return Value(text, (Core(number, 10),))


def account(rng: random.Random) -> Value:
    bank, groups = rng.choice(_BANKS)
    parts = [digits(rng, count) for count in groups]
    text = rng.choice(("-", "-", "")).join(parts)
    return Value(text, (Core("".join(parts), 8),), (bank,))


def iban(rng: random.Random) -> Value:
    country, length = rng.choice(_IBANS)
    bank = "".join(rng.choices("ABCDEFGHKLMNRSTW", k=4)) if country in {"GB", "NL"} else ""
    number = bank + digits(rng, length - len(bank))
    # ISO 13616: letters as numbers from 10, the country and 00 at the end
    as_digits = "".join(str(int(char, 36)) for char in f"{number}{country}00")
    text = f"{country}{98 - int(as_digits) % 97:02}{number}"
    return Value(text if rng.random() < 0.5 else " ".join(re.findall(".{1,4}", text)), (Core(number, 10),))


def company_of(names: Sequence[Name]) -> Callable[[random.Random], Value]:
    """A maker of firms as people name them: with a code, with a particle, by an alias."""

    def company(rng: random.Random) -> Value:
        code, name, aliases = rng.choice(names)
        particle = rng.choice(_PARTICLES)
        said = name
        if len(name) > 2:
            said = rng.choice([name, *(alias for alias in aliases.split("|") if len(alias) > 2)])
        if len(said) == 2 or said == "신세계":  # 대상, 기아, 신세계: only where it is marked as a firm
            text = rng.choice((f"㈜{said}", f"(주){said}", f"{said}㈜", f"{said}({code})"))
            return Value(text + particle, (Core(said),))
        text = said + rng.choice(("", "", f"({code})"))
        return Value(text + particle, (Core(said), *([Core(code)] if code in text else [])))

    return company


def _cut(text: str, lengths: tuple[int, ...]) -> list[str]:
    ends = [sum(lengths[: place + 1]) for place in range(len(lengths))]
    return [text[end - length : end] for end, length in zip(ends, lengths, strict=True)]


KINDS: Final[dict[str, Callable[[random.Random], Value]]] = {
    "card": card,
    "bank account": account,
    "IBAN": iban,
}
