"""Audit notes: hand-written notes about companies, with suggested improvements of the engine."""

import re
from io import TextIOWrapper
from itertools import pairwise
from pathlib import Path
from typing import Final

from coreloop.base.files import file_errors, open_regular
from coreloop.learn.knowledge.store import is_stock_code

_TITLE: Final = re.compile(
    r"""[\W\d]*
    (?: (?: 엔진 | engine ) [ ]? 개선
      | (?: (?: 엔진 | engine ) [ ]? )? 개선 [ ]? (?: 점 | 안 | 제안 | 사항 )  # 엔진 개선점, 개선 제안
      | (?: engine [ ] )? improvements? )
    \W*""",
    re.IGNORECASE | re.VERBOSE,
)
_LEVELS: Final = frozenset({"h2", "h3"})


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
        One line each, in document order. Nested bullets are separate items; code blocks and quotes are
        ignored.
    """
    from markdown_it import MarkdownIt  # 15 ms

    bullets: list[str] = []
    section = ""
    parser = MarkdownIt("commonmark").disable(["blockquote"])
    for opening, inline in pairwise(parser.parse(markdown)):
        text = " ".join(inline.content.split())
        if opening.type == "heading_open" and not opening.level:
            if not section or opening.tag <= section:
                section = opening.tag if opening.tag in _LEVELS and _TITLE.fullmatch(text) else ""
        elif opening.type == "paragraph_open" and opening.level and section and text:
            bullets.append(text)
    return bullets


def read_notes(folder: Path) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Read the notes of a folder, ``{stock code}.md``; an absent folder has no notes.

    Returns
    -------
    dict of str to tuple of str
        Stock code -> the suggestions in its note; notes without any are omitted.
    dict of str to str
        File name -> why it was skipped.

    Raises
    ------
    WorkspaceError
        The folder cannot be listed.
    """
    bullets: dict[str, tuple[str, ...]] = {}
    skipped: dict[str, str] = {}
    for path in note_files(folder):
        if not is_stock_code(path.stem):
            skipped[path.name] = "its name is not a stock code"
            continue
        result = _read(path)
        if isinstance(result, str):
            skipped[path.name] = result
        elif result:
            bullets[path.stem] = tuple(result)
    return bullets, skipped


def parse_engine_improvement_bullets(path: Path) -> list[str]:
    """Read the bullets of a note with any name; an unreadable note has none."""
    result = _read(path)
    return [] if isinstance(result, str) else result


def parse_all(folder: Path) -> dict[str, list[str]]:
    """Read the notes of a folder: stock code -> bullets, without notes that have none."""
    return {code: list(bullets) for code, bullets in read_notes(folder)[0].items()}


def _read(path: Path) -> list[str] | str:
    """Read the bullets of a note, or return why it is skipped."""
    try:
        with TextIOWrapper(open_regular(path), encoding="utf-8-sig") as file:
            return improvement_bullets(file.read())
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except OSError as error:
        return f"it cannot be read ({error.strerror})"


def note_files(folder: Path) -> list[Path]:
    """List the notes of a folder, also those whose name is no stock code; an absent folder has none."""
    if not folder.is_dir():
        return []
    with file_errors("cannot be read ({strerror})", folder):
        return sorted(path for path in folder.iterdir() if path.suffix == ".md" and path.is_file())
