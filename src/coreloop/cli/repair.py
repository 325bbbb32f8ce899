"""``dartlab-coreloop repair``."""

from datetime import UTC, datetime

import click

from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.open_deps import project_deps
from coreloop.cli.options import json_option


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Show what answers lack, and decide what only a person may apply."""


@command.command()
@json_option
def gates(as_json: bool) -> None:
    """Measure how much is indexed and documented; a fall since the last day becomes jobs.

    Run it once a day, for example by cron.
    """
    from coreloop.answer.repair.gates import read_gates
    from coreloop.cli.show_repair import show_gates

    with project_deps() as deps:
        show_gates(read_gates(deps, now=datetime.now(UTC)), as_json=as_json)


@command.command()
@click.option("--close", "gap_id", metavar="ID", help="Close a gap, after you wrote what it lacks.")
@click.option("--all", "show_all", is_flag=True, help="Show closed gaps, too.")
@json_option
def gaps(gap_id: str | None, *, show_all: bool, as_json: bool) -> None:
    """List the questions that repairs could not answer, those that came back most often first."""
    from coreloop.cli.show_repair import show_gaps

    with project_deps() as deps:
        if gap_id is not None:
            deps.tables.close_gap(gap_id, by="person", now=datetime.now(UTC))
        listed = deps.tables.gaps(open_only=not show_all)
        show_gaps(listed, as_json=as_json, reasons=deps.tables.reasons)


@command.command()
@click.option("--all", "show_all", is_flag=True, help="Show decided ones, too.")
@json_option
def suggestions(*, show_all: bool, as_json: bool) -> None:
    """List the links between code and schemas that repairs suggest."""
    from coreloop.cli.show_repair import show_suggestions

    with project_deps() as deps:
        listed = deps.tables.suggestions(status=None if show_all else "pending")
    show_suggestions(listed, as_json=as_json)


@command.command()
@click.argument("suggestion_id", metavar="ID")
@json_option
def apply(suggestion_id: str, as_json: bool) -> None:
    """Apply a suggestion: answers use its link from now on. No file changes.

    Exits with 1 if the index no longer has the symbol or the part of the schema.
    """
    from coreloop.answer.repair.suggestions import apply_suggestion
    from coreloop.cli.show_repair import show_suggestions

    with project_deps() as deps:
        decided = apply_suggestion(deps.workspace, deps.tables, suggestion_id, now=datetime.now(UTC))
    show_suggestions([decided], as_json=as_json)
    if decided.status == "failed":
        click.echo("the index no longer has both ends of the link; nothing was applied", err=True)
        click.get_current_context().exit(1)


@command.command()
@click.argument("suggestion_id", metavar="ID")
@json_option
def reject(suggestion_id: str, as_json: bool) -> None:
    """Reject a suggestion; it is not made again."""
    from coreloop.answer.repair.suggestions import reject_suggestion
    from coreloop.cli.show_repair import show_suggestions

    with project_deps() as deps:
        decided = reject_suggestion(deps.tables, suggestion_id, now=datetime.now(UTC))
    show_suggestions([decided], as_json=as_json)
