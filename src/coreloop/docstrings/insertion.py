"""Whether two states of a file differ by one insertion into one docstring: what a promotion may change."""

from coreloop.docstrings.located import docstring_node
from coreloop.docstrings.source import UnprovenError, find_definition, read_source, same_but


def refuse_change(before: bytes, after: bytes, symbol: str) -> str | None:
    """Why a change is more, or other, than one insertion into a docstring.

    Parameters
    ----------
    before, after : bytes
        The whole file.
    symbol : str
        Qualname of the docstring's definition, ``name:LINE`` where one is defined twice.

    Returns
    -------
    str or None
        The reason, one clause; None for a single insertion of characters between the quotes, with the rest
        of the syntax tree unchanged.
    """
    qualname, _, number = symbol.partition(":")
    line = int(number) if number.isdecimal() else None
    try:
        old, new = read_source(before), read_source(after)
        node = docstring_node(find_definition(old.tree, qualname, line))
        grown = docstring_node(find_definition(new.tree, qualname, line))
        if node is None or grown is None:
            return f"{qualname} has no docstring"
        if not same_but(old.tree, new.tree, but=(node, grown)):
            return f"it changed more than the docstring of {qualname}"
        start, end = old.span(node)
        # Inserted text may begin as the old text goes on: any place up to the end of what is common will do.
        place = min(_common(old.text, new.text), end - 1)
        at = old.byte_offset(place)
    except UnprovenError as reason:
        return str(reason)
    more = len(after) - len(before)
    single = more > 0 and before[:at] == after[:at] and before[at:] == after[at + more :]
    return None if single and place > start else "it is no single insertion"


def _common(one: str, other: str) -> int:
    """Length of the common beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
