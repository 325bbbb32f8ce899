"""``dartlab-coreloop knowledge show|export|prune|cleanup|restore``."""

from datetime import UTC, datetime
from pathlib import Path

import click
import orjson

from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.options import FILE, FOLDER, confirm_option, db_option, json_option
from coreloop.errors import UsageError
from coreloop.project.workspace import open_workspace
from coreloop.text import counted


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Query and clean the knowledge database."""


@command.command()
@click.argument("stock", required=False)
@click.option("--sector", metavar="NAME", help="Every company whose sector has this in its name.")
@click.option("--playbook", "intent", metavar="INTENT", help="What works for a kind of question.")
@db_option
@json_option
def show(stock: str | None, sector: str | None, intent: str | None, db: Path | None, as_json: bool) -> None:
    """Show what is known about STOCK: blog before audit before live, never what has expired."""
    from coreloop.cli.show_knowledge import show_bullets, show_insights
    from coreloop.knowledge.run import look_up_bullets, look_up_insights, project_database

    if sum(one is not None for one in (stock, sector, intent)) != 1:
        raise UsageError("say one thing to show: a stock code, --sector NAME or --playbook INTENT")
    database = project_database(open_workspace(Path.cwd()), db)
    if intent is not None:
        show_bullets(look_up_bullets(database, intent), as_json=as_json)
        return
    found = look_up_insights(database, stock_code=stock, sector=sector, now=datetime.now(UTC))
    show_insights(found, as_json=as_json)


@command.command()
@click.option("--out", type=FOLDER, required=True, help="Where insights.json and playbook.json go.")
@db_option
@json_option
def export(out: Path, db: Path | None, as_json: bool) -> None:
    """Write insights and playbook as JSON, to be shared; executions stay here."""
    from coreloop.cli.show_knowledge import shown
    from coreloop.knowledge.run import export_knowledge, project_database

    written = export_knowledge(project_database(open_workspace(Path.cwd()), db), out)
    if as_json:
        click.echo(orjson.dumps({shown(path): rows for path, rows in written.items()}))
        return
    for path, rows in written.items():
        click.echo(f"wrote {shown(path)}: {counted(rows, 'row')}")


@command.command()
@confirm_option
@db_option
@json_option
def prune(db: Path | None, confirm: bool, as_json: bool) -> None:
    """Remove the playbook's bullets that fail more often than they help (monthly)."""
    from coreloop.cli.show_knowledge import show_pruned, warn_of_readers
    from coreloop.knowledge.run import project_database, prune_playbook

    database = project_database(open_workspace(Path.cwd()), db)
    weak = prune_playbook(database, confirm=confirm)
    show_pruned(weak, confirm=confirm, as_json=as_json)
    if confirm and weak:
        warn_of_readers(database)


@command.command()
@confirm_option
@db_option
@json_option
def cleanup(db: Path | None, confirm: bool, as_json: bool) -> None:
    """Remove unverified insights, and replace questions with hashes.

    Without --confirm it counts what each rule would do. With it, a snapshot of the state before goes to
    data/ai/knowledge/_archive first. Exits 1 when removed text may still be in the file's free space.
    """
    from coreloop.cli.show_knowledge import show_cleaned, show_planned, warn_of_readers
    from coreloop.knowledge.cleanup import Planned
    from coreloop.knowledge.run import clean_up, project_database, project_notes

    workspace = open_workspace(Path.cwd())
    database, notes = project_database(workspace, db), project_notes(workspace)
    if notes.missing is not None:
        said = f"{notes.missing} is missing: every audit insight counts as one whose note is gone"
        click.echo(said, err=True)
    outcome = clean_up(workspace, database, notes, confirm=confirm, now=datetime.now(UTC))
    if isinstance(outcome, Planned):
        show_planned(outcome, database, as_json=as_json)
        return
    show_cleaned(outcome, database, as_json=as_json)
    warn_of_readers(database)
    if outcome.residue is not None:
        click.get_current_context().exit(1)


@command.command()
@click.argument("archive", type=FILE)
@db_option
@json_option
def restore(archive: Path, db: Path | None, as_json: bool) -> None:
    """Restore the database from ARCHIVE; its present state is archived first."""
    from coreloop.cli.show_knowledge import shown, warn_of_readers
    from coreloop.knowledge.archive import restore as bring_back
    from coreloop.knowledge.run import project_database

    workspace = open_workspace(Path.cwd())
    database = project_database(workspace, db)
    before = bring_back(archive, database, workspace.archive_dir, now=datetime.now(UTC))
    warn_of_readers(database)
    if as_json:
        facts = {"database": shown(database), "archive": shown(archive), "before": before and shown(before)}
        click.echo(orjson.dumps(facts))
        return
    click.echo(f"{shown(database)} is again what {shown(archive)} holds")
    if before is not None:
        click.echo(f"what it was until now: {shown(before)}", err=True)
