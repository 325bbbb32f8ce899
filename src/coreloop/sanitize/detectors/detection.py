"""What a run looks for: the countries, the project's own patterns, and values that stay.

A process has one `Detection`, since every part of a text is searched with it; `use` changes it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

Country = Literal["kr", "us", "uk", "eu"]
COUNTRIES: Final[tuple[Country, ...]] = get_args(Country)


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """A form of private data that the project describes.

    Attributes
    ----------
    kind : str
        Two to nine capital letters; the label is ``[KIND-n]``.
    pattern : str
        Regular expression in Python's syntax; the group ``value``, or else the whole match, is cut.
    """

    kind: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Detection:
    """The choices of a run.

    Attributes
    ----------
    countries : tuple of str
        Countries whose numbers, addresses and names are searched.
    own : tuple of OwnPattern
        The project's own patterns.
    names : tuple of str
        Companies to mask, if there is no file of names.
    allow : frozenset of str
        Values that stay: a finding whose whole text is one of them.
    cache, long_cache : dict
        Findings in short texts and in long ones, which depend on the choices.
    """

    countries: tuple[Country, ...] = COUNTRIES
    own: tuple[OwnPattern, ...] = ()
    names: tuple[str, ...] = ()
    allow: frozenset[str] = frozenset()
    cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    long_cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


_current: list[Detection] = [Detection()]


def current() -> Detection:
    """Return the choices of this process."""
    return _current[0]


def use(detection: Detection) -> None:
    """Search with these choices from now on."""
    _current[0] = detection


@contextmanager
def using(detection: Detection) -> Iterator[None]:
    """Search with these choices within the block."""
    before = current()
    use(detection)
    try:
        yield
    finally:
        use(before)
