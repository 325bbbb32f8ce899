"""The numbers that an export without free text keeps: a record's own figures, short ones in arguments."""

import math
from decimal import Decimal
from typing import Final

from coreloop.sanitize.fields import is_identifying
from coreloop.sanitize.values import find_in_number

_FIGURE_BELOW: Final = 10_000_000
_MAX_DIGITS: Final = 6


def figure(value: int | float) -> int | None:
    """Round a count, duration or size; None if it is negative or has more than seven digits.

    A longer number is no figure of a record, but may be a telephone number, a date of birth or an id.
    """
    return round(value) if 0 <= value < _FIGURE_BELOW and math.isfinite(value) else None


def is_harmless(value: int | float, key: str) -> bool:
    """Whether a number under a known key is too short to identify anybody: 5, 0.25, 150000."""
    return (
        len(Decimal(repr(value)).as_tuple().digits) <= _MAX_DIGITS
        and abs(value) < 10**_MAX_DIGITS
        and not is_identifying(key)
        and not find_in_number(value, key)
    )
