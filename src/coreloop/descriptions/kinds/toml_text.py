"""Texts in TOML: basic and literal strings, of one line or several."""

import re
import tomllib
from typing import Any, Final, cast

from coreloop.descriptions.schemas import Leaf, Tree, texts_in
from coreloop.descriptions.source import BOM, UnprovenError
from coreloop.descriptions.spelled import read_spelled, unescape
from coreloop.descriptions.texts import ToolText

_TOKEN: Final = re.compile(
    rb"""
    \#[^\n]*
    | (?P<string>
        \"{3} (?: [^"\\]++ | \\. | "{1,2}(?!") )* "{3,5}
      | '{3} (?: [^']++ | '{1,2}(?!') )* '{3,5}
      | " (?: [^"\\\n]++ | \\. )* "
      | ' [^'\n]* '
      ) (?! [ \t]* [=.] )
    | " (?: [^"\\\n]++ | \\. )* " | ' [^'\n]* '
    | [=\n\[\]{}]
    """,
    re.VERBOSE | re.DOTALL,
)
"""Comments, strings, keys in quotes, and what says whether a string is a value. In a valid file."""
_PARTS: Final = {
    '"': re.compile(r"\\(?:x..|u.{4}|U.{8}|.)", re.DOTALL),
    '"""': re.compile(r"\A\r?\n|\r\n|\\[ \t]*\r?\n\s*|\\(?:x..|u.{4}|U.{8}|.)", re.DOTALL),
    "'''": re.compile(r"\A\r?\n|\r\n"),
}
_NAMES: Final = dict(zip("btnfre", "\b\t\n\f\r\x1b", strict=True))


def find(raw: bytes) -> list[ToolText]:
    """All texts of a file, in any order."""
    if b"description" not in raw:
        return []
    tree, strings = _loaded(raw), _strings(raw)
    numbered, last = list[bytes](), 0
    for number, (start, end, _) in enumerate(strings):
        numbered += [raw[last:start], b'"%d"' % number]
        last = end
    stack: list[tuple[Any, Any]] = [(tree, _loaded(b"".join([*numbered, raw[last:]])))]
    while stack:
        values, numbers = stack.pop()
        for key, value in values.items() if isinstance(values, dict) else enumerate(values):
            if isinstance(value, str):
                start, end, line = strings[int(numbers[key])]
                is_short = raw[start] == ord("'") and raw[start : start + 3] != b"'''"
                refused = "it is in single quotes, which cannot hold a line break in TOML" if is_short else ""
                values[key] = Leaf(value, start, end, line, "TOML string", refused)
            elif isinstance(value, dict | list):
                stack.append((value, numbers[key]))
            else:
                values[key] = None
    return list(texts_in(cast(Tree, tree)))


def _strings(raw: bytes) -> list[tuple[int, int, int]]:
    """Start, end and line of each string that is a value."""
    strings, is_value, depth, line, last = list[tuple[int, int, int]](), False, 0, 1, 0
    for token in _TOKEN.finditer(raw):
        first = token[0][:1]
        if first == b"=":
            is_value = True
        elif first == b"\n":
            is_value = is_value and depth > 0
        elif first in (b"[", b"{"):
            depth += is_value  # not those of a table's header
        elif first in (b"]", b"}"):
            depth -= is_value
        elif token["string"] and is_value:
            line += raw.count(b"\n", last, token.start())
            last = token.start()
            strings.append((*token.span(), line))
    return strings


def _loaded(raw: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(raw.removeprefix(BOM).decode())
    except (ValueError, RecursionError) as error:
        raise UnprovenError(f"the file is not readable as TOML: {error}") from error


def parsed(raw: bytes) -> list[object]:
    """The file's keys and values in order."""
    flat, stack = list[object](), list[Any]([_loaded(raw)])
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            flat.append(("table", *value))
            stack += value.values()
        elif isinstance(value, list):
            flat.append(("array", len(value)))
            stack += value
        else:
            flat.append(value)
    return flat


def spell(raw: bytes, text: ToolText, value: str) -> bytes:
    """The literal of another value; what both values share is spelled as it was."""
    literal = raw[text.start : text.end].decode()
    newline = "\r\n" if b"\r\n" in raw else "\n"
    quote = literal[:3] if literal[:3] in _PARTS else '"'
    spelled = read_spelled(literal[len(quote) : -len(quote)], _PARTS[quote], _meaning)
    if spelled.value != text.value:
        raise UnprovenError("its spelling in TOML is not understood")

    def spell_piece(piece: str) -> str:
        if quote == "'''":
            return piece.replace("\n", newline)
        escaped = piece.replace("\\", "\\\\").replace('"', '\\"')
        return escaped.replace("\n", newline if len(quote) == 3 else "\\n")

    return f"{quote}{spelled.replaced(value, spell_piece)}{quote}".encode()


def _meaning(part: re.Match[str]) -> str:
    spelled = part.group()
    if spelled[0] == "\\":
        return "" if spelled[1].isspace() else unescape(spelled, _NAMES)
    return "\n" if part.start() else ""
