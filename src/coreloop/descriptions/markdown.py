"""Headings of Markdown: a name after number signs, or a known name in bold on its own line."""

import re

from coreloop.descriptions.heading import DocstringSection, HeadingPlace
from coreloop.descriptions.section_names import KNOWN_KEYS, name_key

_ATX = re.compile(r"(?P<mark>#{1,6})[ \t]+(?P<name>.*?)(?:(?<![ \t])[ \t]+#+)?")
_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<name>[^\W\d_][\w /&-]{0,60}):?(?P=mark):?")  # **Guide**, **Guide:**


def read_heading(place: HeadingPlace) -> DocstringSection | None:
    """The section that a line opens; None if it is not a heading of this style."""
    match = _ATX.fullmatch(place.text) or _bold(place)
    if not match or not match["name"]:
        return None
    name = match["name"].strip("* ").removesuffix(":")
    return DocstringSection(name, "markdown", match["mark"], place.number, place.number + 1, place.number + 1)


def _bold(place: HeadingPlace) -> re.Match[str] | None:
    """Match a bold line with a known name after a blank line; other bold lines are emphasis."""
    match = _BOLD.fullmatch(place.text)
    is_known = match is not None and name_key(match["name"]) in {*KNOWN_KEYS, *place.asked}
    return match if is_known and place.is_fresh else None
