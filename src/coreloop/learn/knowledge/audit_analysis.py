"""Audit notes: hand-written notes about companies, with suggested improvements of the engine."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import open_regular
from coreloop.learn.knowledge.insights import is_stock_code

_TITLE: Final = re.compile(
    r"""[\W\d]*
    (?: (?: 엔진 | engine ) [ ]? 개선
      | (?: (?: 엔진 | engine ) [ ]? )? 개선 [ ]? (?: 점 | 안 | 제안 | 사항 )  # 엔진 개선점, 개선 제안
      | (?: engine [ ] )? improvements? )
    \W*""",
    re.IGNORECASE | re.VERBOSE,
)
_LEVELS: Final = frozenset({"h2", "h3"})


@dataclass(frozen=True, slots=True)
class AuditNotes:
    """The notes of a folder.

    Attributes
    ----------
    bullets : mapping of str to tuple of str
        Stock code -> the suggestions in its note; notes without any are omitted.
    skipped : mapping of str to str
        File name -> why it was skipped.
    """

    bullets: Mapping[str, tuple[str, ...]]
    skipped: Mapping[str, str]


def improvement_bullets(markdown: str) -> list[str]:
    """Extract the bullets under ``## 엔진 개선``.

    Parameters
    ----------
    markdown : str
        A note. The heading has level 2 or 3, and may also read ``개선점``, ``개선 제안`` or ``Improvements``.
        Its section ends at the next heading of the same or a higher level.

    Returns
    -------
    list of str
        One line of plain text each, in document order. Nested bullets are separate items; code blocks, quotes
        and tables are ignored.
    """
    bullets: list[str] = []
    section: str | None = None
    for node in SyntaxTreeNode(_parser().parse(markdown)).children:
        if node.type == "heading":
            if section is None or node.tag <= section:
                is_title = node.tag in _LEVELS and _TITLE.fullmatch(_plain(node))
                section = node.tag if is_title else None
        elif section is not None:
            bullets.extend(_bullets(node))
    return bullets


def read_notes(folder: Path) -> AuditNotes:
    """Read the notes of a folder, ``{stock code}.md``; an absent folder has no notes.

    Raises
    ------
    WorkspaceError
        The folder cannot be listed.
    """
    bullets: dict[str, tuple[str, ...]] = {}
    skipped: dict[str, str] = {}
    for path in _files(folder):
        if not is_stock_code(path.stem):
            skipped[path.name] = "its name is not a stock code"
            continue
        result = _read(path)
        if isinstance(result, str):
            skipped[path.name] = result
        elif result:
            bullets[path.stem] = tuple(result)
    return AuditNotes(bullets, skipped)


def note_codes(folder: Path) -> frozenset[str]:
    """List the stock codes that have a note."""
    return frozenset(path.stem for path in _files(folder))


def parse_engine_improvement_bullets(path: Path) -> list[str]:
    """Read the bullets of a note with any name; an unreadable note has none."""
    result = _read(path)
    return [] if isinstance(result, str) else result


def parse_all(folder: Path) -> dict[str, list[str]]:
    """Read the notes of a folder: stock code -> bullets, without notes that have none."""
    return {code: list(bullets) for code, bullets in read_notes(folder).bullets.items()}


def _read(path: Path) -> list[str] | str:
    """Read the bullets of a note, or return why it is skipped."""
    try:
        with TextIOWrapper(open_regular(path), encoding="utf-8-sig") as file:
            return improvement_bullets(file.read())
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except OSError as error:
        return f"it cannot be read ({error.strerror})"


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


def _bullets(node: SyntaxTreeNode) -> Iterator[str]:
    """Yield the items of a list and of its nested lists, each with only its own text."""
    if node.type not in {"bullet_list", "ordered_list"}:
        return
    for item in node.children:
        text = " ".join(filter(None, (_plain(part) for part in item.children if part.type == "paragraph")))
        if text:
            yield text
        for part in item.children:
            yield from _bullets(part)


def _plain(node: SyntaxTreeNode) -> str:
    """The text of a paragraph or heading on one line."""
    pieces = (
        " " if part.type in {"softbreak", "hardbreak"} else part.content
        for part in node.walk()
        if part.type in {"text", "code_inline", "softbreak", "hardbreak"}
    )
    return " ".join("".join(pieces).split())
