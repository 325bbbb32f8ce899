"""Texts in JSON: string literals with their bytes, found by one pass over a file that the parser accepts."""

import json
import re
from dataclasses import replace
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Final, cast

from coreloop.descriptions.schemas import Leaf, Tree, texts_in
from coreloop.descriptions.source import BOM, UnprovenError
from coreloop.descriptions.spelled import Cut, read_spelled
from coreloop.descriptions.texts import ToolText

# Of a valid file: each key, text, bracket and other value. Bytes are read as Latin-1, so that offsets are
# those of bytes; no byte of a longer character in UTF-8 is in ASCII.
_TOKEN: Final = re.compile(
    r"""(?P<string>"(?:[^"\\]++|\\.)*+")(?P<colon>[ \t\r\n]*:)?  # "a\"b" and "key":
    | (?P<open>[\[{])
    | (?P<close>[\]}])
    | (?P<other>[^ \t\r\n,:\[\]{}"]++)""",
    re.VERBOSE,
)
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\."
)
_WIDE_ESCAPE: Final = re.compile(rb"\\u(?!00[0-7])[0-9a-fA-F]{4}")


def parsed(raw: bytes) -> object:
    """The file with objects as tuples of pairs, and numbers as written; `UnprovenError` if unreadable."""
    try:
        text = raw.removeprefix(BOM).decode()
        return json.loads(text, object_pairs_hook=tuple, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        has_comment = error.doc.startswith(("//", "/*"), error.pos)
        reason = "JSON with comments is not edited" if has_comment else error.msg
        raise UnprovenError(f"the file is not JSON at line {error.lineno}: {reason}") from error
    except (ValueError, RecursionError) as error:
        why = "its encoding is not UTF-8" if isinstance(error, ValueError) else "it is nested too deeply"
        raise UnprovenError(f"the file cannot be read: {why}") from error


def find(raw: bytes) -> list[ToolText]:
    """The descriptions of tools and arguments in a file."""
    parsed(raw)
    return list(texts_in(_tree(raw)))


def _tree(raw: bytes) -> Tree:
    root = list[Tree]()
    stack: list[dict[str, Tree] | list[Tree]] = [root]
    key, line, read = "", 1, 0
    begin = len(raw) - len(raw.removeprefix(BOM))
    for match in _TOKEN.finditer(raw.decode("latin-1"), begin):
        if match["close"]:
            stack.pop()
            continue
        node: Tree = None
        if match["string"]:
            start, end = match.span("string")
            value = _value(raw[start:end])
            if match["colon"]:
                key = value
                continue
            line += raw.count(b"\n", read, start)
            read = start
            node = Leaf(value, start, end, line, "JSON string")
        elif match["open"]:
            node = {} if match["open"] == "{" else []
        else:
            node = cast(Tree, json.loads(match["other"], parse_int=float))
        above = stack[-1]
        if isinstance(above, list):
            above.append(node)
        else:
            is_twice = key in above and isinstance(node, Leaf)
            above[key] = replace(cast(Leaf, node), refused=f"{key} is written twice") if is_twice else node
        if isinstance(node, dict | list):
            stack.append(node)
    return root[0]


def _value(literal: bytes) -> str:
    return cast(str, scanstring(literal.decode(), 1)[0])


def spell(raw: bytes, text: ToolText, cut: Cut) -> bytes:
    """The literal with a cut: its escapes stay, new ones are as in the literal or else in the file."""
    literal = raw[text.start : text.end].decode()
    escapes = _escapes(literal.encode()) or _escapes(raw) or False
    inside = read_spelled(literal[1:-1], _ESCAPE, lambda escape: _value(f'"{escape.group()}"'.encode()))
    spelled = inside.replaced(text.value, cut, lambda piece: json.dumps(piece, ensure_ascii=escapes)[1:-1])
    return f'"{spelled}"'.encode()


def _escapes(raw: bytes) -> bool | None:
    """Whether characters outside ASCII are escaped; None if there are none."""
    if not raw.removeprefix(BOM).isascii():
        return False
    return True if _WIDE_ESCAPE.search(raw) else None
