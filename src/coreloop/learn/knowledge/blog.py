"""Blog posts: the ``ai:`` block of a post's front matter becomes an insight approved by its author."""

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import yaml

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import open_regular
from coreloop.base.project.workspace import open_workspace
from coreloop.base.records import encodable
from coreloop.base.sqlite import transaction
from coreloop.learn.knowledge.front_matter import (
    FrontMatterError,
    Malformed,
    entries,
    line_of,
    read_front_matter,
    scalar,
    scalars,
)
from coreloop.learn.knowledge.insights import (
    Insight,
    InsightSource,
    QualityGate,
    all_insights,
    is_stock_code,
    save_by_evidence,
)
from coreloop.learn.knowledge.store import writing

_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,18}")  # JSON readers keep these exactly
_DECIMAL: Final = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class SkippedPost:
    """A post without an insight, and what it lacks."""

    reason: str


@dataclass(frozen=True, slots=True)
class Post:
    """A file and its parsed content."""

    path: Path
    content: Insight | SkippedPost | Malformed


@dataclass(frozen=True, slots=True)
class Backfill:
    """The changes that a blog makes to the knowledge database.

    Attributes
    ----------
    new, edited, same : tuple of Post
        Posts whose insight is not stored yet, differs from the stored row, or equals it.
    skipped, malformed : tuple of Post
        Posts without an insight, and unreadable posts.
    gone : tuple of Insight
        Rows whose post was deleted or no longer has an insight.
    """

    new: tuple[Post, ...]
    edited: tuple[Post, ...]
    same: tuple[Post, ...]
    skipped: tuple[Post, ...]
    malformed: tuple[Post, ...]
    gone: tuple[Insight, ...]


def read_post(text: str, *, evidence_ref: str) -> Insight | SkippedPost | Malformed:
    """Parse the insight of a post.

    Parameters
    ----------
    text : str
        Content of the file.
    evidence_ref : str
        What the insight refers to: ``blog:PATH``.

    Returns
    -------
    Insight, SkippedPost or Malformed
        The insight, what the post lacks, or the unreadable line and the reason.
    """
    front = read_front_matter(text)
    if isinstance(front, Malformed):
        return front
    try:
        return _read(front, evidence_ref)
    except FrontMatterError as error:
        return error.malformed


def find_posts(root: Path, pattern: str, *, project: Path) -> list[Post]:
    """Read the posts of a blog, in the order of their paths.

    Raises
    ------
    UsageError
        The pattern is not a valid relative glob.
    WorkspaceError
        The folder does not exist.
    """
    if not root.is_dir():
        raise WorkspaceError("is not a folder; pass the blog's folder with --blog-root", path=root)
    try:
        paths = sorted(path for path in root.glob(pattern) if path.is_file())
    except (ValueError, NotImplementedError, IndexError) as error:
        raise UsageError(
            f"--glob {pattern!r} is not a valid pattern; write for example '**/index.md'"
        ) from error
    return [Post(path, _read_file(path, project)) for path in paths]


def compare(posts: Iterable[Post], known: Iterable[Insight], *, root: Path, project: Path) -> Backfill:
    """Compare posts with the stored insights.

    Parameters
    ----------
    posts : iterable of Post
        All posts of the blog.
    known : iterable of Insight
        The stored insights with the source ``blog``.
    root, project : Path
        The blog's folder and the project's folder.
    """
    by_ref = {insight.evidence_ref: insight for insight in known}
    parts: dict[str, list[Post]] = {"new": [], "edited": [], "same": [], "skipped": [], "malformed": []}
    for post in posts:
        parts[_outcome(post, by_ref)].append(post)
    skipped = {reference(InsightSource.BLOG, post.path, project) for post in parts["skipped"]}
    gone = (insight for ref, insight in by_ref.items() if ref in skipped or _is_deleted(ref, root, project))
    return Backfill(**{name: tuple(part) for name, part in parts.items()}, gone=tuple(gone))


def save(connection: sqlite3.Connection, posts: Iterable[Post], *, now: datetime) -> None:
    """Write the insights of the posts in one transaction."""
    with transaction(connection):
        for post in posts:
            if isinstance(post.content, Insight):
                save_by_evidence(connection, post.content, now=now)


def blog_insights(connection: sqlite3.Connection) -> list[Insight]:
    """Read the insights that came from blogs."""
    return all_insights(connection, InsightSource.BLOG)


