"""``dartlab-coreloop search``."""

from datetime import UTC, datetime
from pathlib import Path

import click

from coreloop.base.messages import say
from coreloop.base.project.workspace import open_workspace
from coreloop.cli.options import json_option


@click.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Most results.")
@json_option
def command(query: str, limit: int, as_json: bool) -> None:
    """Search the project's files, as they are now."""
    from coreloop.answer.search.index.fresh import search_files
    from coreloop.answer.search.provider import SearchLimits
    from coreloop.cli.show_search import show_sources

    limits = SearchLimits(max_results=limit)
    found = search_files(open_workspace(Path.cwd()), query, limits, now=datetime.now(UTC))
    show_sources(found.sources, query, as_json=as_json)
    if found.note:
        click.echo(say(found.note), err=True)
