"""What a docstring says of parameters, return values and fields: numpydoc, Google style and ``:param x:``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from coreloop.descriptions.sections import DocstringSection, Layout, name_key, scan

Kind = Literal["parameter", "returns", "field"]
MAX_DOCSTRING_CHARS: Final = 20_000
_SECTIONS: Final[dict[str, Kind]] = {
    **dict.fromkeys(map(name_key, ("Parameters", "Args", "Arguments", "Other Parameters")), "parameter"),
    **dict.fromkeys(map(name_key, ("Returns", "Yields")), "returns"),
    **dict.fromkeys(map(name_key, ("Attributes", "Fields")), "field"),
}
# amount (float): In KRW; a, b : int; **extra
_NAMED: Final = re.compile(
    r"(?P<names>\*{0,2}\w+(?:\s*+,\s*\*{0,2}\w+)*)\s*+(?:\((?P<type>[^)]*)\)\s*+)?(?::(?P<rest>.*))?"
)
# :param int name: text
_FIELD: Final = re.compile(
    r"[:@](?P<word>param|parameter|arg|returns?)\b(?P<name>[^:]{0,200}):\s*(?P<text>.*)"
)


@dataclass(frozen=True, slots=True)
class Item:
    """A parameter, a return value or a field, and what is said of it; ``type`` is "" if unsaid."""

    kind: Kind
    name: str
    type: str
    text: str


def read_docstring(docstring: str) -> tuple[list[str], list[Item]]:
    """Return the paragraphs before a docstring's first section, and its items; of a long one, its start."""
    layout = scan(docstring[:MAX_DOCSTRING_CHARS])
    paragraphs = "\n".join(layout.preface()).split("\n\n")
    return [" ".join(part.split()) for part in paragraphs if part.strip()], list(_read_items(layout))


def _read_items(layout: Layout) -> Iterator[Item]:
    for section in layout.sections:
        if kind := _SECTIONS.get(section.key):
            for head, more in _heads(layout, section):
                yield from _items(kind, head, more, is_google=section.style == "google")
    for line in layout.lines:
        if match := _FIELD.fullmatch(line.text.strip()):
            *types, name = match["name"].split() or [""]
            kind = "returns" if match["word"].startswith("return") else "parameter"
            yield Item(kind, name, " ".join(types), match["text"])


def _heads(layout: Layout, section: DocstringSection) -> Iterator[tuple[str, str]]:
    """Yield the lines of a section that are not indented, with what stands indented below them."""
    lines = [line for line in layout.lines[section.body : section.end] if not line.blank]
    base = min((line.indent for line in lines), default=0)
    starts = [place for place, line in enumerate(lines) if line.indent == base]
    for start, end in pairwise([*starts, len(lines)]):
        yield lines[start].text.strip(), " ".join(line.text.strip() for line in lines[start + 1 : end])


def _items(kind: Kind, head: str, more: str, *, is_google: bool) -> Iterator[Item]:
    if kind == "returns":
        before, colon, after = (part.strip() for part in head.partition(":" if is_google else " : "))
        type_ = (before if colon else "") if is_google else after or before
        text = (after or before) if is_google else ""
        yield Item(kind, "", type_, f"{text} {more}".strip())
    elif match := _NAMED.fullmatch(head):
        rest = (match["rest"] or "").strip()
        type_, text = (match["type"] or "", f"{rest} {more}".strip()) if is_google else (rest, more)
        for name in match["names"].split(","):
            yield Item(kind, name.strip(" *"), type_, text)
