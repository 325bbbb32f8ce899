"""What ``index`` and ``search`` print."""

from collections.abc import Sequence
from typing import Final

import click
import orjson

from coreloop.answer.search.index.changes import IndexReport
from coreloop.answer.search.index.snippet import Snippet, cut_snippet
from coreloop.answer.search.source import Source
from coreloop.base.messages import Phrase, number_of, say
from coreloop.base.text import printable

_NOTHING: Final = "nothing found; use other words, or name more files: dartlab-coreloop index PATH"
_KINDS: Final = ("added", "changed", "moved", "removed", "unchanged")


def show_index_report(report: IndexReport, *, as_json: bool) -> None:
    """Print how many files were added, changed, moved, removed and skipped."""
    counts = {kind: report.counts[kind] for kind in _KINDS}
    if as_json:
        skipped = [
            {"reason": reason, "files": count, "first": report.first_skipped[reason]}
            for reason, count in report.skipped.most_common()
        ]
        click.echo(orjson.dumps({**counts, "skipped": skipped}, option=orjson.OPT_INDENT_2))
        return
    parts = (say("{count:,} {kind}", count=count, kind=Phrase(kind)) for kind, count in counts.items())
    click.echo(", ".join(parts))
    for reason, count in report.skipped.most_common():
        first = printable(report.first_skipped[reason])
        click.echo(
            say(
                "  {files} skipped: {reason}, first {first}",
                files=number_of(count, "file"),
                reason=Phrase(reason),
                first=first,
            )
        )


def show_sources(sources: Sequence[Source], query: str, *, as_json: bool) -> None:
    """Print sources with their snippets, best first."""
    if as_json:
        click.echo(orjson.dumps([_facts(source, query) for source in sources], option=orjson.OPT_INDENT_2))
        return
    for source in sources:
        title = source.title if source.title != source.location else ""
        day = f"  ({source.published})" if source.published else ""
        click.echo(f"{place(source)}  {printable(title)}{day}".rstrip())
        click.echo(f"  {_marked(cut_snippet(source, query))}")
    if not sources:
        click.echo(say(_NOTHING), err=True)


def place(source: Source) -> str:
    """Return ``docs/index.md:12``, or ``report.pdf, page 3``."""
    location = printable(source.location)
    if source.line is None:
        return location
    return (
        say("{location}, page {line}", location=location, line=source.line)
        if source.type == "pdf"
        else f"{location}:{source.line}"
    )


def _marked(snippet: Snippet) -> str:
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
    return printable(text.replace("\n", " ").replace("\t", " "))


def _facts(source: Source, query: str) -> dict[str, object]:
    return {
        "title": source.title,
        "location": source.location,
        "line": source.line,
        "type": source.type,
        "published": source.published,
        "start": source.start,
        "text": source.text,
        "hash": source.hash,
        "indexed_at": source.retrieved_at,
        "snippet": cut_snippet(source, query),
    }
