"""A range of UTC days."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Days:
    """A range of UTC days, including both ends."""

    since: date
    until: date
