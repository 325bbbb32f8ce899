"""Texts in YAML: plain, quoted and block scalars."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, cast

from coreloop.descriptions.schemas import Leaf, Tree, texts_in
from coreloop.descriptions.source import BOM, UnprovenError
from coreloop.descriptions.spelled import Spelled, cut, read_spelled, unescape
from coreloop.descriptions.texts import ToolText

_WHAT: Final = "YAML string"
_STARTS: Final[dict[str, Callable[[], Tree]]] = {"MappingStartEvent": dict, "SequenceStartEvent": list}
_FOLD: Final = r"[ \t]*(?:\r?\n[ \t]*)+"
_BROKEN: Final = re.compile(r"(?:\\n)+\\\r?\n[ \t]*")
"""Line breaks as a plain scalar gets them: escaped, the next line below, so that they can be taken out."""
_DOUBLE: Final = re.compile(
    rf"{_BROKEN.pattern}|\\\r?\n[ \t]*|\\(?:x..|u.{{4}}|U.{{8}}|.)|{_FOLD}", re.DOTALL
)
_SINGLE: Final = re.compile(rf"''|{_FOLD}")
_NAMES: Final = dict(zip("0abt\tnvfre_NLP", "\0\a\b\t\t\n\v\f\r\x1b\xa0\x85\u2028\u2029", strict=True))
_ESCAPED: Final = re.compile(r"\\(.)")
_PLAIN: Final = re.compile(r"(?:[^\\]|\\[\\\"])*")


def find(raw: bytes) -> list[ToolText]:
    """All texts of a file, in any order."""
    if b"description" not in raw:
        return []
    return [text for document in _documents(raw) for text in texts_in(document)]


def parsed(raw: bytes) -> list[tuple[object, ...]]:
    """The file's events in order: their kinds, tags, anchors and values."""
    return [
        (type(event).__name__, getattr(event, "anchor", None), tag, getattr(event, "value", None))
        for event, tag, _, _ in _events(raw)
    ]


