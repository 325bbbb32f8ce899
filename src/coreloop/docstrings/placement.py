"""Where in a docstring new lines go, and the check that they arrived: line numbers and text, no source."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coreloop.docstrings.heading import Section, Style
from coreloop.docstrings.names import name_key
from coreloop.docstrings.sections import Layout
from coreloop.docstrings.source import UnprovenError

_BULLET = re.compile(r"[-*+•]\s|\d+[.)]\s")


@dataclass(frozen=True, slots=True)
class Placement:
    """Lines to put after line `after` (from 0) of a docstring.

    Parameters
    ----------
    after : int
        The line they follow.
    lines : tuple of str
        With indentation, heading and blank lines.
    appended : tuple of str
        Those of the asked lines that were not there yet.
    created : bool
        Whether the section is new.
    lead : str
        White space of the docstring's margin, for closing quotes that need a line of their own.
    """

    after: int
    lines: tuple[str, ...]
    appended: tuple[str, ...]
    created: bool
    lead: str


def place(layout: Layout, section: str, lines: Sequence[str], *, indent: str) -> Placement | None:
    """Choose the place for lines in a section, or at the end for a section that does not exist.

    Parameters
    ----------
    layout : Layout
        The docstring, scanned with ``section`` among the asked names.
    section : str
    lines : sequence of str
    indent : str
        White space for a docstring whose only line of text is its first.

    Returns
    -------
    Placement or None
        None when the section has every line already.
    """
    found = layout.named(section)
    if len(found) > 1:
        raise UnprovenError(f"the docstring has {len(found)} sections named {section}")
    present = set(layout.content(found[0])) if found else set()
    missing = tuple(line for line in dict.fromkeys(lines) if line.strip() not in present)
    if not missing:
        return None
    if layout.open_fence:
        raise UnprovenError("the docstring has a code fence that is never closed")
    return (
        _place_into(layout, found[0], missing, indent)
        if found
        else _place_new(layout, section, missing, indent)
    )


def _place_into(layout: Layout, section: Section, missing: tuple[str, ...], indent: str) -> Placement:
    _refuse_unclear_end(layout, section)
    lead = _margin_lead(layout, indent)
    inner = _body_lead(layout, section, lead)
    gap = [""] if _needs_gap(layout, section, missing[0]) else []
    text = (*gap, *(inner + line for line in missing))
    return Placement(max(section.end, section.body) - 1, text, missing, False, lead)


def _refuse_unclear_end(layout: Layout, section: Section) -> None:
    if any(layout.is_rule(number) for number in range(section.body, section.end)):
        raise UnprovenError(f"section {section.name} has a line of dashes that may be a heading or a table")
    headings = {other.heading for other in layout.sections}
    below = (number for number in range(section.end, len(layout.lines)) if not layout.lines[number].blank)
    following = next(below, None)
    if section.lazy and not section.inline and following is not None and following not in headings:
        raise UnprovenError(f"the text of section {section.name} is not indented, so its end is not clear")


def _margin_lead(layout: Layout, indent: str) -> str:
    leads = (line.lead for line in layout.lines[1:] if not line.blank and line.indent == layout.margin)
    return next(leads, indent)


def _body_lead(layout: Layout, section: Section, lead: str) -> str:
    """White space of the section's least indented text."""
    hanging = section.style == "google" and (bool(section.inline) or not section.lazy)
    least = layout.margin + hanging
    lines = layout.lines[section.body : section.end]
    body = [line for line in lines if not line.blank and line.indent >= least]
    if body:
        return min(reversed(body), key=lambda line: line.indent).lead
    return lead + _step(layout, lead) if hanging else lead


def _step(layout: Layout, lead: str) -> str:
    """By how much the docstring's Google sections indent their text."""
    for section in layout.sections:
        if section.style == "google" and section.body < section.end:
            first = layout.lines[section.body].lead
            if first.startswith(lead) and first != lead:
                return first.removeprefix(lead)
    return "\t" if lead.endswith("\t") else "    "


