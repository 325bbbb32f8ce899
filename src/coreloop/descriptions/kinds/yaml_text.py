"""Texts in YAML: plain, quoted and block scalars."""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

from coreloop.descriptions.data_texts import DataText, data_texts, placed
from coreloop.descriptions.source import UnprovenError
from coreloop.descriptions.spelled import Spelled, read_spelled, unescape
from coreloop.descriptions.texts import ToolText

_BOM: Final = b"\xef\xbb\xbf"
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
    """All texts of a file, in file order."""
    return data_texts(_documents(raw), "YAML string") if b"description" in raw or b"summary" in raw else []


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
        text = raw.removeprefix(_BOM).decode()
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        events, last, position = [], 0, len(raw) - len(raw.removeprefix(_BOM))
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


def _documents(raw: bytes) -> list[Any]:
    """The documents as dicts, lists and texts; other values, and aliases of lists and mappings, are None."""
    builder = _Builder()
    for event, tag, start, end in _events(raw):
        anchor, kind = getattr(event, "anchor", None), type(event).__name__
        if kind == "AliasEvent":
            builder.alias(event.anchor, start, end, event.start_mark.line + 1)
        elif kind == "ScalarEvent":
            is_text = event.tag or tag in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")
            builder.add(_text(raw, event, start, end) if is_text else None, anchor)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            builder.open({} if kind == "MappingStartEvent" else [], anchor)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            builder.close()
    builder.refuse_shared()
    return builder.documents


def _text(raw: bytes, event: Any, start: int, end: int) -> DataText:
    refused = f"it has the tag {event.tag}" if event.tag else ""
    refused = f"it has the anchor &{event.anchor}" if event.anchor else refused
    if event.style in ("|", ">"):  # without the blank lines below it
        last = start + len(raw[start:end].rstrip())
        end = last + len(raw[last:end].split(b"\n")[0].rstrip(b"\r"))
    return placed(event.value, start, end, event.start_mark.line + 1, refused)


class _Builder:
    """Builds trees from events in order, however deep, and knows which texts aliases share."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self._open: list[tuple[Any, list[str | object], list[int]]] = []
        self._anchors: dict[str, tuple[Any, list[int]]] = {}
        self._texts: list[DataText] = []
        self._shared: list[list[int]] = []

    def open(self, value: Any, anchor: str | None) -> None:
        span = [len(self._texts), len(self._texts)]
        self._anchors[anchor or ""] = value, span
        self._open.append((value, [], span))

    def close(self) -> None:
        value, _, span = self._open.pop()
        span[1] = len(self._texts)
        if isinstance(value, dict) and isinstance(value.get("<<"), DataText):
            value.setdefault("description", value["<<"])
        self._put(value)

    def add(self, value: DataText | None, anchor: str | None) -> None:
        if value is not None:
            self._texts.append(value)
        self._anchors[anchor or ""] = value, [0, 0]
        self._put(value)

    def alias(self, name: str, start: int, end: int, line: int) -> None:
        value, span = self._anchors.get(name, (None, [0, 0]))
        self._shared.append(span)
        refused = f"it is the alias *{name}"
        if isinstance(value, dict) and self._open and self._open[-1][1] == ["<<"]:
            value, refused = value.get("description"), f"the merge key of *{name} brings it"
        self._put(placed(value, start, end, line, refused) if isinstance(value, DataText) else None)

    def refuse_shared(self) -> None:
        """Refuse the texts inside lists and mappings that stand elsewhere, too, as an alias."""
        depths = [0] * (len(self._texts) + 1)
        for start, end in self._shared:
            depths[start] += 1
            depths[end] -= 1
        for text, depth in zip(self._texts, accumulate(depths), strict=False):
            if depth and not text.refused:
                text.refused = "an alias shares it"

    def _put(self, value: Any) -> None:
        if not self._open:
            self.documents.append(value)
            return
        holder, keys, _ = self._open[-1]
        if isinstance(holder, list):
            holder.append(value)
        elif not keys:
            keys.append(value if isinstance(value, str) else object())
        else:
            key = keys.pop()
            if key in holder and isinstance(value, DataText):
                value.refused = f"the key {key} is written more than once"
            holder[key] = value


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
    line = raw[raw.rfind(b"\n", 0, start) + 1 : start].removeprefix(_BOM)
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
    if _BROKEN.match(inside, spelled.cut(value)[0]) and _PLAIN.fullmatch(changed):
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
