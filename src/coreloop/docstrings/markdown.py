"""Headings of Markdown: a name behind number signs."""

import re

from coreloop.docstrings.heading import HeadingPlace, Section

_ATX = re.compile(r"(?P<mark>#{1,6})[ \t]+(?P<name>.*?)(?:[ \t]+#+)?")


def read_heading(place: HeadingPlace) -> Section | None:
    """The section that a line opens, None where it is no heading of this style."""
    match = _ATX.fullmatch(place.text)
    if not match or not match["name"]:
        return None
    name = match["name"].strip("* ").removesuffix(":")
    return Section(name, "markdown", match["mark"], place.number, place.number + 1, place.number + 1)
