"""Markdown: a section per heading. Lines decide, not a parser: offsets stay those of the file."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from coreloop.answer.search.extract.decode import decode_text
from coreloop.answer.search.extract.document import MAX_SECTIONS, Document, Section, Unreadable

SEPARATOR: Final = " › "
_LINE: Final = re.compile(r"[^\n]*\n?")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(\S[^\n]*)")
_COMMENT: Final = re.compile(
    r"""^\ {0,3}(?P<fence>`{3,}|~{3,}) .*? (?: ^\ {0,3}(?P=fence) | \Z)  # code keeps its comments
      | `[^`\n]*`
      | (?P<comment> <!-- .*? --> )""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_MAX_HEADING: Final = 200
_FRONT_TITLE: Final = re.compile(r"\A---\n(?:[^\n]*\n){0,50}?title:[ \t]*+([^\n]++)\n")


def extract_markdown(data: bytes) -> Document | Unreadable:
    """Read a Markdown file; the title is of its front matter or its first heading."""
    text = decode_text(data)
    if isinstance(text, Unreadable):
        return text
    text = _without_comments(text)
    sections = tuple(_sections(text))
    front = _FRONT_TITLE.match(text)
    title = front[1].strip(" \t\"'") if front else next((s.heading for s in sections if s.heading), "")
    return Document(
        type="markdown", text=text, title=title.split(SEPARATOR)[0][:_MAX_HEADING], sections=sections
    )


def _without_comments(text: str) -> str:
    """Replace comments by white space, so that offsets and lines stay."""
    end = text.rfind("-->") + len("-->")
    if end < len("-->"):
        return text
    return _COMMENT.sub(lambda match: re.sub(r"\S", " ", match[0]) if match["comment"] else match[0], text)


def _sections(text: str) -> Iterator[Section]:
    start, line, path = 0, 1, [""] * 6
    for offset, number, level, heading in islice(_headings(text), MAX_SECTIONS):
        if offset > start:
            yield Section(start, offset, line, _joined(path))
        start, line = offset, number
        path = [*path[: level - 1], heading, *[""] * (6 - level)]
    if start < len(text):
        yield Section(start, len(text), line, _joined(path))


def _headings(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Offset, line, level and text of each heading outside of fenced code."""
    fence = ""
    for number, match in enumerate(_LINE.finditer(text), start=1):
        opened = _FENCE.match(match[0])
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
        heading = None if fence or opened else _HEADING.match(match[0])
        if heading:
            shown = heading[2].rstrip().rstrip("#").rstrip()
            yield match.start(), number, len(heading[1]), shown[:_MAX_HEADING]


def _joined(path: list[str]) -> str:
    return SEPARATOR.join(filter(None, path))
