"""Which lines may be appended to a docstring.

Proposed lines are built from closed vocabularies; this is a second, independent check.
"""

import re
import unicodedata
from typing import Final

from coreloop.base.text import FILLERS
from coreloop.learn.line import parse_advice, parse_line

MAX_LINE_CHARS: Final = 400
_SIGNS: Final = frozenset(' -.,:;()=%<>/+&·~…_"')
_QUOTED_VALUE: Final = re.compile(r'="[^"]*"')
_PLACEHOLDER: Final = re.compile(r"->|\b(\w{1,40})=<\1>")  # axis=<axis>; any other <name> is a tag
_PATH: Final = re.compile(  # get_product_details().variants.*.item_id, but not f().a[](x)
    r"(?<= )[^\W\d][\w.:/-]*\(\)(?:\.[^\W\d]\w*|\.\*|\[\])+(?= |$)"
)
_DATE: Final = re.compile(r"\b20[0-9]{2}-[01][0-9]-[0-3][0-9]\b", re.ASCII)
_FORBIDDEN: Final = (
    (">>>", "a doctest prompt"),
    (".. ", "a reStructuredText directive"),
    ("://", "a link"),
    ("www.", "a link"),
    ("~~", "a fence"),
    ("::", "a reStructuredText literal block"),
)


def is_form(line: str) -> bool:
    """Whether a bullet has a form that coreloop writes, or wrote in an earlier version."""
    return parse_advice(line) is not None or parse_line(line) is not None


def refuse_line(line: str, *, private: bool = True) -> str | None:
    """Why a line may not be appended to a docstring.

    Parameters
    ----------
    line : str
        Without indentation.
    private : bool
        Whether the detectors of `coreloop.sanitize` look for private data, too; not needed if every word is
        checked against a closed vocabulary.

    Returns
    -------
    str or None
        The reason, one clause. None for a plain bullet of at most 400 characters: letters, digits and a few
        signs, quotes only around a selector's value, no markup, nothing that a detector takes for private
        data.
    """
    return _refuse_form(line) or (_refuse_private(line) if private else None)


def _refuse_form(line: str) -> str | None:
    if not line.startswith("- "):
        return "it is not a bullet"
    if len(line) > MAX_LINE_CHARS:
        return f"it is longer than {MAX_LINE_CHARS} characters"
    # [] and * are markup, except in the path of a result's field
    unwanted = next((char for char in _PATH.sub("", line) if not _is_plain(char)), None)
    if unwanted is not None:
        return f"it contains U+{ord(unwanted):04X}"
    lowered = line.lower()
    markup = next((name for sign, name in _FORBIDDEN if sign in lowered), None)
    if markup is not None:
        return f"it contains {markup}"
    if '"' in _QUOTED_VALUE.sub("", line):
        return "it contains quotes that are not around a selector's value"
    if set("<>") & set(_PLACEHOLDER.sub("", line)):
        return "it contains < or >"
    return None


def _refuse_private(line: str) -> str | None:
    from coreloop.sanitize.find_in_text import find_hits  # importing compiles its rules

    findings = find_hits(_DATE.sub("", line))  # the dates of the evidence are not private data
    if not findings:
        return None
    return f"it may contain private data: {findings[0].kind}"


def _is_plain(char: str) -> bool:
    return char in _SIGNS or (unicodedata.category(char)[0] in "LN" and char not in FILLERS)
