"""A planted value: how it is written, and what of it nobody may find again."""

import random
import string
from dataclasses import dataclass, field
from typing import Final

BASE62: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase


@dataclass(frozen=True, slots=True)
class Core:
    """What makes a value that value, and how much of it in a row is enough to give it away.

    Attributes
    ----------
    text : str
        Compared after `planted.score.folded`, so letters and digits only.
    window : int
        This many characters in a row are a leak; 0: only the whole.
    """

    text: str
    window: int = 0


@dataclass(frozen=True, slots=True)
class Value:
    """A valid value that belongs to nobody.

    Attributes
    ----------
    text : str
        As people and systems write it.
    cores : tuple of Core
        Any of them that survives is a leak.
    near : tuple of str
        Words of which one stands beside it, where it is nothing without them.
    """

    text: str
    cores: tuple[Core, ...]
    near: tuple[str, ...] = field(default=())


def digits(rng: random.Random, count: int) -> str:
    """Digits of which no six are the same in a row."""
    while True:
        text = "".join(rng.choices(string.digits, k=count))
        if not any(digit * 6 in text for digit in string.digits):
            return text


def token(rng: random.Random, count: int, alphabet: str = BASE62) -> str:
    """Random characters, at least one digit and one letter among them where the alphabet has both."""
    while True:
        text = "".join(rng.choices(alphabet, k=count))
        mixed = any(char.isdigit() for char in text) and any(char.isalpha() for char in text)
        if mixed or not (set(alphabet) & set(string.digits) and set(alphabet) - set(string.digits)):
            return text
