"""An error's text without what varies from case to case: the cause that all of its calls share."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from coreloop.observe.reading.own_values import QUOTED, QUOTES, folded, without_own_values

_MAX_TEMPLATE_CHARS: Final = 200

# Signs to look for, the pattern to replace if a sign occurs, the replacement. The order matters: the rest of
# a match may match the next pattern, and a quoted path may have spaces.
_VALUES: Final = (
    (QUOTES, QUOTED, "<value>"),
    (("@", "://"), re.compile(r"\S*@\S*|\w+:/{2}\S*"), "<address>"),
    (("/", "\\"), re.compile(r"\S*[\\/]\S*"), "<path>"),
)
# Matches "Error: ", "ToolRetryError: ", "Error executing tool find: ", "MCP error <n>: " and "Error invoking
# tool 'f' with kwargs {…} with error: "; not "ValueError: ", which says what is wrong.
_WRAPPER: Final = re.compile(
    r"""
    (?: (?:tool[ ]?)? (?:(?:retry|execution)[ ]?)? (?:error|exception|failed) | modelretry
      | mcp[ ]?error (?:[ ]\S{1,9})? | encountered[ ]error | execution[ ]error[ ]in[ ]\S{1,100}
      | (?:an[ ])? (?:error|failure) [ ] (?:occurred[ ])? (?:(?:while|when|in)[ ])?
        (?:executing|calling|invoking|running) [ ] (?:the[ ])? (?:tool|function) [ ] \S{1,100}
        (?: [ ]with[ ]kwargs[ ] .{0,1000}? [ ]with[ ]error | [ ]with[ ]arguments[ ]{ .{0,1000}? } )?
      | failed [ ] to [ ] (?:execute|call|invoke|run) [ ] (?:the[ ])? (?:tool|function) [ ] \S{1,100}
        (?: [ ]with[ ]parameters[ ] .{0,1000}? [.][ ]error )?
      | an[ ]error[ ]occurred[ ]while[ ] .{1,40}? [.][ ]please[ ]try[ ]again .{0,20}? [.][ ]error
      | (?:i|it[ ]seems[ ]we)[ ]encountered[ ]an[ ] .{1,70}? [.][ ]this[ ]was[ ]the[ ]error
    ) : \s+ (?=\S)
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_ADVICE: Final = re.compile(
    r"(?<!\s)\s++(?:please )?fix (?:your mistakes|the errors?)(?: and try again)?\.?\s*\Z", re.IGNORECASE
)
_MAX_WRAPPERS: Final = 5
# Matches "#12", "v1.2", "1,234,567" and "1 234 567".
_NUMBER: Final = re.compile(r"[#\w.-]*\d[\w.-]*(?:[,'’]\d[\w.-]*)*(?: \d{3}(?!\w))*")


def template(text: str, args: Mapping[str, Any] | None = None) -> str:
    """An error's text without the parts that vary from case to case.

    Values of the call's arguments are replaced first, then numbers, ids, quoted values, paths and addresses,
    so that a cause always has the same text. What frameworks put before and after an error goes.

    Parameters
    ----------
    text : str
        As logged.
    args : mapping, optional
        The call's arguments, decoded or as `msgspec.Raw`.

    Returns
    -------
    str
        One line, at most 200 characters without arguments; applying it again changes nothing. A word of an
        argument's value is ``<name:abcd>``, with four letters of the word's hash, by which
        `coreloop.learn.causes` sees words that belong to the text.
    """
    masked = without_own_values(text, args or {})
    return masked.filled(general(masked.text))


def general(text: str) -> str:
    """The text of `Masked` without numbers, quoted values, paths and addresses."""
    return _repeat_until_stable(_without_values(text))


@lru_cache(maxsize=4096)  # a cause has few texts without values, and recurs every day
def _repeat_until_stable(text: str) -> str:
    current, before = _without_numbers(text), None
    while current != before:  # a replacement may leave a quote, or letters that NFKC combines
        current, before = _without_numbers(_without_values(current)), current
    return current


def _without_values(text: str) -> str:
    text = folded(text)
    for markers, pattern, instead in _VALUES:
        for sign in markers:  # any() with a generator is slower
            if sign in text:
                text = pattern.sub(instead, text)
                break
    return text


def unwrapped(text: str) -> str:
    """An error's text without what frameworks put around it, such as ``Error executing tool find: ``."""
    text = _ADVICE.sub("", text)
    for _ in range(_MAX_WRAPPERS):
        wrapper = _WRAPPER.match(text)
        if wrapper is None:
            break
        text = text[wrapper.end() :]
    return text


def _without_numbers(text: str) -> str:
    return cut(_NUMBER.sub("<n>", text))


def cut(text: str) -> str:
    """The text unwrapped, and cut between words: half a placeholder would change again the next time."""
    text = unwrapped(text)
    if len(text) <= _MAX_TEMPLATE_CHARS:
        return text
    return text[:_MAX_TEMPLATE_CHARS].rpartition(" ")[0] or "<value>"
