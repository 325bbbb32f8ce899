"""Texts in JSON: string literals with their bytes, found by one pass over a file that the parser accepts."""

import json
import re
from collections import Counter
from typing import Any, Final

from coreloop.base.project.python_source import BOM, UnprovenError
from coreloop.descriptions.schemas import placed, texts_in
from coreloop.descriptions.spelled import ESCAPE, Cut, read_spelled
from coreloop.descriptions.texts import ToolText

_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"[ \t\r\n]*:|(?P<value>"(?:[^"\\]++|\\.)*+")')
"""Of a valid file: keys, and texts."""
_ESCAPE: Final = re.compile(ESCAPE)
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
    except ValueError as error:
        raise UnprovenError("the file cannot be read: its encoding is not UTF-8") from error


def find(raw: bytes) -> list[ToolText]:
    """The descriptions of tools and arguments in a file."""
    parsed(raw)
    twice = set[Any]()

    def last(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        tree = dict(pairs)
        counts = Counter(key for key, _ in pairs) if len(tree) < len(pairs) else {}
        twice.update(tree[key] for key, count in counts.items() if count > 1 and isinstance(tree[key], str))
        return tree

    def refuse(_: bytes, number: str) -> str:
        return "its key is written twice" if number in twice else ""

    def loads(text: bytes) -> Any:
        return json.loads(text.removeprefix(BOM), parse_int=float, object_pairs_hook=last)

    return list(texts_in(placed(raw, _TOKEN, loads, "JSON string", refuse)))


def spell(raw: bytes, text: ToolText, cut: Cut) -> bytes:
    """The literal with a cut: its escapes stay; characters outside ASCII are escaped as the file has them."""
    literal = raw[text.start : text.end].decode()
    escapes = raw.removeprefix(BOM).isascii() and _WIDE_ESCAPE.search(raw) is not None
    inside = read_spelled(literal[1:-1], _ESCAPE, lambda escape: str(json.loads(f'"{escape.group()}"')))
    spelled = inside.replaced(text.value, cut, lambda piece: json.dumps(piece, ensure_ascii=escapes)[1:-1])
    return f'"{spelled}"'.encode()
