"""Numbers with check digits, each as the authority that issues it computes them."""

from datetime import date, timedelta
from random import Random

from .kind import DIGITS, UPPER, digits, draw

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
# What a character counts at the odd places of a codice fiscale, by its place in the alphabet (a digit as the
# letter of that place).
_CODICE_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_CODICE_MONTHS = "ABCDEHLMPRST"
_CARD_STARTS = (("4", 16), ("51", 16), ("53", 16), ("2720", 16), ("34", 15), ("37", 15), ("6011", 16))


def birthday(chance: Random, first: int = 1945, last: int = 2005) -> date:
    return date(first, 1, 1) + timedelta(days=chance.randrange((last - first) * 365))


def weighted(number: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(number, weights, strict=True))


def resident(chance: Random, *, foreign: bool = False) -> str:
    """13 digits: birth date, sex and century, region, check digit."""
    born = birthday(chance)
    sex = chance.choice("12" if born.year < 2000 else "34")
    if foreign:
        sex = str(int(sex) + 4)
    number = f"{born:%y%m%d}{sex}{digits(chance, 5)}"
    total = weighted(number, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5))
    return f"{number}{((13 if foreign else 11) - total % 11) % 10}"


def foreigner(chance: Random) -> str:
    return resident(chance, foreign=True)


def business(chance: Random) -> str:
    """10 digits of the Korean tax office."""
    number = f"{chance.randrange(101, 900)}{chance.randrange(1, 90):02d}{digits(chance, 4)}"
    total = weighted(number, (1, 3, 7, 1, 3, 7, 1, 3, 5)) + int(number[8]) * 5 // 10
    return f"{number}{-total % 10}"


def corporate(chance: Random) -> str:
    """13 digits of the Korean court registry."""
    number = f"{chance.choice(('1101', '1201', '1301', '1801'))}11{digits(chance, 6)}"
    return f"{number}{-weighted(number, (1, 2) * 6) % 10}"


def luhn_digit(number: str) -> str:
    doubled = [int(digit) * (2 - at % 2) for at, digit in enumerate(reversed(number))]
    return str(-sum(value - 9 * (value > 9) for value in doubled) % 10)


def card(chance: Random) -> str:
    start, length = chance.choice(_CARD_STARTS)
    number = start + digits(chance, length - len(start) - 1)
    return number + luhn_digit(number)


def iban(chance: Random) -> str:
    country, length, bank = chance.choice(
        (("DE", 18, ""), ("FR", 23, ""), ("ES", 20, ""), ("GB", 14, "WEST"))
    )
    account = bank + digits(chance, length)
    return f"{country}{98 - _number(f'{account}{country}00') % 97:02d}{account}"


def _number(text: str) -> int:
    """Letters as 10 to 35, as ISO 13616 reads them."""
    return int("".join(str(int(char, 36)) for char in text))


def nhs(chance: Random) -> str:
    while True:
        number = chance.choice("4679") + digits(chance, 8)
        check = -weighted(number, (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
        if check < 10:
            return f"{number}{check}"


def dni(chance: Random) -> str:
    number = digits(chance, 8)
    return number + _DNI_LETTERS[int(number) % 23]


def nie(chance: Random) -> str:
    first, number = chance.randrange(3), digits(chance, 7)
    return f"{'XYZ'[first]}{number}{_DNI_LETTERS[int(f'{first}{number}') % 23]}"


def nir(chance: Random) -> str:
    """15 digits of the French social security: sex, year, month, department, commune, order, key."""
    born = birthday(chance)
    number = f"{chance.choice('12')}{born:%y%m}{chance.randrange(1, 96):02d}{digits(chance, 6)}"
    number = number.replace("20", "21", 1) if number[5:7] == "20" else number  # Corsica has 2A and 2B
    return f"{number}{97 - int(number) % 97:02d}"


def codice_fiscale(chance: Random) -> str:
    born = birthday(chance)
    day = born.day + chance.choice((0, 40))
    name = draw(chance, "BCDFGLMNPRSTVZ", 6)
    text = f"{name}{born:%y}{_CODICE_MONTHS[born.month - 1]}{day:02d}"
    text += f"{chance.choice('ABCDFGHL')}{digits(chance, 3)}"
    places = [int(char) if char.isdigit() else UPPER.index(char) for char in text]
    total = sum(_CODICE_ODD[place] for place in places[::2]) + sum(places[1::2])
    return text + UPPER[total % 26]


def steuer_id(chance: Random) -> str:
    """11 digits of the German tax office; one digit occurs twice among the first ten."""
    pool = chance.sample(DIGITS, 9)
    pool.append(chance.choice(pool))
    chance.shuffle(pool)
    if pool[0] == "0":
        pool[0], pool[-1] = pool[-1], pool[0]
        if pool[0] == "0":
            return steuer_id(chance)
    product = 10
    for digit in pool:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return "".join(pool) + str((11 - product) % 10)


def bsn(chance: Random) -> str:
    while True:
        number = chance.choice("123456789") + digits(chance, 7)
        check = weighted(number, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
        if check < 10:
            return f"{number}{check}"
