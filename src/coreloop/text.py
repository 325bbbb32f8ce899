"""What may stand in a docstring line, and hostile text made harmless for a screen or a file.

The lines that coreloop proposes are built from closed vocabularies; this is the second lock on that door.
"""

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate
from typing import Final

MAX_LINE_CHARS: Final = 400
_SIGNS: Final = frozenset(' -.,:;()=%<>/+&·~…_"')
# Letters to Unicode, invisible to people: the Hangul fillers.
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")
_TOOL_NAME: Final = re.compile(r"[^\W\d][\w.:/-]{0,99}")
_QUOTED_VALUE: Final = re.compile(r'="[^"]*"')
_PLACEHOLDER: Final = re.compile(r"->|\b(\w{1,40})=<\1>")  # axis=<axis>; any other <name> is a tag
_DATE: Final = re.compile(r"\b20[0-9]{2}-[01][0-9]-[0-3][0-9]\b", re.ASCII)
_FORBIDDEN: Final = (
    (">>>", "a doctest prompt"),
    (".. ", "a reStructuredText directive"),
    ("://", "a link"),
    ("www.", "a link"),
    ("~~", "a fence"),
    ("::", "a reStructuredText literal block"),
)


def refuse_line(line: str) -> str | None:
    """Why a line may not be appended to a docstring.

    Returns
    -------
    str or None
        The reason, one clause; None when the line is a plain bullet of at most 400 characters that holds
        only letters, digits and a few signs, quotes only around a selector's value, no markup, and nothing
        that a detector of `coreloop.sanitize` takes for private data.
    """
    return refuse_form(line) or _refuse_private(line)


def refuse_form(line: str) -> str | None:
    """`refuse_line` without the detectors: for who holds every word against a closed vocabulary anyway."""
    if not line.startswith("- "):
        return "it is no bullet"
    if len(line) > MAX_LINE_CHARS:
        return f"it is longer than {MAX_LINE_CHARS} characters"
    strange = next((char for char in line if not _is_plain(char)), None)
    if strange is not None:
        return f"it holds U+{ord(strange):04X}"
    lowered = line.lower()
    markup = next((what for sign, what in _FORBIDDEN if sign in lowered), None)
    if markup is not None:
        return f"it holds {markup}"
    if '"' in _QUOTED_VALUE.sub("", line):
        return "it holds quotes that are not around a selector's value"
    if set("<>") & set(_PLACEHOLDER.sub("", line)):
        return "it holds < or >"
    return None


def _refuse_private(line: str) -> str | None:
    from coreloop.sanitize.find import find  # its rules are compiled by the first who asks

    found = find(_DATE.sub("", line))  # the dates of the evidence are no numbers of anybody
    return f"a detector fires: it holds what looks like {found[0].kind}" if found else None


def is_tool_name(name: str) -> bool:
    """Whether a recorded tool name may stand in a docstring: an identifier, with dots, dashes or slashes."""
    return _TOOL_NAME.fullmatch(name) is not None


def printable(text: str) -> str:
    r"""One line without control, format or other invisible characters: they become ``\u{…}`` escapes."""
    return "".join(char if _is_visible(char) else f"\\u{{{ord(char):x}}}" for char in text)


def escape_markdown(text: str) -> str:
    """The text on one line, Markdown's own signs escaped, so that a recorded name cannot be markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|!&])", r"\\\1", printable(text))


def indented_block(section: str, body: str) -> str:
    """Docstring lines as a Markdown code block, under their heading."""
    lines = [section, "-" * len(section), *body.splitlines()]
    return "\n".join("    " + line for line in lines)


def fitted(text: str, columns: int) -> str:
    """The beginning of a line that fits on a terminal, with ``…`` where it was cut.

    Parameters
    ----------
    text : str
        Printable; a wide letter (Hangul, Han, kana) takes two columns.
    columns : int
        At least 1.
    """
    ends = list(accumulate(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text))
    if not ends or ends[-1] <= columns:
        return text
    return text[: bisect_right(ends, columns - 1)] + "…"


def _is_plain(char: str) -> bool:
    return char in _SIGNS or (unicodedata.category(char)[0] in "LN" and char not in _FILLERS)


def _is_visible(char: str) -> bool:
    return char == " " or (unicodedata.category(char)[0] not in "CZ" and char not in _FILLERS)
