"""Texts in YAML: plain, quoted and block scalars."""

import re
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from coreloop.base.project.python_source import BOM, UnprovenError
from coreloop.descriptions.schemas import Leaf, Tree, texts_in
from coreloop.descriptions.spelled import ESCAPE, Cut, escaped, line_end, read_spelled, unescape
from coreloop.descriptions.texts import ToolText

_TEXT: Final = "tag:yaml.org,2002:str"
_FOLD: Final = r"(?:(?<![ \t])[ \t]+)?(?:\r?\n[ \t]*)+"
_BROKEN: Final = re.compile(r"\\n\\\r?\n")
"""Line breaks as a plain scalar gets them: escaped, the next line below, so that they can be taken out."""
_DOUBLE: Final = re.compile(rf"\\\r?\n[ \t]*|\\U.{{8}}|{ESCAPE}|{_FOLD}")
_SINGLE: Final = re.compile(rf"''|{_FOLD}")
_NAMES: Final = dict(zip("0abt\tnvfre_NLP", "\0\a\b\t\t\n\v\f\r\x1b\xa0\x85\u2028\u2029", strict=True))


def find(raw: bytes) -> list[ToolText]:
    """All texts of a file, in any order."""
    file = _File(raw)
    return [text for root in _roots(raw) for text in texts_in(file.tree(root))]


def parsed(raw: bytes) -> list[tuple[object, ...]]:
    """The tags and values of the file's nodes; of an alias, the number of its node."""
    flat, numbers, stack = list[tuple[object, ...]](), dict[int, int](), list(_roots(raw))
    while stack:
        node = stack.pop()
        if id(node) in numbers:
            flat.append(("alias", numbers[id(node)]))
            continue
        numbers[id(node)] = len(numbers)
        is_text = isinstance(node.value, str)
        flat.append((node.tag, node.value if is_text else len(node.value)))
        for part in () if is_text else node.value:
            stack += part if isinstance(part, tuple) else [part]
    return flat


@lru_cache(maxsize=4)
def _roots(raw: bytes) -> list[Any]:
    """The nodes of the documents."""
    import yaml

    try:
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(raw.removeprefix(BOM).decode())
        roots = list[Any]()
        while loader.check_node():
            roots.append(loader.get_node())
    except (ValueError, yaml.YAMLError) as error:
        raise UnprovenError(f"the file is not readable as YAML: {str(error).splitlines()[0]}") from error
    return roots


class _File:
    """One file: where its characters are, and the trees of its lists and mappings."""

    def __init__(self, raw: bytes) -> None:
        self._raw, self._trees = raw, dict[int, Tree]()
        starts = [number for number, byte in enumerate(raw) if byte >> 6 != 0b10]
        self._places = [*starts[raw.startswith(BOM) :], len(raw)]

    def tree(self, node: Any, refused: str = "") -> Tree:
        """What a node says; None for other values than texts, and for an alias of a list or mapping."""
        start = self._places[node.start_mark.index]
        sign = self._raw[start : start + 1]
        if sign in (b"&", b"!"):
            written = self._raw[start : self._places[node.end_mark.index]].split()[0].decode()
            refused = f"the anchor {written} shares it" if sign == b"&" else f"it has the tag {written}"
        if isinstance(node.value, str):
            if node.tag != _TEXT and sign != b"!":
                return None
            end = self._places[node.end_mark.index]
            if node.style in ("|", ">"):  # without the blank lines below it
                end = start + len(self._raw[start:end].rstrip())
            return Leaf(node.value, start, end, node.start_mark.line + 1, "YAML string", refused)
        if id(node) in self._trees:
            return None
        self._trees[id(node)] = None  # may be inside itself
        if node.value and not isinstance(node.value[0], tuple):
            tree: Tree = [self.tree(item, refused) for item in node.value]
        else:
            tree = self._mapping(node, refused)
        self._trees[id(node)] = tree
        return tree

    def _mapping(self, node: Any, refused: str) -> dict[str, Tree]:
        tree = dict[str, Tree]()
        for number, (key, value) in enumerate(node.value):
            name, item = key.value if isinstance(key.value, str) else f"\0{number}", self.tree(value, refused)
            if name in tree and isinstance(item, Leaf):
                item = replace(item, refused=f"{name} is written twice")
            tree[name] = item
        return tree


