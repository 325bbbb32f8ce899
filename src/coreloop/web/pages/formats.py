"""Numbers, shares and times as pages show them."""

from datetime import datetime
from typing import Any, Final

from markupsafe import Markup

from coreloop.base.text import FILLERS, printable

_SECONDS: Final = {"d": 86_400, "h": 3_600, "min": 60}


def rate(value: float | None) -> str:
    """Return a share as ``12.3 %``; a dash if there is none."""
    return "–" if value is None else f"{100 * value:.1f} %"


def seconds(value: float | None) -> str:
    """Return a length of time as ``3.2 s``, ``5 min``, ``2 h`` or ``12 d``."""
    if value is None:
        return "–"
    for unit, length in _SECONDS.items():
        if value >= 2 * length:
            return f"{value / length:,.0f} {unit}"
    return f"{value:.1f} s"


def timestamp(value: datetime | None) -> str:
    """Return a time as ``2026-11-23 14:05 UTC``."""
    return "–" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


def count(value: int | None) -> str:
    """Return a number as ``12,345``."""
    return "–" if value is None else f"{value:,}"


def short(text: str, max_chars: int = 300) -> str:
    """Return the beginning of a text; its page must not grow with what others wrote."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


def escape(value: Any) -> Any:
    r"""Return a text with its lines, but with other control and invisible characters as ``\u{…}``."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    if value.isprintable() and FILLERS.isdisjoint(value):
        return value
    return "\n".join(map(printable, value.encode("utf-8", "replace").decode().split("\n")))
