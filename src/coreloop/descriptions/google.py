"""Headings of Google's style: a known name, or a title above an indented block, and a colon."""

import re

from coreloop.descriptions.heading import DocstringSection, HeadingPlace
from coreloop.descriptions.section_names import KNOWN_KEYS, PROJECT_KEYS, name_key

# reads "Guide: text" and "Data Sources:", but not "1st: x" and "{a}: x"
_COLON = re.compile(r"(?P<name>[^\W\d_][\w /&-]{0,60}?):(?:\s+(?P<inline>\S.*))?")


def read_heading(place: HeadingPlace) -> DocstringSection | None:
    """The section that a line opens; None if it is not a heading of this style."""
    match = _COLON.fullmatch(place.text)
    if not match or match["name"][0].islower():
        return None
    name, inline = match["name"], match["inline"] or ""
    if not _is_heading(place, name, inline):
        return None
    lazy = bool(inline) or (place.is_followed and not place.is_above_block)
    body = place.number + 1
    return DocstringSection(name, "google", "", place.number, body, body, inline, lazy)


def _is_heading(place: HeadingPlace, name: str, inline: str) -> bool:
    key = name_key(name)
    current = place.current
    is_title = current is not None and not current.heading and not current.known
    structural = current is not None and current.style != "google" and not is_title
    if inline:
        names = PROJECT_KEYS if structural else KNOWN_KEYS
        return place.is_fresh and (key in names or key in place.asked)
    if key in KNOWN_KEYS or key in place.asked:
        return place.is_fresh or (place.is_above_block and not structural)
    titled = not any(word[0].islower() for word in name.split())
    return titled and place.is_fresh and not structural and place.is_above_block
