"""Audit notes: what people write about a company by hand, and what they wish the engine did better."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from coreloop.errors import WorkspaceError
from coreloop.files import open_regular
from coreloop.knowledge.insights import is_stock_code
from coreloop.text import printable

_TITLE: Final = re.compile(
    r"""
      (?: 엔진 | engine ) [ ]? 개선                                      # 엔진 개선
    | (?: (?: 엔진 | engine ) [ ]? )? 개선 [ ]? (?: 점 | 안 | 제안 | 사항 )  # 엔진 개선점, 개선 제안
    | (?: engine [ ] )? improvements?                                  # Engine Improvements
    | (?: engine [ ] )? improvement [ ] (?: ideas | points | proposals | suggestions )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ITEM: Final = re.compile(
    r"(?:[ivx]+|[a-z]|[가-하])[.)] +", re.IGNORECASE
)  # "II. ", "b) ", "나. "; not "3. "
_ABOUT: Final = re.compile(r"개선|improve", re.IGNORECASE)
_LEVELS: Final = frozenset({"h2", "h3"})


@dataclass(frozen=True, slots=True)
class AuditNotes:
    """The notes of a folder.

    Attributes
    ----------
    bullets : mapping of str to tuple of str
        Stock code to the wishes in its note; notes without one are left out.
    skipped : mapping of str to str
        File name to why it was not read.
    """

    bullets: Mapping[str, tuple[str, ...]]
    skipped: Mapping[str, str]


def improvement_bullets(markdown: str) -> list[str]:
    """The bullets under ``## 엔진 개선``.

    Parameters
    ----------
    markdown : str
        A note. The heading may be of the second or third level, be ``개선점``, ``개선 제안`` or
        ``Improvements`` too, and have a number or an emoji; its section ends at the next heading of its level
        or above.

    Returns
    -------
    list of str
        One line of plain text each, in the order of the text. A nested bullet stands for itself; what is in a
        code block, a quote or a table is no bullet.
    """
    found: list[str] = []
    section: str | None = None
    for node in SyntaxTreeNode(_parser().parse(markdown)).children:
        if node.type == "heading":
            if section is None or node.tag <= section:
                section = node.tag if _is_title(node) else None
        elif section is not None:
            found.extend(_bullets(node))
    return found


def near_title(markdown: str) -> str | None:
    """What looks like the heading of improvements and is not read as one, or None.

    A heading about improvements in other words or of another level, or a line that is not a heading.
    """
    for node in SyntaxTreeNode(_parser().parse(markdown)).walk():
        if node.type not in {"heading", "paragraph"}:
            continue
        text = _plain(node)
        is_near = _ABOUT.search(text) if node.type == "heading" else _TITLE.fullmatch(_bare(text))
        if is_near and not _is_title(node):
            return text
    return None


def read_notes(folder: Path) -> AuditNotes:
    """Read the notes of a folder, ``{stock code}.md``; none where there is no folder.

    Raises
    ------
    WorkspaceError
        The folder cannot be listed.
    """
    bullets: dict[str, tuple[str, ...]] = {}
    skipped: dict[str, str] = {}
    for path in _files(folder):
        if not is_stock_code(path.stem):
            skipped[path.name] = "its name is no stock code"
            continue
        found = _read(path)
        if isinstance(found, str):
            skipped[path.name] = found
        elif found:
            bullets[path.stem] = tuple(found)
    return AuditNotes(bullets, skipped)


def note_codes(folder: Path) -> frozenset[str]:
    """The stock codes that have a note."""
    return frozenset(path.stem for path in _files(folder))


def parse_engine_improvement_bullets(path: Path) -> list[str]:
    """The bullets of one note, of any name; none where it cannot be read."""
    found = _read(path)
    return [] if isinstance(found, str) else found


def parse_all(folder: Path) -> dict[str, list[str]]:
    """Stock code to bullets, of the notes that have any."""
    return {code: list(bullets) for code, bullets in read_notes(folder).bullets.items()}


def _read(path: Path) -> list[str] | str:
    """The bullets of a note, or why it cannot be read."""
    try:
        with TextIOWrapper(open_regular(path), encoding="utf-8-sig") as file:
            text = file.read()
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    found = improvement_bullets(text)
    near = near_title(text) if not found else None
    return f"{printable(near)!r} is not read as a heading; write ## 엔진 개선" if near is not None else found


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".md" and path.is_file())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=folder) from error


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _is_title(heading: SyntaxTreeNode) -> bool:
    return heading.tag in _LEVELS and _TITLE.fullmatch(_bare(_plain(heading))) is not None


def _bare(text: str) -> str:
    """A heading without its number, its emoji and its punctuation."""
    letters = [place for place, char in enumerate(text) if char.isalpha()]
    inner = text[letters[0] : letters[-1] + 1] if letters else ""
    return _ITEM.sub("", inner, count=1) if _ITEM.match(inner) else inner


def _bullets(node: SyntaxTreeNode) -> Iterator[str]:
    """The items of a list and of the lists in it, each with its own text alone."""
    if node.type not in {"bullet_list", "ordered_list"}:
        return
    for item in node.children:
        text = " ".join(filter(None, (_plain(part) for part in item.children if part.type == "paragraph")))
        if text:
            yield text
        for part in item.children:
            yield from _bullets(part)


def _plain(node: SyntaxTreeNode) -> str:
    """The words of a paragraph or a heading, on one line."""
    pieces = (
        " " if part.type in {"softbreak", "hardbreak"} else part.content
        for part in node.walk()
        if part.type in {"text", "code_inline", "softbreak", "hardbreak"}
    )
    return " ".join("".join(pieces).split())
