"""What a change puts into one docstring, or why it does more than that: bytes in, lines out.

Held against the files alone, not against what `promote` would write, so that a mistake there shows here.
"""

from collections.abc import Sequence

from coreloop.docstrings.edit import docstring_node
from coreloop.docstrings.literal import StringLiteral, read_literal
from coreloop.docstrings.sections import scan
from coreloop.docstrings.source import SourceText, UnprovenError, find_definition, read_source


def inserted_lines(old: bytes, new: bytes, *, qualname: str, line: int | None, section: str) -> list[str]:
    """The lines that a change puts at the end of a section of one docstring.

    The bytes outside of that docstring's quotes are the same; what is between them is one insertion, of whole
    lines; and every line of it is the section's heading, if that is new, or text at the section's end.

    Parameters
    ----------
    old, new : bytes
        The file before and after.
    qualname : str
        Dotted name of the definition.
    line : int, optional
        Where the name is defined more than once.
    section : str
        Its name.

    Returns
    -------
    list of str
        Stripped, without the heading and blank lines.

    Raises
    ------
    UnprovenError
        It is anything else; the message is the reason.
    """
    before, after = _docstring(old, qualname, line), _docstring(new, qualname, line)
    if _around(*before) != _around(*after):
        raise UnprovenError(f"something outside of the docstring of {qualname} changes")
    if not _is_insertion(_between(*before), _between(*after)):
        raise UnprovenError(f"text of the docstring of {qualname} is removed or rewritten")
    added = _added(before[1].value.split("\n"), after[1].value.split("\n"))
    if added is None:
        raise UnprovenError(f"a line of the docstring of {qualname} is rewritten")
    return _in_section(before[1].value, after[1].value, added, section)


def _docstring(raw: bytes, qualname: str, line: int | None) -> tuple[SourceText, StringLiteral]:
    source = read_source(raw)
    node = docstring_node(find_definition(source.tree, qualname, line))
    if node is None:
        raise UnprovenError(f"{qualname} has no docstring")
    return source, read_literal(source.text, *source.span(node))


def _around(source: SourceText, literal: StringLiteral) -> tuple[bytes, bytes]:
    """The bytes up to the opening quotes and from the closing ones on."""
    start, end = source.byte_offset(literal.start), source.byte_offset(literal.end)
    return source.raw[:start], source.raw[end:]


def _between(source: SourceText, literal: StringLiteral) -> str:
    return source.text[literal.start : literal.end]


def _is_insertion(old: Sequence[object], new: Sequence[object]) -> bool:
    """Whether taking one run out of `new` gives `old`."""
    # where that works at some place, it works at the last place to which both are the same
    start, grown = _common(old, new), len(new) - len(old)
    return grown > 0 and old[start:] == new[start + grown :]


def _common(old: Sequence[object], new: Sequence[object]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))


def _added(old: list[str], new: list[str]) -> list[str] | None:
    """The lines put in that are not blank, without indentation; None when a line of old is not as it was."""
    if not _is_insertion(old, new):
        return None
    start = _common(old, new)
    # strip() alone would take off control characters and line separators, too
    lines = (text.strip(" \t") for text in new[start : start + len(new) - len(old)])
    return [text for text in lines if text]


def _in_section(old: str, new: str, added: list[str], section: str) -> list[str]:
    before, after = scan(old, asked=(section,)), scan(new, asked=(section,))
    found, had = after.named(section), before.named(section)
    if len(found) != 1:
        raise UnprovenError(f"the docstring does not have one section {section}")
    heading = [line.text.strip() for line in after.lines[found[0].heading : found[0].body]]
    content = [text for text in after.content(found[0]) if text]
    kept = [text for text in before.content(had[0]) if text] if had else []
    lines = content[len(kept) :]
    if added != ([] if had else heading) + lines or not lines:
        raise UnprovenError(f"lines are put elsewhere than to the end of section {section}")
    return lines
