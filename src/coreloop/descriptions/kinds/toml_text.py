"""Texts in TOML: basic and literal strings, of one line or several."""

import re
import tomllib
from typing import Any, Final

from coreloop.base.project.python_source import BOM, UnprovenError
from coreloop.descriptions.schemas import placed, texts_in
from coreloop.descriptions.spelled import ESCAPE, Cut, escaped, line_end, read_spelled, unescape
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
_OPENING: Final = re.compile(r"\A(?:(?:\"{3}|'{3})(?:\r?\n)?|\")")
_PARTS: Final = {"'": re.compile("\r\n"), '"': re.compile(rf"\r\n|\\[ \t]*\r?\n\s*|\\U.{{8}}|{ESCAPE}")}
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
    opening = _OPENING.findall(literal)[0]
    quote = opening.rstrip("\r\n")
    newline = line_end(raw) if len(quote) == 3 else "\\n"
    inside = literal[len(opening) : -len(quote)]
    spelled = read_spelled(inside, _PARTS[quote[0]], lambda its: unescape(its[0], _NAMES))

    def spell_piece(piece: str) -> str:
        return escaped(piece, '"', newline) if quote[0] == '"' else piece.replace("\n", newline)

    return f"{opening}{spelled.replaced(text.value, cut, spell_piece)}{quote}".encode()
