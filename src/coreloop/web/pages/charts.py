"""Charts as SVG, drawn on the server: each has a title and a text; pages show the table behind it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from coreloop.base.text import fitted, printable
from coreloop.web.pages.formats import escape, short

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
        x_low, x, x_high = (left + (right - left) * _bounded(at) for at in (row.low, row.value, row.high))
        parts += [
            _text(row.label, 0, y - 16),
            Markup('<line class="bar{}" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>').format(
                kind, x_low, x_high, y, y
            ),
            Markup('<circle class="mark{}" cx="{:.1f}" cy="{}" r="6"/>').format(kind, x, y),
            _text(row.note, right + 12, y + 4),
        ]
    told = (f"{row.label}: {row.value:.1%} ({row.low:.1%} to {row.high:.1%})" for row in rows)
    return _svg(parts, height, id=id, title=title, text="; ".join(told))


def bar_chart(rows: Sequence[Bar], *, id: str, title: str) -> Markup:
    """Draw numbers as bars; as `interval_chart` otherwise."""
    height, longest = _ROW * len(rows), _WIDTH - 130
    max_value = max((row.value for row in rows), default=0) or 1
    parts = []
    for number, row in enumerate(rows):
        y, length = _ROW * number + 20, longest * max(row.value, 0) / max_value
        parts += [
            _text(row.label, 0, y - 6),
            Markup('<rect class="mark" x="0" y="{}" width="{:.1f}" height="16" rx="2"/>').format(
                y, max(length, 1 if row.value > 0 else 0)
            ),
            _text(row.note, length + 8, y + 13),
        ]
    told = (f"{row.label}: {row.note}" for row in rows)
    return _svg(parts, height, id=id, title=title, text="; ".join(told))


def _bounded(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _ticks(left: float, right: float, y: float) -> Iterator[Markup]:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + (right - left) * share
        yield Markup('<line class="grid" x1="{:.0f}" x2="{:.0f}" y1="4" y2="{}"/>').format(x, x, y)
        yield Markup('<text class="soft" x="{:.0f}" y="{}" text-anchor="middle">{}</text>').format(
            x, y + 18, f"{share:.0%}"
        )


def _text(text: str, x: float, y: float) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}">{}</text>').format(x, y, fitted(printable(text), _COLUMNS))


def _svg(parts: Sequence[Markup], height: float, *, id: str, title: str, text: str) -> Markup:
    return Markup(
        '<svg role="img" viewBox="0 0 {} {:.0f}" width="{}" height="{:.0f}" aria-labelledby="{}-t {}-d">'
        '<title id="{}-t">{}</title><desc id="{}-d">{}</desc>{}</svg>'
    ).format(
        _WIDTH,
        height,
        _WIDTH,
        height,
        id,
        id,
        id,
        escape(title),
        id,
        escape(short(text, 2000)),
        Markup("").join(parts),
    )