@lru_cache(maxsize=4)
def _events(raw: bytes) -> list[tuple[Any, str | None, int, int]]:
    """Events, each with its tag and the bytes where it starts and ends."""
    import yaml

    try:
        text = raw.removeprefix(BOM).decode()
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        events, last, position = [], 0, len(raw) - len(raw.removeprefix(BOM))
        while loader.check_event():
            event, places = loader.get_event(), list[int]()
            for index in (event.start_mark.index, event.end_mark.index):
                position += len(text[last:index].encode()) if index >= last else 0
                last = max(last, index)
                places.append(position)
            tag = getattr(event, "tag", None)
            if isinstance(event, yaml.ScalarEvent) and tag is None:
                tag = loader.resolve(yaml.ScalarNode, event.value, event.implicit)
            events.append((event, tag, *places))
    except (ValueError, yaml.YAMLError) as error:
        raise UnprovenError(f"the file is not readable as YAML: {str(error).splitlines()[0]}") from error
    return events


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read, the key whose value comes next, and the anchor around it."""

    node: dict[str, Tree] | list[Tree]
    anchor: str | None
    key: str | None = None

    def add(self, node: Tree, number: int) -> None:
        if isinstance(self.node, list):
            self.node.append(node)
        elif self.key is None:
            self.key = node.value if isinstance(node, Leaf) else f"\0{number}"
        else:
            if self.key in self.node and isinstance(node, Leaf):
                node = replace(node, refused=f"{self.key} is written twice")
            self.node[self.key] = node
            self.key = None


def _documents(raw: bytes) -> list[Tree]:
    """The documents; other values than texts, and aliases of lists and mappings, are None."""
    documents, anchors = list[Tree](), dict[str, Tree]()
    stack = [_Open(documents, None)]
    for number, (event, tag, start, end) in enumerate(_events(raw)):
        kind, above, node = type(event).__name__, stack[-1], cast(Tree, None)
        if kind == "AliasEvent":
            node = _aliased(anchors.get(event.anchor), above.key == "<<", event, start, end)
        elif kind == "ScalarEvent":
            node = _leaf(raw, event, tag, start, end, above.anchor)
        elif kind in _STARTS:
            node = _STARTS[kind]()
        else:
            if kind in ("MappingEndEvent", "SequenceEndEvent"):
                _inherit(stack.pop().node)
            continue
        if kind != "AliasEvent" and event.anchor:
            anchors[event.anchor] = node
        above.add(node, number)
        if isinstance(node, dict | list):
            stack.append(_Open(node, event.anchor or above.anchor))
    return documents


def _leaf(raw: bytes, event: Any, tag: str | None, start: int, end: int, anchor: str | None) -> Leaf | None:
    if not event.tag and tag not in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"):
        return None
    refused = f"it has the tag {event.tag}" if event.tag else ""
    if event.anchor or anchor:
        refused = f"the anchor &{event.anchor or anchor} shares it"
    if event.style in ("|", ">"):  # without the blank lines below it
        last = start + len(raw[start:end].rstrip())
        end = last + len(raw[last:end].split(b"\n")[0].rstrip(b"\r"))
    return Leaf(event.value, start, end, event.start_mark.line + 1, _WHAT, refused)


def _aliased(node: Tree, is_merged: bool, event: Any, start: int, end: int) -> Leaf | None:
    """The text of an alias; of a merge key, the description that it brings."""
    refused = f"it is the alias *{event.anchor}"
    if is_merged and isinstance(node, dict):
        node, refused = node.get("description"), f"the merge key of *{event.anchor} brings it"
    if not isinstance(node, Leaf):
        return None
    return Leaf(node.value, start, end, event.start_mark.line + 1, _WHAT, refused)


def _inherit(node: dict[str, Tree] | list[Tree]) -> None:
    if isinstance(node, dict) and isinstance(node.get("<<"), Leaf):
        node.setdefault("description", node["<<"])


def spell(raw: bytes, text: ToolText, value: str) -> bytes:
    """The literal of another value; what both values share is spelled as it was."""
    literal = raw[text.start : text.end].decode()
    newline = "\r\n" if b"\r\n" in raw else "\n"
    if literal[0] in "|>":
        return _block(literal, text.value, value, newline).encode()
    below = newline + _indent(raw, text.start, literal)
    if literal[0] == "'":
        single = _read(literal[1:-1], _SINGLE, text.value)
        inside = single.replaced(value, lambda piece: _folded(piece, below).replace("'", "''"))
        return f"'{inside}'".encode()
    if literal[0] == '"':
        return _double(literal[1:-1], text.value, value, below).encode()
    quoted = literal.replace("\\", "\\\\").replace('"', '\\"')
    double = _read(quoted, _DOUBLE, text.value)
    return f'"{double.replaced(value, lambda piece: _escaped(piece, below))}"'.encode()


def _read(
    inside: str, parts: re.Pattern[str], value: str, meaning: Callable[[re.Match[str]], str] | None = None
) -> Spelled:
    spelled = read_spelled(inside, parts, meaning or _meaning)
    if spelled.value != value:
        raise UnprovenError("its spelling in YAML is not understood")
    return spelled


def _meaning(part: re.Match[str]) -> str:
    spelled = part.group()
    if spelled == "''":
        return "'"
    if _BROKEN.fullmatch(spelled):
        return "\n" * spelled.count("\\n")
    if spelled[0] == "\\":
        is_break = spelled[1] in "\r\n"
        return "" if is_break else unescape(spelled, _NAMES)
    breaks = spelled.count("\n")
    return "\n" * (breaks - 1 if part.start() else breaks) or " "


def _indent(raw: bytes, start: int, literal: str) -> str:
    """White space of a line that continues a scalar: as the last one has it, or deeper than its key."""
    last = re.search(r"\n([ \t]*)[^\n]*\Z", literal)
    if last:
        return last[1]
    line = raw[raw.rfind(b"\n", 0, start) + 1 : start].removeprefix(BOM)
    return " " * (len(line) - len(line.lstrip(b" -")) + 2)


def _escaped(piece: str, below: str) -> str:
    """Text in double quotes; each line on its own line of the file if there is white space for it."""
    escaped = piece.replace("\\", "\\\\").replace('"', '\\"')
    return re.sub(r"\n+", lambda run: "\\n" * len(run[0]) + (below and "\\" + below), escaped)


def _folded(piece: str, below: str) -> str:
    """Text where a single line break is a space."""
    if re.search(r"[ \t]\n|\n[ \t]", piece):
        raise UnprovenError("folded text in YAML cannot hold white space beside a line break")
    newline = below.rstrip(" \t")
    return re.sub(r"\n+", lambda run: newline * len(run[0]) + below, piece)


def _double(inside: str, old: str, value: str, below: str) -> str:
    """In double quotes; plain again if the lines that are taken out were put into a plain scalar."""
    spelled = _read(inside, _DOUBLE, old)
    is_broken = _BROKEN.search(inside) is not None
    changed = spelled.replaced(value, lambda piece: _escaped(piece, below if is_broken else ""))
    if _BROKEN.match(inside, cut(old, value, spelled.offset)[0]) and _PLAIN.fullmatch(changed):
        plain = _ESCAPED.sub(r"\1", changed)
        with suppress(UnprovenError):
            if parsed(f"k: {plain}".encode()) == parsed(f'k: "{changed}"'.encode()):
                return plain
    return f'"{changed}"'


def _block(literal: str, old: str, value: str, newline: str) -> str:
    """A block; blank lines at its end are outside of the literal, and stay."""
    header, core = re.split(r"(?=[\r\n])", literal, maxsplit=1)[0], old.rstrip("\n")
    tail, inside = old[len(core) :], literal[len(header) :]
    first = inside.lstrip("\r\n")
    pad = " " * (len(first) - len(first.lstrip(" ")) - len(core.lstrip("\n")) + len(core.lstrip("\n ")))
    if value != value.rstrip("\n") + tail:
        raise UnprovenError("the blank lines at the end of the block would change")
    step, below = rf"\r?\n {{0,{len(pad)}}}", newline + pad
    if literal[0] == ">":
        spelled = _read(inside, re.compile(f"(?:{step})+"), "\n" + core)
        return header + spelled.replaced("\n" + value.rstrip("\n"), lambda piece: _folded(piece, below))
    spelled = _read(inside, re.compile(step), "\n" + core, lambda _: "\n")
    return header + spelled.replaced("\n" + value.rstrip("\n"), lambda piece: _lines(piece, newline, pad))


def _lines(piece: str, newline: str, pad: str) -> str:
    first, *others = piece.split("\n")
    return first + "".join(newline + (pad + line if line else "") for line in others)