def _needs_gap(layout: Layout, section: Section, first: str) -> bool:
    """Whether the new text would otherwise run into a doctest, a directive or text of another kind."""
    lines = layout.lines[section.body : section.end]
    body = [line for line in lines if not line.blank and line.indent >= layout.margin]
    if section.lazy or not body:
        return False
    least = min(line.indent for line in body)
    top = next(line for line in reversed(body) if line.indent == least).text.strip()
    if body[-1].code == "doctest" or top.startswith(".. ") or top.endswith("::"):
        return True
    return bool(_BULLET.match(top)) != bool(_BULLET.match(first.strip()))


def _place_new(layout: Layout, section: str, missing: tuple[str, ...], indent: str) -> Placement:
    last = max((number for number, line in enumerate(layout.lines) if not line.blank), default=None)
    if last is None:
        raise UnprovenError("the docstring is empty; write a summary first")
    lead = _margin_lead(layout, indent)
    text = ("", *(lead + line if line else "" for line in new_section(layout, section, missing, lead)))
    return Placement(last, text, missing, True, lead)


def new_section(layout: Layout | None, section: str, lines: Sequence[str], lead: str = "") -> list[str]:
    """Write a section, not indented, in the docstring's own style (numpydoc where it has none)."""
    model = _model(layout) if layout else None
    if layout is None or model is None or model.style == "numpydoc":
        # A heading of an unknown name over `===` is a document's title, not the style of its sections.
        mark = model.mark if model and model.known else "-"
        return [section, mark * max(3, _width(section)), *lines]
    if model.style == "google":
        step = _step(layout, lead)
        return [f"{section}:", *(step + line for line in lines)]
    spaced = model.body < model.end and layout.lines[model.body].blank
    return [f"{model.mark} {section}", *([""] if spaced else []), *lines]


def _model(layout: Layout) -> Section | None:
    """The last section in the style that most have; titles above a block count only if nothing else does."""
    headed = [section for section in layout.sections if not section.prose]
    candidates = [section for section in headed if section.known or section.mark not in ("", "=")] or headed
    counts = Counter[Style](section.style for section in candidates)
    return max(reversed(candidates), key=lambda section: counts[section.style], default=None)


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def prove_placement(before: Layout, after: Layout, placement: Placement, section: str) -> None:
    """Raise `UnprovenError` unless the new lines are in their section and everything else is where it was."""
    count = len(placement.lines)
    expected = [_moved(found, placement, count) for found in before.sections]
    if placement.created:
        expected.append(_appended(after, placement, section))
    if list(map(_outline, expected)) != list(map(_outline, after.sections)):
        raise UnprovenError(
            f"the lines would not be read as text of section {section}, or would change another section"
        )
    if after.open_fence or (
        before.least is not None and (after.least, after.margin) != (before.least, before.margin)
    ):
        raise UnprovenError("the lines would change how the rest of the docstring is read")


def _moved(found: Section, placement: Placement, count: int) -> Section:
    if found.heading > placement.after:
        return replace(found, heading=found.heading + count, body=found.body + count, end=found.end + count)
    if max(found.end, found.body) - 1 == placement.after and not placement.created:
        return replace(found, end=placement.after + count + 1)
    return found


def _appended(after: Layout, placement: Placement, section: str) -> Section:
    """The last section, if it starts after the gap, ends with the last new line and bears the name."""
    heading, end = placement.after + 2, placement.after + len(placement.lines) + 1
    last = after.sections[-1] if after.sections else None
    if last is None or last.heading != heading or last.end != end or last.key != name_key(section):
        raise UnprovenError(f"the lines would not be read as a section named {section}")
    return last


def _outline(section: Section) -> tuple[str, str, int, int, int]:
    return section.name, section.style, section.heading, section.body, section.end
