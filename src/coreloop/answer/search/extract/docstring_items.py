"""What a docstring says of parameters, return values and fields: numpydoc, Google style and ``:param x:``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from coreloop.descriptions.sections import DocLine, DocstringSection, Layout, name_key, scan

Kind = Literal["parameter", "returns", "field"]
MAX_DOCSTRING_CHARS: Final = 20_000
_SECTIONS: Final[dict[str, Kind]] = {
    **dict.fromkeys(map(name_key, ("Parameters", "Args", "Arguments", "Other Parameters")), "parameter"),
    **dict.fromkeys(map(name_key, ("Returns", "Yields")), "returns"),
    **dict.fromkeys(map(name_key, ("Attributes", "Fields")), "field"),
}
_GOOGLE: Final = re.compile(
    r"(?P<names>\*{0,2}\w+(?:\s*+,\s*\*{0,2}\w+)*)\s*+(?:\((?P<type>[^)]*)\))?\s*:\s*(?P<text>.*)"
)
# name (int): text
_FIELD: Final = re.compile(
    r"[:@](?P<word>param|parameter|arg|returns?)\b(?P<name>[^:]{0,200}):\s*(?P<text>.*)"
)
# :param int name: text


@dataclass(frozen=True, slots=True)
class Item:
    """A parameter, a return value or a field, and what is said of it; ``type`` is "" if unsaid."""

    kind: Kind
    name: str
    type: str
    text: str


@dataclass(frozen=True, slots=True)
class Described:
    """What a docstring says: the paragraphs before its first section, and its items, in their order."""

    paragraphs: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()


def read_docstring(docstring: str) -> Described:
    """Read a docstring; of one that is very long, its beginning."""
    layout = scan(docstring[:MAX_DOCSTRING_CHARS])
    text = "\n".join(layout.preface())
    paragraphs = tuple(" ".join(part.split()) for part in text.split("\n\n") if part.strip())
    return Described(paragraphs, tuple(_read_items(layout)))


def _read_items(layout: Layout) -> Iterator[Item]:
    for section in layout.sections:
        if kind := _SECTIONS.get(section.key):
            yield from _items(layout, section, kind)
    for line in layout.lines:
        if match := _FIELD.fullmatch(line.text.strip()):
            words = match["name"].split() or [""]
            is_return = match["word"].startswith("return")
            yield Item(
                "returns" if is_return else "parameter", words[-1], " ".join(words[:-1]), match["text"]
            )


def _items(layout: Layout, section: DocstringSection, kind: Kind) -> Iterator[Item]:
    lines = [line for line in layout.lines[section.body : section.end] if not line.blank]
    base = min((line.indent for line in lines), default=0)
    starts = [place for place, line in enumerate(lines) if line.indent == base]
    for start, end in pairwise([*starts, len(lines)]):
        head, more = lines[start].text.strip(), _joined(lines[start + 1 : end])
        if section.style == "google":
            yield from _google(head, more, kind)
        else:
            yield from _numpydoc(head, more, kind)


def _numpydoc(head: str, text: str, kind: Kind) -> Iterator[Item]:
    names, colon, type_ = (part.strip() for part in head.partition(" : "))
    if kind == "returns":
        yield Item(kind, names if colon else "", type_ if colon else names, text)
        return
    for name in names.split(","):
        yield Item(kind, name.strip(" *:"), type_, text)


def _google(head: str, more: str, kind: Kind) -> Iterator[Item]:
    match = _GOOGLE.fullmatch(head)
    if kind == "returns":
        type_, colon, text = head.partition(":")
        yield Item(kind, "", type_.strip() if colon else "", f"{text if colon else head} {more}".strip())
    elif match:
        for name in match["names"].split(","):
            yield Item(kind, name.strip(" *"), match["type"] or "", f"{match['text']} {more}".strip())


def _joined(lines: Sequence[DocLine]) -> str:
    return " ".join(line.text.strip() for line in lines)
