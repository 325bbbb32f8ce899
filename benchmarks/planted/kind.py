"""What a kind of private data is, and one value of it."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

DIGITS = "0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = UPPER.lower()
ALNUM = UPPER + LOWER + DIGITS
HEX = DIGITS + "abcdef"
BASE64 = ALNUM + "+/"
ALPHABETS = {
    "0": DIGITS,
    "A": UPPER,
    "A0": UPPER + DIGITS,
    "Aa0": ALNUM,
    "hex": HEX,
    "base32": UPPER + "234567",
    "base64": BASE64,
    "url": ALNUM + "-_",
    "azure": ALNUM + "_.-",
}


@dataclass(frozen=True, slots=True)
class Value:
    """A value, and the parts of it that identify somebody or open something.

    Attributes
    ----------
    text : str
        The value as it is written in plain form.
    secrets : tuple of str
        Parts that must not stay readable; the whole text by default.
    """

    text: str
    secrets: tuple[str, ...] = ()

    @property
    def guarded(self) -> tuple[str, ...]:
        return self.secrets or (self.text,)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of private data.

    Attributes
    ----------
    name : str
        Row of the table.
    make : callable
        Makes a value.
    beside : tuple of str
        The words around the value, with ``{}`` in its place.
    bare : bool
        Whether the value is also private without these words.
    keys : tuple of str
        JSON keys under which records hold such values.
    disguises : str
        Groups of `planted.disguises`, separated by spaces.
    is_number : bool
        Whether records also hold it as a JSON number.
    """

    name: str
    make: Callable[[Random], Value]
    beside: tuple[str, ...] = ()
    bare: bool = True
    keys: tuple[str, ...] = ()
    disguises: str = ""
    is_number: bool = False


def digits(chance: Random, count: int) -> str:
    return draw(chance, DIGITS, count)


def draw(chance: Random, alphabet: str, count: int) -> str:
    return "".join(chance.choices(alphabet, k=count))


def grouped(number: str, *sizes: int, by: str = "-") -> str:
    """Cut a number into groups: ``grouped("123456", 2, 4)`` is ``12-3456``."""
    parts, start = [], 0
    for size in sizes:
        parts.append(number[start : start + size])
        start += size
    return by.join(parts)


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())
