"""Where in a docstring new lines go, and the check that they arrived: line numbers and text, no source.

By default the end of the first block of text, the only part that every framework sends; else a section.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from coreloop.docstrings.bullets import columns, read_bullets, write_bullet
from coreloop.docstrings.first_block import read_first_block
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


def never(_: str) -> bool:
    """No line is of a form that coreloop writes."""
    return False


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be placed.

    Attributes
    ----------
    lines : tuple of str
        Bullets, or whatever a human chose.
    section : str or None
        None for the end of the first block.
    style : {"numpydoc", "google", "markdown"}
        Of a section that a docstring without sections gets.
    width : int or None
        Columns at which a bullet is broken.
    is_ours : callable
        Whether a bullet is of a form that coreloop writes: a list of nothing else goes on.
    """

    lines: tuple[str, ...]
    section: str | None = None
    style: Style = "numpydoc"
    width: int | None = None
    is_ours: Callable[[str], bool] = never


def place(layout: Layout, wanted: Wanted, *, indent: str) -> Placement | None:
    """Choose the place for lines.

    Parameters
    ----------
    layout : Layout
        The docstring, scanned with the section, if any, among the asked names.
    wanted : Wanted
    indent : str
        White space for a docstring whose only line of text is its first.

    Returns
    -------
    Placement or None
        None when every line is there already.

    Raises
    ------
    UnprovenError
        There is no place that is clear.
    """
    if wanted.section is None:
        return _place_first(layout, wanted, indent)
    return _place_in_section(layout, wanted, wanted.section, indent)


def _place_first(layout: Layout, wanted: Wanted, indent: str) -> Placement | None:
    block = read_first_block(layout, wanted.is_ours)
    missing = tuple(line for line in dict.fromkeys(wanted.lines) if line not in block.listed)
    if not missing:
        return None
    _refuse_open_fence(layout)
    lead = _margin_lead(layout, indent)
    inner = layout.lines[block.bullets[0].first].lead if block.bullets else lead
    gap = [] if block.bullets else [""]
    text = (*gap, *_written(missing, inner, wanted), *_tail(layout, block.last))
    return Placement(block.last, text, missing, False, lead)


def _tail(layout: Layout, last: int) -> list[str]:
    """A blank line where the next section or field would touch what is new."""
    following = layout.lines[last + 1 : last + 2]
    return [""] if following and not following[0].blank else []


def _refuse_open_fence(layout: Layout) -> None:
    if layout.open_fence:
        raise UnprovenError("the docstring has a code fence that is never closed")


def _written(lines: Sequence[str], lead: str, wanted: Wanted) -> list[str]:
    return [part for line in lines for part in write_bullet(line, lead, width=wanted.width)]


def _place_in_section(layout: Layout, wanted: Wanted, section: str, indent: str) -> Placement | None:
    """In a section, or at the end for a section that does not exist."""
    found = layout.named(section)
    if len(found) > 1:
        raise UnprovenError(f"the docstring has {len(found)} sections named {section}")
    present = _content(layout, found[0]) if found else set()
    missing = tuple(line for line in dict.fromkeys(wanted.lines) if line.strip() not in present)
    if not missing:
        return None
    _refuse_open_fence(layout)
    return (
        _place_into(layout, found[0], missing, wanted, indent)
        if found
        else _place_new(layout, section, missing, wanted, indent)
    )


def _content(layout: Layout, section: Section) -> set[str]:
    """Text of a section, by line and by bullet."""
    bullets = read_bullets(layout.lines, section.body, section.end)
    return {*layout.content(section), *(bullet.text for bullet in bullets)}


def _place_into(
    layout: Layout, section: Section, missing: tuple[str, ...], wanted: Wanted, indent: str
) -> Placement:
    _refuse_unclear_end(layout, section)
    lead = _margin_lead(layout, indent)
    inner = _body_lead(layout, section, lead)
    gap = [""] if _needs_gap(layout, section, missing[0]) else []
    text = (*gap, *_written(missing, inner, wanted))
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


