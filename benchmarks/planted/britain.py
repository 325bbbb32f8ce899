"""Numbers and addresses of people in the United Kingdom."""

from random import Random

from . import check_digits
from .kind import Kind, Value, digits, draw, grouped, words
from .korea import PHONE_WORDS

_STREETS = words("Victoria Church Station Kingsway Albert Mill Park Queens Grange Manor Highfield Orchard")
_ENDS = words("Road Street Lane Close Gardens Terrace Avenue Crescent")
_POSTCODES = words("SW1A M1 EC2V LS6 B15 CB2 OX4 G12 EH3 BS8 NW10 W1T")


def phone(chance: Random) -> Value:
    forms = (
        f"020 {chance.choice('378')}{digits(chance, 3)} {digits(chance, 4)}",
        f"020 {chance.choice('378')}{digits(chance, 3)} {digits(chance, 4)}",
        f"+44 20 {chance.choice('378')}{digits(chance, 3)} {digits(chance, 4)}",
        f"07{chance.choice('4579')}{digits(chance, 2)} {digits(chance, 6)}",
        f"+44 7{chance.choice('4579')}{digits(chance, 2)} {digits(chance, 6)}",
        f"0{chance.choice(('161', '121', '131'))} {digits(chance, 3)} {digits(chance, 4)}",
        f"07{chance.choice('4579')}{digits(chance, 8)}",
    )
    return Value(chance.choice(forms))


def nino(chance: Random) -> Value:
    while True:
        first, second = chance.choice("ABCEGHJKLMNOPRSTWXYZ"), chance.choice("ABCEGHJKLMNPRSTWXYZ")
        if first + second not in {"BG", "GB", "NK", "KN", "TN", "NT", "ZZ"}:
            break
    number, last = digits(chance, 6), chance.choice("ABCD")
    spaced = f"{first}{second} {grouped(number, 2, 2, 2, by=' ')} {last}"
    return Value(chance.choice((spaced, f"{first}{second}{number}{last}")))


def nhs(chance: Random) -> Value:
    return Value(grouped(check_digits.nhs(chance), 3, 3, 4, by=chance.choice((" ", "-", ""))))


def address(chance: Random) -> Value:
    street = chance.choice(_STREETS)
    number = f"{chance.randrange(1, 250)}{chance.choice(('', '', 'A', 'b'))}"
    inward = f"{chance.choice('123456789')}{draw(chance, 'ABDEFGHJLNPQRSTUWXYZ', 2)}"
    postcode = f"{chance.choice(_POSTCODES)} {inward}"
    town = chance.choice(("London", "Manchester", "Leeds", "Bristol", "Oxford"))
    text = f"{number} {street} {chance.choice(_ENDS)}, {town} {postcode}"
    return Value(text, (f"{number} {street}", postcode))


KINDS = (
    Kind("UK telephone", phone, beside=PHONE_WORDS, keys=("phone", "telephone"), disguises="digits text"),
    Kind(
        "NINO",
        nino,
        beside=("NI number {}", "National Insurance no. {}", "NINO: {}"),
        keys=("nino", "ni_number"),
        disguises="text",
    ),
    Kind(
        "NHS number",
        nhs,
        beside=("NHS number {}", "NHS no. {}", "NHS: {}", "her NHS number is {}"),
        bare=False,
        keys=("nhs_number", "nhs"),
        disguises="digits text",
    ),
    Kind("UK street address with postcode", address, keys=("address", "home_address"), disguises="text"),
)
