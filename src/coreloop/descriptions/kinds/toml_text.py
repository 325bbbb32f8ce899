"""Texts in TOML: basic and literal strings, of one line or several."""

import re
import tomllib
from typing import Any, Final

from coreloop.descriptions.schemas import placed, texts_in
from coreloop.descriptions.source import BOM, UnprovenError
from coreloop.descriptions.spelled import Cut, read_spelled, unescape
from coreloop.descriptions.texts import ToolText

_TOKEN: Final = re.compile(
    rb"""
    \#[^\n]*
    | ^[ \t]*\[\[?(?: [\w .\t-] | "(?: [^"\\\n]++ | \\. )*" | '[^'\n]*' )*+\]\]?[ \t]*+(?=\#|\r?$)  # [a."b"]
    | (?P<value>
        \"{3} (?: [^"\\]++ | \\. | "{1,2}(?!") )* "{3,5}
      | '{3} (?: [^']++ | '{1,2}(?!') )* '{3,5}
      | " (?: [^"\\\n]++ | \\. )* "
      | ' [^'\n]* '
      ) (?! [ \t]* [=.] )
    | " (?: [^"\\\n]++ | \\. )* " | ' [^'\n]* '
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""Comments, headers of tables, strings that are values, and keys in quotes. In a valid file."""
_PARTS: Final = {
    '"': re.compile(r"\\(?:x..|u.{4}|U.{8}|.)", re.DOTALL),
    '"""': re.compile(r"\A\r?\n|\r\n|\\[ \t]*\r?\n\s*|\\(?:x..|u.{4}|U.{8}|.)", re.DOTALL),
    "'''": re.compile(r"\A\r?\n|\r\n"),
}
_LONG_KEY: Final = re.compile(rb"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.){300}")
_NAMES: Final = dict(zip("btnfre", "\b\t\n\f\r\x1b", strict=True))


def find(raw: bytes) -> list[ToolText]:
    """All texts of a file, in any order."""
    return list(texts_in(placed(raw, _TOKEN, parsed, "TOML string", _refuse)))


def _refuse(literal: bytes, _: str) -> str:
    is_short = literal.startswith(b"'") and not literal.startswith(b"'''")
    return "it is in single quotes, which cannot hold a line break in TOML" if is_short else ""


def parsed(raw: bytes) -> dict[str, Any]:
    """The file's tables, keys and values."""
    if _LONG_KEY.search(raw):
        raise UnprovenError("the file has a key of hundreds of parts")
    try:
        return tomllib.loads(raw.removeprefix(BOM).decode())
    except (ValueError, RecursionError) as error:
        raise UnprovenError(f"the file is not readable as TOML: {error}") from error


def spell(raw: bytes, text: ToolText, cut: Cut) -> bytes:
    """The literal with a cut; the rest is spelled as it was."""
    literal = raw[text.start : text.end].decode()
    newline = "\r\n" if b"\r\n" in raw else "\n"
    quote = literal[:3] if literal[:3] in _PARTS else '"'
    spelled = read_spelled(literal[len(quote) : -len(quote)], _PARTS[quote], _meaning)

    def spell_piece(piece: str) -> str:
        if quote == "'''":
            return piece.replace("\n", newline)
        escaped = piece.replace("\\", "\\\\").replace('"', '\\"')
        return escaped.replace("\n", newline if len(quote) == 3 else "\\n")

    return f"{quote}{spelled.replaced(text.value, cut, spell_piece)}{quote}".encode()


def _meaning(part: re.Match[str]) -> str:
    spelled = part.group()
    if spelled[0] == "\\":
        return "" if spelled[1].isspace() else unescape(spelled, _NAMES)
    return "\n" if part.start() else ""