def upsert_ai_frontmatter_to_insights(
    path: str | os.PathLike[str], *, project: Path | None = None
) -> Insight | SkippedPost | Malformed:
    """Write a post's insight to the project's knowledge database; publishers call this for each post.

    Parameters
    ----------
    path : path-like
        The post.
    project : Path, optional
        The project or a folder in it; the current folder by default.

    Returns
    -------
    Insight, SkippedPost or Malformed
        The insight that was written, or why nothing was written.

    Raises
    ------
    SettingsError
        coreloop.yaml is invalid.
    WorkspaceError
        The database cannot be written.
    """
    workspace = open_workspace(project or Path.cwd())
    post = Post(Path(path), _read_file(Path(path), workspace.root))
    if isinstance(post.content, Insight):
        with writing(workspace.knowledge_file) as connection:
            save(connection, [post], now=datetime.now(UTC))
    return post.content


def reference(source: InsightSource, path: Path, project: Path) -> str:
    """Build an evidence reference: the source and the path relative to the project, with ``/``."""
    absolute, folder = path.resolve(), project.resolve()
    below = absolute.relative_to(folder) if absolute.is_relative_to(folder) else absolute
    return f"{source}:{below.as_posix()}"


def _is_deleted(ref: str, root: Path, project: Path) -> bool:
    """Whether a reference names a deleted post of this blog."""
    post = project.resolve() / ref.partition(":")[2]
    return post.is_relative_to(root.resolve()) and not post.is_file()


def _outcome(post: Post, known: Mapping[str, Insight]) -> str:
    if isinstance(post.content, SkippedPost):
        return "skipped"
    if isinstance(post.content, Malformed):
        return "malformed"
    before = known.get(post.content.evidence_ref)
    if before is None:
        return "new"
    return "same" if replace(before, created_at=None) == post.content else "edited"


def _read_file(path: Path, project: Path) -> Insight | SkippedPost | Malformed:
    try:
        with TextIOWrapper(open_regular(path), encoding="utf-8-sig") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        return Malformed(error.object[: error.start].count(b"\n") + 1, "is not UTF-8")
    except OSError as error:
        return Malformed(1, f"cannot be read ({error.strerror})")
    ref = reference(InsightSource.BLOG, path, project)
    if encodable(ref) != ref:
        return Malformed(1, "its path is not UTF-8; rename it")
    return read_post(text, evidence_ref=ref)


def _read(front: Mapping[str, yaml.Node] | None, evidence_ref: str) -> Insight | SkippedPost:
    if front is None:
        return SkippedPost("no front matter")
    if "ai" not in front:
        return SkippedPost("no ai block")
    ai = entries(front["ai"], "ai")
    code = front.get("stockCode") or front.get("stock_code")
    narrative = scalar(ai.get("verdict"), "verdict") or scalar(ai.get("narrative"), "narrative")
    if not scalar(code, "stockCode"):
        return SkippedPost("no stockCode")
    if not narrative:
        return SkippedPost("no verdict and no narrative")
    return Insight(
        stock_code=_stock_code(code),
        narrative=narrative,
        strengths=scalars(ai.get("strengths"), "strengths"),
        weaknesses=scalars(ai.get("weaknesses"), "weaknesses"),
        sector=scalar(front.get("sector"), "sector"),
        source=InsightSource.BLOG,
        key_metrics=dict(_metrics(ai.get("keyMetrics") or ai.get("key_metrics"))),
        data_as_of=scalar(ai.get("dataAsOf") or ai.get("data_as_of"), "dataAsOf"),
        evidence_ref=evidence_ref,
        quality_gate=QualityGate.HUMAN_APPROVED,
    )


def _stock_code(node: yaml.Node | None) -> str:
    text = scalar(node, "stockCode")
    if node is not None and not is_stock_code(text):
        raise FrontMatterError(f"stockCode {text[:40]!r} is not a stock code", line_of(node))
    return text


def _metrics(node: yaml.Node | None) -> Iterator[tuple[str, float | str]]:
    for name, value in entries(node, "keyMetrics").items() if node is not None else ():
        text = scalar(value, f"keyMetrics {name[:40]!r}")
        if text:
            yield name, _number(text)


def _number(text: str) -> float | str:
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text
