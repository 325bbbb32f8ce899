"""Charts as SVG, drawn on the server: each has a title and a text; pages show the table behind it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from markupsafe import Markup

from coreloop.base.text import fitted, printable
from coreloop.web.pages.formats import escape, short

_WIDTH: Final = 440
"""Letters stay legible on a phone, which is three quarters as wide."""
_ROW: Final = 44
"""The height of a label and its bar below it."""
_COLUMNS: Final = 56
"""Of a label, two for a wide letter; the table behind the chart has more of it."""
_NODE_ROW: Final = 30
_NODE_COLUMNS: Final = 20
_NODE_WIDTH: Final = 150
_END_COLUMNS: Final = 12


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


@dataclass(frozen=True, slots=True)
class Edge:
    """A weighted edge of a graph whose nodes are in two columns."""

    start: str
    end: str
    weight: int


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


def column_chart(values: Mapping[Any, float], *, id: str, title: str) -> Markup:
    """Draw numbers as columns, such as records by day; the first and the last label are shown."""
    height, base, top = 170, 140, 16
    max_value = max(values.values(), default=0) or 1
    width = _WIDTH / max(len(values), 1)
    parts = [Markup('<line class="axis" x1="0" x2="{}" y1="{}" y2="{}"/>').format(_WIDTH, base, base)]
    parts += [
        Markup('<rect class="mark" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
            width * number + width * 0.1, base - size, width * 0.8, size
        )
        for number, size in enumerate((base - top) * value / max_value for value in values.values())
        if size > 0
    ]
    labels = list(map(str, values))
    if labels:
        parts += [_text(labels[0], 0, base + 18), _text(labels[-1], _WIDTH, base + 18, end=True)]
        parts.append(_text(f"{max_value:,.0f}", 0, 12))
    told = f"{len(values)}: {min(values.values(), default=0):,.0f} to {max_value:,.0f}"
    return _svg(parts, height, id=id, title=title, text=told)


def line_chart(lines: Mapping[str, Sequence[float]], *, id: str, title: str) -> Markup:
    """Draw shares from 0 to 1 over steps, such as the confidence of hypotheses by iteration."""
    height, left, right, top, base = 200, 40, _WIDTH - 90, 10, 170
    steps = max((len(points) for points in lines.values()), default=1)
    parts = [
        Markup('<line class="grid" x1="{}" x2="{}" y1="{:.0f}" y2="{:.0f}"/>').format(left, right, y, y)
        + _text(f"{share:.0%}", left - 6, y + 4, end=True)
        for share in (0.0, 0.5, 1.0)
        for y in (base - (base - top) * share,)
    ]
    for number, (label, points) in enumerate(lines.items()):
        placed = [
            (left + (right - left) * step / max(steps - 1, 1), base - (base - top) * _bounded(point))
            for step, point in enumerate(points)
        ]
        kind = "-2" if number % 2 else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(Markup('<polyline class="line{}" stroke-width="2" points="{}"/>').format(kind, path))
        if placed:
            x, y = placed[-1]
            parts.append(Markup('<circle class="mark{}" cx="{:.1f}" cy="{:.1f}" r="4"/>').format(kind, x, y))
            parts.append(_text(label, x + 8, y + 4, columns=_END_COLUMNS))
    told = (f"{label}: {', '.join(f'{point:.0%}' for point in points)}" for label, points in lines.items())
    return _svg(parts, height, id=id, title=title, text="; ".join(told))


def flow_chart(edges: Sequence[Edge], *, id: str, title: str) -> Markup:
    """Draw weighted edges from names on the left to names on the right; as `interval_chart` otherwise."""
    starts = list(dict.fromkeys(edge.start for edge in edges))
    ends = list(dict.fromkeys(edge.end for edge in edges))
    height = _NODE_ROW * max(len(starts), len(ends), 1) + 12
    max_value = max((edge.weight for edge in edges), default=1) or 1
    left, right = _NODE_WIDTH, _WIDTH - _NODE_WIDTH
    parts = []
    for edge in edges:
        y1, y2 = (
            _NODE_ROW * names.index(name) + 18 for names, name in ((starts, edge.start), (ends, edge.end))
        )
        middle, width = (left + right) / 2, ceil(6 * edge.weight / max_value)
        parts.append(
            Markup('<path class="line" stroke-width="{}" d="M{},{} C{},{} {},{} {},{}"/>').format(
                width, left, y1, middle, y1, middle, y2, right, y2
            )
        )
    for names, x, is_left in ((starts, left - 8, True), (ends, right + 8, False)):
        parts += [
            _text(name, x, _NODE_ROW * at + 22, end=is_left, columns=_NODE_COLUMNS)
            for at, name in enumerate(names)
        ]
    told = (f"{edge.start} → {edge.end}: {edge.weight:,}" for edge in edges)
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


def _text(text: str, x: float, y: float, *, end: bool = False, columns: int = _COLUMNS) -> Markup:
    anchor = Markup(' text-anchor="end"') if end else ""
    return Markup('<text x="{:.1f}" y="{:.1f}"{}>{}</text>').format(
        x, y, anchor, fitted(printable(text), columns)
    )


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