def spell(raw: bytes, text: ToolText, cut: Cut) -> bytes:
    """The literal with a cut; the rest is spelled as it was."""
    literal, newline = raw[text.start : text.end].decode(), line_end(raw)
    if literal[0] in "|>":
        return _block(literal, text.value, cut, newline).encode()
    below = newline + _indent(raw, text.start, literal)
    return (_single if literal[0] == "'" else _double)(literal, text.value, cut, below).encode()


def _meaning(part: re.Match[str]) -> str:
    if not part[0].isspace():
        return unescape(part[0], _NAMES)
    breaks = part[0].count("\n")
    return "\n" * (breaks - 1 if part.start() else breaks) or " "


def _indent(raw: bytes, start: int, literal: str) -> str:
    """White space of a line that continues a scalar: as the last one has it, or deeper than its key."""
    last = re.search(r"\n([ \t]*)[^\n]*\Z", literal)
    if last:
        return last[1]
    line = raw[raw.rfind(b"\n", 0, start) + 1 : start].removeprefix(BOM)
    return " " * (len(line) - len(line.lstrip(b" -")) + 2)


def _lines(piece: str, below: str, more: int) -> str:
    """Text on lines of the file, with more line breaks where a single one is a space."""
    if more and re.search(r"[ \t]\n|\n[ \t]", piece):
        raise UnprovenError("folded text in YAML cannot hold white space beside a line break")
    newline = below.rstrip(" \t")
    return re.sub(r"\n+", lambda run: newline * (len(run[0]) - 1 + more) + below, piece)


def _single(literal: str, old: str, cut: Cut, below: str) -> str:
    single = read_spelled(literal[1:-1], _SINGLE, _meaning)
    inside = single.replaced(old, cut, lambda its: _lines(its, below, 1).replace("'", "''"))
    return f"'{inside}'"


def _double(literal: str, old: str, cut: Cut, below: str) -> str:
    """In double quotes; without quotes again when the lines that were put into a plain scalar are out."""
    is_plain = literal[0] != '"'
    inside = escaped(literal, '"', "\n") if is_plain else literal[1:-1]
    breaks = "\\" + below if is_plain or _BROKEN.search(inside) else ""

    def escape(piece: str) -> str:
        return re.sub(r"\n+", lambda run: "\\n" * len(run[0]) + breaks, escaped(piece, '"', "\n"))

    changed = read_spelled(inside, _DOUBLE, _meaning).replaced(old, cut, escape)
    if breaks and not _BROKEN.search(changed):
        plain = re.sub(r"\\(.)", r"\1", changed)
        with suppress(UnprovenError):
            if parsed(f"k: {plain}".encode()) == parsed(f'k: "{changed}"'.encode()):
                return plain
    return f'"{changed}"'


def _block(literal: str, old: str, cut: Cut, newline: str) -> str:
    """A block; blank lines at its end are outside of the literal, and stay."""
    header, core = re.split(r"(?=[\r\n])", literal, maxsplit=1)[0], old.rstrip("\n")
    first, inside = literal[len(header) :].lstrip("\r\n"), literal[len(header) :]
    pad = len(first) - len(first.lstrip(" ")) - len(core.lstrip("\n")) + len(core.lstrip("\n "))
    step, is_folded = rf"(?:\r?\n {{0,{pad}}})", literal[0] == ">"
    parts = re.compile(f"{step}+" if is_folded else step)
    spelled = read_spelled(inside, parts, _meaning if is_folded else lambda _: "\n")
    below, moved = newline + " " * pad, (cut[0] + 1, cut[1] + 1, cut[2])
    return header + spelled.replaced(f"\n{core}", moved, lambda piece: _lines(piece, below, is_folded))
