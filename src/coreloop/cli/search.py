"""``dartlab-coreloop search``."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.cli.emit import emit, fields_of
from coreloop.cli.options import json_option

if TYPE_CHECKING:
    from coreloop.answer.search.index.snippet import Snippet
    from coreloop.answer.search.source import Source


@click.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Most results.")
@json_option
def command(query: str, limit: int, as_json: bool) -> None:
    """Search the project's files, as they are now."""
    from coreloop.answer.search.index.refresh import search_files
    from coreloop.answer.search.provider import SearchLimits

    limits = SearchLimits(max_results=limit)
    found = search_files(open_workspace(Path.cwd()), query, limits, now=datetime.now(UTC))
    facts = [_facts(source, query) for source in found.sources]
    emit(facts, as_json=as_json, text=lambda _: show_sources(found.sources, query))
    if found.note:
        click.echo(found.note, err=True)


_SPACES: Final = re.compile(r"\s+")
_NOTHING: Final = "nothing found; use other words, or name more files: dartlab-coreloop index PATH"


def show_sources(sources: "Sequence[Source]", query: str) -> None:
    """Print sources with their snippets, best first."""
    from coreloop.answer.search.index.snippet import cut_snippet

    for source in sources:
        title = source.title if source.title != source.location else ""
        day = f"  ({source.published})" if source.published else ""
        click.echo(f"{place(source)}  {printable(title)}{day}".rstrip())
        click.echo(f"  {_marked(cut_snippet(source, query))}")
    if not sources:
        click.echo(_NOTHING, err=True)


def place(source: "Source") -> str:
    """Return ``docs/index.md:12``, or ``report.pdf, page 3``."""
    location = printable(source.location)
    if source.line is None:
        return location
    return f"{location}, page {source.line}" if source.type == "pdf" else f"{location}:{source.line}"


def _marked(snippet: "Snippet") -> str:
    """The snippet on one line; its marks are bold on a terminal."""
    parts, done = [], 0
    for start, end in snippet.marks:
        parts += [
            _one_line(snippet.text[done:start]),
            click.style(_one_line(snippet.text[start:end]), bold=True),
        ]
        done = end
    return "".join([*parts, _one_line(snippet.text[done:])])


def _one_line(text: str) -> str:
    return printable(_SPACES.sub(" ", text))


def _facts(source: "Source", query: str) -> dict[str, object]:
    from coreloop.answer.search.index.snippet import cut_snippet

    names = ("title", "location", "line", "type", "published", "start", "text", "hash")
    return {
        **fields_of(source, *names),
        "indexed_at": source.retrieved_at,
        "snippet": cut_snippet(source, query),
    }