def _place_new(
    layout: Layout, section: str, missing: tuple[str, ...], wanted: Wanted, indent: str
) -> Placement:
    # behind a field, a section would be read as part of that field
    above = range(layout.first_field)
    last = max((number for number in above if not layout.lines[number].blank), default=None)
    if last is None:
        raise UnprovenError("the docstring is empty, or begins with a field; write a summary first")
    lead = _margin_lead(layout, indent)
    text = ("", *new_section(layout, section, missing, wanted, lead), *_tail(layout, last))
    return Placement(last, text, missing, True, lead)


def new_section(
    layout: Layout | None, section: str, lines: Sequence[str], wanted: Wanted, lead: str = ""
) -> list[str]:
    """Write a section in the docstring's own style, or in the one that is wanted where it has none."""
    model = _model(layout) if layout else None
    style = model.style if model is not None else wanted.style
    heading, inner = _heading(model, section, style), lead
    if style == "google":
        inner += _step(layout, lead) if layout is not None else "    "
    if style == "markdown" and layout is not None and _is_spaced(layout, model):
        heading.append("")
    return [*(lead + text if text else "" for text in heading), *_written(lines, inner, wanted)]


def _heading(model: Section | None, section: str, style: Style) -> list[str]:
    if style == "numpydoc":
        # A heading of an unknown name over `===` is a document's title, not the style of its sections.
        mark = model.mark if model and model.known else "-"
        return [section, mark * max(3, columns(section))]
    if style == "google":
        return [f"{section}:"]
    mark = model.mark if model else "##"
    return [f"{mark} {section}" if mark.startswith("#") else f"{mark}{section}{mark}"]


def _is_spaced(layout: Layout, model: Section | None) -> bool:
    """Whether a blank line stands below headings."""
    return model is not None and model.body < model.end and layout.lines[model.body].blank


def _model(layout: Layout) -> Section | None:
    """The last section in the style that most have; titles above a block count only if nothing else does."""
    headed = [section for section in layout.sections if not section.prose]
    candidates = [section for section in headed if section.known or section.mark not in ("", "=")] or headed
    counts = Counter[Style](section.style for section in candidates)
    return max(reversed(candidates), key=lambda section: counts[section.style], default=None)


def prove_placement(before: Layout, after: Layout, placement: Placement, section: str | None) -> None:
    """Raise `UnprovenError` unless the new lines are where they belong, and all else is where it was."""
    count = len(placement.lines)
    # what only begins like a section ends where the list in the first block begins
    goes_on = [
        not placement.created and (section is not None or found.style != "google" or bool(placement.lines[0]))
        for found in before.sections
    ]
    expected = [
        _moved(found, placement, count, goes_on=more)
        for found, more in zip(before.sections, goes_on, strict=True)
    ]
    if placement.created and section is not None:
        expected.append(_appended(after, placement, section))
        expected.sort(key=lambda one: one.heading)
    if list(map(_outline, expected)) != list(map(_outline, after.sections)):
        where = "the first block" if section is None else f"section {section}"
        raise UnprovenError(
            f"the lines would not be read as text of {where}, or would change another section"
        )
    if after.open_fence or (
        before.least is not None and (after.least, after.margin) != (before.least, before.margin)
    ):
        raise UnprovenError("the lines would change how the rest of the docstring is read")


def _moved(found: Section, placement: Placement, count: int, *, goes_on: bool) -> Section:
    if found.heading > placement.after:
        return replace(found, heading=found.heading + count, body=found.body + count, end=found.end + count)
    if max(found.end, found.body) - 1 == placement.after and goes_on:
        return replace(found, end=placement.after + count + 1 - (not placement.lines[-1]))
    return found


def _appended(after: Layout, placement: Placement, section: str) -> Section:
    """The new section, if it starts after the gap, ends with the last new line and bears the name."""
    heading, end = placement.after + 2, placement.after + len(placement.lines) + 1
    end -= not placement.lines[-1]
    found = next((one for one in after.sections if one.heading == heading), None)
    if found is None or found.end != end or found.key != name_key(section):
        raise UnprovenError(f"the lines would not be read as a section named {section}")
    return found


def _outline(section: Section) -> tuple[str, str, int, int, int]:
    return section.name, section.style, section.heading, section.body, section.end
