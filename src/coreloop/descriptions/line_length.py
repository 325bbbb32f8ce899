"""The line length that a project's linter or formatter sets."""

import tomllib
from collections.abc import Callable, Iterator
from configparser import ConfigParser, Error
from contextlib import suppress
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
_INI: Final = ("setup.cfg", "tox.ini", ".flake8")
_LEAST: Final = 40  # chosen: a smaller one is a slip, and would leave a line three or four words


def line_length(read: Callable[[str], bytes | None]) -> int:
    """Return the first line length that ruff, black or flake8 sets, in columns; else 88.

    Parameters
    ----------
    read : callable
        Returns the content of a project file by its name, or None if absent.
    """
    read = cache(read)  # three tools share a file
    set_lengths = chain(_from_toml(read), _from_ini(read))
    return next((value for value in set_lengths if isinstance(value, int) and value >= _LEAST), DEFAULT)


def _from_toml(read: Callable[[str], bytes | None]) -> Iterator[object]:
    for name, keys in _TOML:
        try:
            value: object = tomllib.loads((read(name) or b"").decode())
        except ValueError:  # the linter itself reports this
            continue
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        yield value


def _from_ini(read: Callable[[str], bytes | None]) -> Iterator[object]:
    for name in _INI:
        parser = ConfigParser(interpolation=None)
        with suppress(Error, ValueError):
            parser.read_string((read(name) or b"").decode())
            options = parser["flake8"] if parser.has_section("flake8") else {}
            value = options.get("max-line-length") or options.get("max_line_length") or ""
            yield int(value) if value.isdecimal() else None
