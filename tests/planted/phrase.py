"""Sentences as people ask and systems log them, Korean and English, to stand around a value."""

import random
from typing import Final

from planted.value import Value
from planted.words import WORDS

GROUPS: Final = {
    **dict.fromkeys(("e-mail", "mobile", "landline", "international phone"), "contact"),
    **dict.fromkeys(("IPv4", "IPv6", "URL with user", "URL with query"), "network"),
    **dict.fromkeys(("Korean name", "English name"), "name"),
    "home path": "path",
    "company": "company",
}


def sentence(rng: random.Random) -> str:
    """A question about figures that names nobody."""
    language = "" if rng.random() < 0.7 else "english_"
    measure, period = rng.choice(WORDS[f"{language}measures"]), rng.choice(WORDS[f"{language}periods"])
    return str(rng.choice(WORDS[f"{language}requests"]).format(a=measure, p=period))


def phrase(rng: random.Random, group: str, value: Value, written: str) -> str:
    """A sentence that holds a value as it is ``written``, with the word that it needs beside it; or a row."""
    if not value.near and written == value.text and "," not in written and rng.random() < 0.1:
        return f"{rng.randint(1, 2000)},{written},{rng.choice(WORDS['row_ends'])}"
    if value.near:
        near = rng.choice(value.near)
        joins = WORDS["near_joins"]
        # the last is a Korean particle
        written = near + rng.choice(joins[:-1] if near.isascii() else joins).format(written)
    is_korean = not value.text.isascii() or rng.random() < 0.65
    said = rng.choice(WORDS["said" if is_korean else "english_said"][group]).format(v=written)
    before = sentence(rng) + rng.choice((". ", " ", " - ", "\n")) if rng.random() < 0.5 else ""
    after = rng.choice((". ", ", ", " ")) + sentence(rng) if rng.random() < 0.4 else ""
    return before + said + after
