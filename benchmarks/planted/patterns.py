"""Texts that are drawn after a pattern, which is a cell of kinds.tsv or look_alikes.tsv.

Of alternatives between `` | `` all are drawn, then one is chosen. In braces stand

- ``{hex*32}``: characters of an alphabet; of ``{Aa0*24,99}`` as many as one of the numbers
- ``{1..90:02}``: a number from the first to below the second, in a format
- ``{?SKU|item}``: one of these
- ``{=dni/8 1/,-}``: what a function returns, in groups of these sizes with one of these signs between them,
  a hyphen if none is named; ``␣`` is a space. ``{!dni}``: the same with a wrong last character

A pattern that begins with ``1945..2005:`` draws a day of these years, and its alternatives are formats of it.
"""

import re
from collections.abc import Sequence
from csv import QUOTE_NONE, DictReader
from pathlib import Path
from random import Random

from . import check_digits, numbers, people
from .kind import ALPHABETS, DIGITS, UPPER, draw, grouped

FUNCTIONS = {**vars(check_digits), **vars(numbers), **vars(people)}
_PART = re.compile(
    r"""\{(?:
        (?P<alphabet>\w+)\*(?P<lengths>[\d,]+)
        |(?P<first>-?[\d.]*\d)\.\.(?P<end>[\d.]+)(?::(?P<format>[^{}]+))?
        |\?(?P<choices>[^{}]*)
        |(?P<how>[=!])(?P<function>\w+)(?:/(?P<sizes>[\d\ ]+))?(?:/(?P<signs>[^{}]*))?
    )\}""",
    re.VERBOSE,
)
_DAYS = re.compile(r"(\d{4})\.\.(\d{4}): ")


def table(name: str) -> list[dict[str, str]]:
    """The rows of a file in this folder."""
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as lines:
        return list(DictReader(lines, delimiter="\t", quoting=QUOTE_NONE))


def write(pattern: str, chance: Random) -> str:
    if years := _DAYS.match(pattern):
        day = check_digits.birthday(chance, *map(int, years.groups()))
        return chance.choice(pattern[years.end() :].split(" | ")).format(day)
    texts = [_PART.sub(lambda part: _part(part, chance), text) for text in pattern.split(" | ")]
    return _one_of(texts, chance)


def _part(part: re.Match[str], chance: Random) -> str:
    if part["alphabet"]:
        return draw(chance, ALPHABETS[part["alphabet"]], int(_one_of(part["lengths"].split(","), chance)))
    if part["first"]:
        is_whole = "." not in part["first"]
        number = chance.randrange if is_whole else chance.uniform
        kind = int if is_whole else float
        return format(number(kind(part["first"]), kind(part["end"])), part["format"] or "")
    if part["choices"] is not None:
        return chance.choice(part["choices"].split("|"))
    text: str = FUNCTIONS[part["function"]](chance)
    if part["how"] == "!":
        text = _wrong(text, chance)
    if not part["sizes"]:
        return text
    signs = "-" if part["signs"] is None else part["signs"].replace("␣", " ")
    return grouped(text, *map(int, part["sizes"].split()), by=_one_of(signs.split(","), chance))


def _one_of(options: Sequence[str], chance: Random) -> str:
    return chance.choice(options) if len(options) > 1 else options[0]


def _wrong(text: str, chance: Random) -> str:
    letters = DIGITS if text[-1].isdigit() else UPPER
    return text[:-1] + letters[(letters.index(text[-1]) + chance.randrange(1, 10)) % len(letters)]
