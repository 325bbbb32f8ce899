"""Cards and international accounts."""

from random import Random

from . import check_digits
from .kind import Kind, Value, grouped


def card(chance: Random) -> Value:
    number = check_digits.card(chance)
    sizes = (4, 6, 5) if len(number) == 15 else (4, 4, 4, 4)
    return Value(grouped(number, *sizes, by=chance.choice(("-", " ", "", "-", "."))))


def iban(chance: Random) -> Value:
    number = check_digits.iban(chance)
    if chance.random() < 0.4:
        return Value(number)
    return Value(" ".join(number[at : at + 4] for at in range(0, len(number), 4)))


KINDS = (
    Kind(
        "payment card",
        card,
        beside=("카드번호 {}", "카드 {}", "card number {}", "credit card: {}"),
        keys=("card", "카드번호", "cc"),
        disguises="digits text",
        is_number=True,
    ),
    Kind("IBAN", iban, beside=("IBAN {}", "IBAN: {}"), keys=("iban", "account"), disguises="digits text"),
)
