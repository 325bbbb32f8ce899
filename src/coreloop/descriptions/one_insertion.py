"""Check that two states of a file differ by one insertion into one docstring, as a promotion's do."""

from coreloop.descriptions.located_docstring import docstring_node
from coreloop.descriptions.source import UnprovenError, equal_except, find_definition, read_source


def refuse_change(before: bytes, after: bytes, symbol: str) -> str | None:
    """Why a change is not exactly one insertion into a docstring.

    Parameters
    ----------
    before, after : bytes
        The whole file.
    symbol : str
        Qualname of the docstring's definition, ``name:LINE`` if it is defined twice.

    Returns
    -------
    str or None
        The reason, one clause; None if characters were inserted once between the quotes and the rest of the
        syntax tree is unchanged.
    """
    qualname, _, number = symbol.partition(":")
    line = int(number) if number.isdecimal() else None
    try:
        old, new = read_source(before), read_source(after)
        node = docstring_node(find_definition(old.tree, qualname, line))
        grown = docstring_node(find_definition(new.tree, qualname, line))
        if node is None or grown is None:
            return f"{qualname} has no docstring"
        if not equal_except(old.tree, new.tree, pair=(node, grown)):
            return f"it changed more than the docstring of {qualname}"
        start, end = old.span(node)
        # Inserted text may begin like the text after it, so the end of the common prefix is a valid place.
        place = min(_common_prefix(old.text, new.text), end - 1)
        at = old.byte_offset(place)
    except UnprovenError as reason:
        return str(reason)
    more = len(after) - len(before)
    single = more > 0 and before[:at] == after[:at] and before[at:] == after[at + more :]
    return None if single and place > start else "it is not a single insertion"


def _common_prefix(old: str, new: str) -> int:
    """Length of the common prefix."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(old), len(new)))
