"""Check digits and letters, from the published rules of each number."""

_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def weighted(number: str, weights: str) -> int:
    return sum(int(digit) * int(weight) for digit, weight in zip(number, weights, strict=True))


def luhn(number: str) -> str:
    total = 0
    for place, digit in enumerate(reversed(number)):
        twice = int(digit) * (2 if place % 2 == 0 else 1)
        total += twice - 9 if twice > 9 else twice
    return str(-total % 10)


def rrn(number: str) -> str:
    return str((11 - weighted(number, "234567892345") % 11) % 10)


def foreigner(number: str) -> str:
    return str((13 - weighted(number, "234567892345") % 11) % 10)


def business(number: str) -> str:
    return str(-(weighted(number, "137137135") + int(number[8]) * 5 // 10) % 10)


def corporate(number: str) -> str:
    return str(-weighted(number, "121212121212") % 10)


def nhs(number: str) -> str:
    """The check digit; ``10`` if the number cannot be issued."""
    return str((11 - sum(int(d) * w for d, w in zip(number, range(10, 1, -1), strict=True)) % 11) % 11)


def iban(country: str, account: str) -> str:
    remainder = int("".join(str(int(char, 36)) for char in account + country + "00")) % 97
    return f"{country}{98 - remainder:02}{account}"


def dni(number: str) -> str:
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23]


def nie(number: str) -> str:
    return dni(str("XYZ".index(number[0])) + number[1:])


def nir(number: str) -> str:
    return f"{97 - int(number) % 97:02}"


def fiscal(code: str) -> str:
    def order(char: str) -> int:
        return int(char) if char.isdigit() else ord(char) - 65

    total = sum(order(char) if place % 2 else _ODD[order(char)] for place, char in enumerate(code))
    return chr(65 + total % 26)


def steuer(number: str) -> str:
    product = 10
    for digit in number:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return str((11 - product) % 10)


def bsn(number: str) -> str:
    """The check digit; ``10`` if there is no such number."""
    return str(sum(int(d) * w for d, w in zip(number, range(9, 1, -1), strict=True)) % 11)
