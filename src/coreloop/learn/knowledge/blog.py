"""Blog posts: the ``ai:`` block of a post's front matter becomes an insight approved by its author."""

import os
import re
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import open_regular
from coreloop.base.project.workspace import open_workspace
from coreloop.base.records import encodable
from coreloop.base.sqlite import transaction
from coreloop.learn.knowledge import store
from coreloop.learn.knowledge.store import Insight

_NUMBER: Final = re.compile(r"[-+]?[0-9]{1,18}(\.[0-9]{1,18})?")  # JSON readers keep these exactly
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})


class NoInsight(NamedTuple):
    """Why a post has no insight; ``line`` is where it cannot be read, None if it only lacks something."""

    reason: str
    line: int | None = None


STATES: Final = ("new", "edited", "same", "skipped", "malformed")
"""Of a post: its insight is not stored yet, differs from the stored row, or equals it; it has none, or is
unreadable."""
Posts = dict[Path, Insight | NoInsight]
Backfill = Mapping[str, Posts]
"""The posts of each state."""


def backfill_blog(
    blog_root: Path, *, project: Path, database: Path, confirm: bool, now: datetime
) -> Backfill:
    """Store the ``ai:`` blocks of blog posts as insights; without ``confirm``, only compare.

    Parameters
    ----------
    blog_root : Path
        The blog's folder; its posts are all Markdown files in it.
    project : Path
        Base folder of the paths in references.
    database : Path
        Need not exist.
    confirm : bool
        Write; otherwise only compare.
    now : datetime
        Timezone-aware.

    Raises
    ------
    WorkspaceError
        The blog's folder does not exist, or the database cannot be read or written.
    """
    if not blog_root.is_dir():
        raise WorkspaceError("is not a folder; pass the blog's folder with --blog-root", path=blog_root)
    backfill: dict[str, Posts] = {state: {} for state in STATES}
    with store.reading(database) if database.exists() else nullcontext() as connection:
        for path in sorted(path for path in blog_root.rglob("*.md") if path.is_file()):
            content = _read_file(path, project)
            backfill[_state(content, connection)][path] = content
    posts = [*backfill["new"].values(), *backfill["edited"].values()]
    changed = [content for content in posts if isinstance(content, Insight)]
    if confirm and changed:
        _save(database, changed, now)
    return backfill


def upsert_ai_frontmatter_to_insights(
    path: str | os.PathLike[str], *, project: Path | None = None
) -> Insight | NoInsight:
    """Write a post's insight to the project's knowledge database; publishers call this for each post.

    Parameters
    ----------
    path : path-like
        The post.
    project : Path, optional
        The project or a folder in it; the current folder by default.

    Returns
    -------
    Insight or NoInsight
        The insight that was written, or why nothing was written.

    Raises
    ------
    SettingsError
        coreloop.yaml is invalid.
    WorkspaceError
        The database cannot be written.
    """
    workspace = open_workspace(project or Path.cwd())
    content = _read_file(Path(path), workspace.root)
    if isinstance(content, Insight):
        _save(workspace.knowledge_file, [content], datetime.now(UTC))
    return content


def read_post(text: str, *, evidence_ref: str) -> Insight | NoInsight:
    """Parse the insight of a post.

    Parameters
    ----------
    text : str
        Content of the file.
    evidence_ref : str
        What the insight refers to: ``blog:PATH``.
    """
    try:
        front = _front_matter(text)
        return NoInsight("no front matter") if front is None else _insight(front, evidence_ref)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", "a character that YAML does not allow")
        return NoInsight(f"is not YAML: {problem}", mark.line + 1 if mark is not None else 1)
    except RecursionError:
        return NoInsight("the front matter is nested too deeply", 1)
    except (TypeError, ValueError) as error:
        return NoInsight(f"{error}", 1)


def _state(content: Insight | NoInsight, connection: sqlite3.Connection | None) -> str:
    if isinstance(content, NoInsight):
        return "skipped" if content.line is None else "malformed"
    return store.compare_stored(connection, content) if connection is not None else "new"


def _save(database: Path, contents: Iterable[Insight], now: datetime) -> None:
    with store.writing(database) as connection, transaction(connection):
        for content in contents:
            store.save_by_evidence(connection, content, now=now)


def _read_file(path: Path, project: Path) -> Insight | NoInsight:
    absolute, folder = path.resolve(), project.resolve()
    below = absolute.relative_to(folder) if absolute.is_relative_to(folder) else absolute
    try:
        with TextIOWrapper(open_regular(path), encoding="utf-8-sig") as file:
            return read_post(file.read(), evidence_ref=f"blog:{below.as_posix()}")
    except UnicodeDecodeError as error:
        return NoInsight("is not UTF-8", error.object[: error.start].count(b"\n") + 1)
    except OSError as error:
        return NoInsight(f"cannot be read ({error.strerror})", 1)


def _front_matter(text: str) -> dict[str, Any] | None:
    """The front matter of a Markdown text, with every scalar as it is written; None if there is none."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != "---":
        return None
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in {"---", "..."}), None)
    if end is None:
        raise ValueError("the front matter has no closing ---")
    # 035720 would be an octal number for other loaders; the first line stands for the fence
    document = "\n".join(["", *lines[1:end]])
    return _mapping(yaml.load(document, Loader=yaml.BaseLoader), "the front matter")


def _insight(front: dict[str, Any], evidence_ref: str) -> Insight | NoInsight:
    if "ai" not in front:
        return NoInsight("no ai block")
    ai = _mapping(front["ai"], "ai")
    code = _text(front.get("stockCode") or front.get("stock_code"), "stockCode")
    narrative = _text(ai.get("verdict"), "verdict") or _text(ai.get("narrative"), "narrative")
    if not code:
        return NoInsight("no stockCode")
    if not narrative:
        return NoInsight("no verdict and no narrative")
    if not store.is_stock_code(code):
        raise ValueError(f"stockCode {code[:40]!r} is not a stock code")
    metrics = _mapping(ai.get("keyMetrics") or ai.get("key_metrics"), "keyMetrics")
    figures = {name: _text(value, f"keyMetrics {name[:40]!r}") for name, value in metrics.items()}
    return Insight(
        stock_code=code,
        narrative=narrative,
        strengths=_texts(ai.get("strengths"), "strengths"),
        weaknesses=_texts(ai.get("weaknesses"), "weaknesses"),
        sector=_text(front.get("sector"), "sector"),
        source="blog",
        key_metrics={encodable(name): _number(text) for name, text in figures.items() if text},
        data_as_of=_text(ai.get("dataAsOf") or ai.get("data_as_of"), "dataAsOf"),
        evidence_ref=evidence_ref,
        quality_gate="human-approved",
    )


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if value is None or (isinstance(value, str) and value in _NULL):
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"{name} must be a mapping")
    return value


def _text(value: Any, name: str) -> str:
    """A scalar on one line, or "" if absent."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a single value")
    return "" if value in _NULL else " ".join(encodable(value).split())


def _texts(value: Any, name: str) -> tuple[str, ...]:
    """A list of scalars; a scalar counts as a list with one item."""
    items = value if isinstance(value, list) else [value]
    return tuple(filter(None, (_text(item, f"an entry of {name}") for item in items)))


def _number(text: str) -> float | str:
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    return float(text) if found[1] else int(text)
