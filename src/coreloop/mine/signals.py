"""What went wrong in a record, as a set of labels; and an error's text without anyone's data."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from coreloop.failures import BITS, MAX_ERROR_CHARS, error_class
from coreloop.mine.fields import CallFields, CountedFields
from coreloop.mine.outcome import is_ok, is_short

_MAX_TEMPLATE_CHARS: Final = 200

# Signs without which there is nothing to replace, what is replaced, and what it becomes. In order: what is
# left of one may look like the next. A quote that nothing closes runs to the end, as logs cut texts anywhere;
# an apostrophe within a word neither opens nor closes, but a Korean particle may follow.
_VALUES: Final = (
    (("@", "://"), re.compile(r"\S*@\S*|\w+:/{2}\S*"), "<address>"),
    (("/", "\\"), re.compile(r"\S*[\\/]\S*"), "<path>"),
    (
        tuple("'\"`“‘「『«"),
        re.compile(
            r"(?<![A-Za-z0-9_])[bfruBFRU]{0,2}'(?:[^']|'(?=[A-Za-z0-9_]))*(?:'|$)|"
            r"\"[^\"]*(?:\"|$)|`[^`]*(?:`|$)|“[^”]*(?:”|$)|‘[^’]*(?:’|$)|"
            r"「[^」]*(?:」|$)|『[^』]*(?:』|$)|«[^»]*(?:»|$)"
        ),
        "<value>",
    ),
)
_NUMBER: Final = re.compile(r"[#\w.-]*\d[\w.-]*")


def signals(fields: CountedFields, calls: Sequence[CallFields], *, min_chunk_len: int | None) -> int:
    """Everything that speaks against a record, as a bit set; `coreloop.failures.names_of` reads it.

    The failure labels of the record, and the classes of its error and of its failed calls' errors.
    ``min_chunk_len`` is as in `coreloop.mine.outcome.outcome`.
    """
    found = BITS["chunk_len_low"] if is_short(fields.chunk_len, min_chunk_len) else 0
    if fields.violation:
        found |= BITS["violation"]
    if fields.error:
        found |= BITS["error"] | BITS[error_class(str(fields.error))]
    if fields.omitted_error is not None:
        found |= BITS["tool_error"] | BITS[error_class(fields.omitted_error)]
    if any(not override.succeeded for override in fields.override_calls or ()):
        found |= BITS["override_failed"]
    for call in calls:
        if call.extreme_flags:
            found |= BITS["extreme_flags"]
        if not is_ok(call):
            found |= BITS["tool_error"]
            found |= 0 if call.error is None else BITS[error_class(str(call.error))]
    return found


def template(text: str) -> str:
    """An error's text without what differs from case to case.

    Numbers, ids, quoted values, paths and addresses are replaced, so that one cause has one text.

    Returns
    -------
    str
        At most 200 characters, one line; applying it again changes nothing.
    """
    return _settled(_without_values(text[:MAX_ERROR_CHARS]))


@lru_cache(maxsize=4096)  # one cause has few texts without values, and comes again every day
def _settled(text: str) -> str:
    found, before = _without_numbers(text), None
    while found != before:  # what one replacement leaves may be a quote, or melt into another letter
        found, before = _without_numbers(_without_values(found)), found
    return found


def _without_values(text: str) -> str:
    folded = " ".join(unicodedata.normalize("NFKC", text).split())
    for signs, pattern, instead in _VALUES:
        for sign in signs:  # any() with a generator would take longer than to look for all of them
            if sign in folded:
                folded = pattern.sub(instead, folded)
                break
    return folded


def _without_numbers(text: str) -> str:
    folded = _NUMBER.sub("<n>", text)
    return folded if len(folded) <= _MAX_TEMPLATE_CHARS else _cut(folded)


def _cut(text: str) -> str:
    """Whole words only: half a placeholder would be another text the next time."""
    return text[:_MAX_TEMPLATE_CHARS].rpartition(" ")[0] or "<value>"
