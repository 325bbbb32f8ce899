"""Numbers, shares and times as pages show them; and charts as SVG, drawn on the server."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from markupsafe import Markup

from coreloop.base.text import FILLERS, fitted, printable
from coreloop.learn.statistics import wilson_interval

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


def timestamp(value: datetime | None) -> Markup:
    """Return a time as ``2026-11-23 14:05 UTC``; the script of the pages says how long ago that was."""
    if value is None:
        return Markup("–")
    exact = f"{value:%Y-%m-%d %H:%M} UTC"
    return Markup('<time datetime="{:%Y-%m-%dT%H:%MZ}" title="{}">{}</time>').format(value, exact, exact)


def count(value: int | None) -> str:
    """Return a number as ``12,345``."""
    return "–" if value is None else f"{value:,}"


def short(text: str, max_chars: int = 300) -> str:
    """Return the beginning of a text; its page must not grow with what others wrote."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


_KEPT: Final = re.compile(
    r"(\n|(?<=[^\x00-\x7f\u2000-\u206f])[\u200c-\u200f]|[\u200e\u200f](?=[\u0590-\u08ff]))"
)
"""Lines, and single marks that join emoji or belong to a script that is written from right to left."""


def escape(value: Any) -> Any:
    r"""Return a text with its lines, but with other control and invisible characters as ``\u{…}``."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    if value.isprintable() and FILLERS.isdisjoint(value):
        return value
    parts = enumerate(_KEPT.split(value.encode("utf-8", "replace").decode()))
    return "".join(part if at % 2 else printable(part) for at, part in parts)


_WIDTH: Final = 440
"""Letters stay legible on a phone, which is three quarters as wide."""
_ROW: Final = 44
"""The height of a label and its bar below it."""
_COLUMNS: Final = 56
"""Of a label, two for a wide letter; the table behind the chart has more of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A rate with its 95 % interval, 0 to 1.

    Attributes
    ----------
    label : str
    low, value, high : float
    note : str
        Beside the bar, such as ``12 of 40``.
    is_other : bool
        Whether it is what the other rows are compared with.
    """

    label: str
    low: float
    value: float
    high: float
    note: str = ""
    is_other: bool = False


def rate_of(label: str, hits: int, n: int, *, is_other: bool = False) -> Interval:
    """Return a rate with its 95 % interval (Wilson); ``n`` is at least 1."""
    low, high = wilson_interval(hits, n)
    note = f"{hits:,} / {n:,}"
    return Interval(label=label, low=low, value=hits / n, high=high, note=note, is_other=is_other)


@dataclass(frozen=True, slots=True)
class Bar:
    """A number of 0 or more, and what stands beside it."""

    label: str
    value: float
    note: str


def interval_chart(rows: Sequence[Interval], *, id: str, title: str) -> Markup:
    """Draw rates as points on their intervals, on an axis from 0 to 100 %.

    Parameters
    ----------
    rows : sequence of Interval
        The rows, from the top.
    id : str
        The id of the chart on its page.
    title : str
        Says what the rates are of.
    """
    height = _ROW * len(rows) + 34
    left, right = 16, _WIDTH - 124
    parts = [Markup("").join(_ticks(left, right, height - 24))]
    for number, row in enumerate(rows):
        y, kind = _ROW * number + 30, "-2" if row.is_other else ""
        x_low, x, x_high = (
            left + (right - left) * min(max(at, 0.0), 1.0) for at in (row.low, row.value, row.high)
        )
        parts += [
            _text(row.label, 0, y - 16),
            Markup(f'<line class="bar{kind}" x1="{x_low:.1f}" x2="{x_high:.1f}" y1="{y}" y2="{y}"/>'),
            Markup(f'<circle class="mark{kind}" cx="{x:.1f}" cy="{y}" r="6"/>'),
            _text(row.note, right + 12, y + 4),
        ]
    told = (f"{row.label}: {row.value:.1%} ({row.low:.1%} to {row.high:.1%})" for row in rows)
    return Markup(
        '<svg role="img" viewBox="0 0 {width} {height:.0f}" width="{width}" height="{height:.0f}" '
        'aria-labelledby="{id}-t {id}-d"><title id="{id}-t">{title}</title><desc id="{id}-d">{text}</desc>'
        "{parts}</svg>"
    ).format(
        width=_WIDTH,
        height=height,
        id=id,
        title=escape(title),
        text=escape(short("; ".join(told), 2000)),
        parts=Markup("").join(parts),
    )


def _ticks(left: float, right: float, y: float) -> Iterator[Markup]:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + (right - left) * share
        yield Markup(f'<line class="grid" x1="{x:.0f}" x2="{x:.0f}" y1="4" y2="{y}"/>')
        yield Markup(f'<text class="soft" x="{x:.0f}" y="{y + 18}" text-anchor="middle">{share:.0%}</text>')


def _text(text: str, x: float, y: float) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}">{}</text>').format(x, y, fitted(printable(text), _COLUMNS))
