"""A record's failure labels as a bit set; and an error's text without personal data."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from coreloop.base.error_classes import BITS, MAX_ERROR_CHARS, error_class
from coreloop.observe.reading.fields import CallFields, CountedFields
from coreloop.observe.reading.outcome import worked

_MAX_TEMPLATE_CHARS: Final = 200

# Signs to look for, the pattern to replace if a sign occurs, the replacement. The order matters: the rest of
# a match may match the next pattern. An unclosed quote runs to the end, since logs cut texts anywhere; an
# apostrophe within a word neither opens nor closes a quote, but a Korean particle may follow a quote.
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
# Matches "Error: ", "Error executing tool find: " and "Error invoking tool 'f' with kwargs {…} with error: ";
# not "ValueError: ", which says what is wrong.
_WRAPPER: Final = re.compile(
    r"""
    (?: (?:tool[ ]?)? (?:error|exception|failed)
      | (?:error|failure) [ ] (?:executing|calling|invoking|running) [ ] (?:the[ ])? (?:tool|function)
        [ ] \S{1,100} (?: [ ] with [ ] kwargs [ ] .{0,1000}? [ ] with [ ] error )?
      | failed [ ] to [ ] (?:execute|call|invoke|run) [ ] (?:the[ ])? (?:tool|function) [ ] \S{1,100}
    ) : [ ] (?=\S)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MAX_WRAPPERS: Final = 5
_NUMBER: Final = re.compile(r"[#\w.-]*\d[\w.-]*")


def signals(fields: CountedFields, calls: Sequence[CallFields]) -> int:
    """The labels and error classes of a record as a bit set, for `coreloop.base.error_classes.names_of`.

    The classes are those of its error and of its failed calls' errors. A short answer, which depends on a
    setting, is left to the queries.
    """
    bits = 0
    if fields.violation:
        bits |= BITS["violation"]
    if fields.error:
        bits |= BITS["error"] | BITS[error_class(str(fields.error))]
    if fields.omitted_error is not None:
        bits |= BITS["tool_error"] | BITS[error_class(fields.omitted_error)]
    if any(not override.succeeded for override in fields.override_calls or ()):
        bits |= BITS["override_failed"]
    for call in calls:
        if call.extreme_flags:
            bits |= BITS["extreme_flags"]
        if worked(call) is False:
            bits |= BITS["tool_error"]
            bits |= 0 if call.error is None else BITS[error_class(str(call.error))]
    return bits


def template(text: str) -> str:
    """An error's text without the parts that vary from case to case.

    Numbers, ids, quoted values, paths and addresses are replaced, so that a cause always has the same text.
    Of a long one, what frameworks put before an error goes first, so that the cause itself is not cut off.

    Returns
    -------
    str
        At most 200 characters, one line; applying it again changes nothing.
    """
    return _repeat_until_stable(_without_values(text[:MAX_ERROR_CHARS]))


@lru_cache(maxsize=4096)  # a cause has few texts without values, and recurs every day
def _repeat_until_stable(text: str) -> str:
    current, before = _without_numbers(text), None
    while current != before:  # a replacement may leave a quote, or letters that NFKC combines
        current, before = _without_numbers(_without_values(current)), current
    return current


def _without_values(text: str) -> str:
    folded = " ".join(unicodedata.normalize("NFKC", text).split())
    for markers, pattern, instead in _VALUES:
        for sign in markers:  # any() with a generator is slower
            if sign in folded:
                folded = pattern.sub(instead, folded)
                break
    return folded


def unwrapped(text: str) -> str:
    """An error's text without what frameworks put before it: ``Error executing tool find: ``."""
    for _ in range(_MAX_WRAPPERS):
        wrapper = _WRAPPER.match(text)
        if wrapper is None:
            break
        text = text[wrapper.end() :]
    return text


def _without_numbers(text: str) -> str:
    folded = _NUMBER.sub("<n>", text)
    return folded if len(folded) <= _MAX_TEMPLATE_CHARS else _cut(folded)


def _cut(text: str) -> str:
    """Cut between words: half a placeholder would change again the next time."""
    text = unwrapped(text)
    return (
        text
        if len(text) <= _MAX_TEMPLATE_CHARS
        else text[:_MAX_TEMPLATE_CHARS].rpartition(" ")[0] or "<value>"
    )
