"""``dartlab-coreloop search``."""

from datetime import UTC, datetime
from pathlib import Path

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.options import json_option


@click.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Most results.")
@json_option
def command(query: str, limit: int, as_json: bool) -> None:
    """Search the files that `index` has read."""
    from coreloop.answer.search.index.lookup import search_index
    from coreloop.answer.search.provider import SearchLimits
    from coreloop.cli.show_search import show_sources

    file = open_workspace(Path.cwd()).index_file
    sources = search_index(file, query, SearchLimits(max_results=limit), now=datetime.now(UTC))
    show_sources(sources, query, as_json=as_json)
