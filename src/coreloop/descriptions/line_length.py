"""The line length that a project's linter or formatter sets."""

import tomllib
from collections.abc import Callable, Iterator
from configparser import ConfigParser, Error
from functools import cache
from itertools import chain
from typing import Final

DEFAULT: Final = 88
"""The default of black and ruff."""
_TOML: Final = (
    (".ruff.toml", ("line-length",)),  # ruff reads this file first
    ("ruff.toml", ("line-length",)),
    ("pyproject.toml", ("tool", "ruff", "line-length")),
    ("pyproject.toml", ("tool", "black", "line-length")),
    ("pyproject.toml", ("tool", "flake8", "max-line-length")),
)
_INI: Final = (("setup.cfg", "flake8"), ("tox.ini", "flake8"), (".flake8", "flake8"))
_LEAST: Final = 40  # chosen: a smaller one is a slip, and would leave a line three or four words


def line_length(read: Callable[[str], bytes | None]) -> int:
    """Return the first line length that ruff, black or flake8 sets, in columns; else 88.

    Parameters
    ----------
    read : callable
        Returns the content of a project file by its name, or None if absent.
    """
    read = cache(read)  # three tools share a file
    lengths = (length for length in chain(_from_toml(read), _from_ini(read)) if length is not None)
    return next(lengths, DEFAULT)


def _from_toml(read: Callable[[str], bytes | None]) -> Iterator[int | None]:
    for name, keys in _TOML:
        source = read(name)
        try:
            value: object = tomllib.loads(source.decode()) if source else {}
        except ValueError:  # the linter itself reports this
            continue
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        yield value if isinstance(value, int) and value >= _LEAST else None


def _from_ini(read: Callable[[str], bytes | None]) -> Iterator[int | None]:
    for name, section in _INI:
        parser = ConfigParser(interpolation=None)
        try:
            parser.read_string((read(name) or b"").decode())
            value = parser.get(
                section, "max-line-length", fallback=parser.get(section, "max_line_length", fallback="")
            )
        except (Error, ValueError):
            continue
        yield int(value) if value.isdecimal() and int(value) >= _LEAST else None
