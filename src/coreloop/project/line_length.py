"""How long a line of a project may be, as its linter or formatter says."""

import tomllib
from collections.abc import Callable, Iterator
from configparser import ConfigParser, Error
from typing import Final

DEFAULT: Final = 88
"""Black's and ruff's own."""
_TOML: Final = (
    (".ruff.toml", ("line-length",)),  # ruff reads this one first
    ("ruff.toml", ("line-length",)),
    ("pyproject.toml", ("tool", "ruff", "line-length")),
    ("pyproject.toml", ("tool", "black", "line-length")),
    ("pyproject.toml", ("tool", "flake8", "max-line-length")),
)
_INI: Final = (("setup.cfg", "flake8"), ("tox.ini", "flake8"), (".flake8", "flake8"))
_LEAST: Final = 40


def line_length(read: Callable[[str], bytes | None]) -> int:
    """The columns of a line: ruff's, black's or flake8's setting, the first that is there; else 88.

    Parameters
    ----------
    read : callable
        Gives the bytes of a file of the project by its name, None where there is none.
    """
    found = (length for length in (*_from_toml(read), *_from_ini(read)) if length is not None)
    return next(found, DEFAULT)


def _from_toml(read: Callable[[str], bytes | None]) -> Iterator[int | None]:
    for name, keys in _TOML:
        source = read(name)
        try:
            value: object = tomllib.loads(source.decode()) if source else {}
        except ValueError:  # somebody else's linter says so louder
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
