"""A window of whole UTC days."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Days:
    """Whole UTC days, both ends included."""

    since: date
    until: date
