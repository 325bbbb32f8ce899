"""Headings of numpydoc: a name with an underline."""

from coreloop.descriptions.heading import DocstringSection, HeadingPlace


def read_heading(place: HeadingPlace) -> DocstringSection | None:
    """The section that a line opens; None if it is not a heading of this style."""
    if not place.is_rule(1) or place.is_rule(0):
        return None
    started = place.current is not None and place.current.body == place.number
    if place.is_rule(-1) and not started:
        return None  # a line between two rules is a table or an overlined title
    mark = place.lines[place.number + 1].text.strip()[0]
    body = place.number + 2
    return DocstringSection(place.text.removesuffix(":"), "numpydoc", mark, place.number, body, body)
