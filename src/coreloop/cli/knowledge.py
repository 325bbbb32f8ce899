"""``dartlab-coreloop knowledge show|export|prune|cleanup|restore``."""

from datetime import UTC, datetime
from pathlib import Path

import click
import orjson

from coreloop.base.errors import UsageError
from coreloop.base.messages import number_of, say
from coreloop.base.project.workspace import open_workspace
from coreloop.cli.emit import emit
from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.options import FILE, FOLDER, confirm_option, db_option, json_option


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Show, export and clean the knowledge database."""


@command.command()
@click.argument("stock", required=False)
@click.option("--sector", metavar="NAME", help="Show the companies whose sector contains NAME.")
@click.option("--playbook", "intent", metavar="INTENT", help="Show the playbook for a kind of question.")
@db_option
@json_option
def show(stock: str | None, sector: str | None, intent: str | None, db: Path | None, as_json: bool) -> None:
    """Show the insights on STOCK: blog first, then audit, then live. Expired insights are left out."""
    from coreloop.cli.show_knowledge import show_bullets, show_insights
    from coreloop.learn.knowledge.run import look_up_bullets, look_up_insights, project_database

    if sum(choice is not None for choice in (stock, sector, intent)) != 1:
        raise UsageError("give one of: a stock code, --sector NAME or --playbook INTENT")
    database = project_database(open_workspace(Path.cwd()), db)
    if intent is not None:
        emit(look_up_bullets(database, intent), as_json=as_json, text=show_bullets)
        return
    insights = look_up_insights(database, stock_code=stock, sector=sector, now=datetime.now(UTC))
    emit(insights, as_json=as_json, text=show_insights)


@command.command()
@click.option("--out", type=FOLDER, required=True, help="Folder for insights.json and playbook.json.")
@db_option
@json_option
def export(out: Path, db: Path | None, as_json: bool) -> None:
    """Write insights and playbook as JSON to share; executions are left out."""
    from coreloop.cli.show_knowledge import printable_path
    from coreloop.learn.knowledge.run import export_knowledge, project_database

    written = export_knowledge(project_database(open_workspace(Path.cwd()), db), out)
    emit({printable_path(path): rows for path, rows in written.items()}, as_json=as_json, text=_show_written)


def _show_written(written: dict[str, int]) -> None:
    for path, rows in written.items():
        click.echo(say("wrote {path}: {rows}", path=path, rows=number_of(rows, "row")))


@command.command()
@confirm_option
@db_option
@json_option
def prune(db: Path | None, confirm: bool, as_json: bool) -> None:
    """Remove playbook bullets that fail more often than they help (run monthly)."""
    from coreloop.cli.show_knowledge import show_pruned, warn_of_readers
    from coreloop.learn.knowledge.run import project_database, prune_playbook

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
    """Remove unverified insights and replace questions with hashes.

    Without --confirm, counts what each rule would change. With it, first writes a snapshot to
    data/ai/knowledge/_archive. Exits 1 if removed text may remain in the file's free space.
    """
    from coreloop.cli.show_knowledge import show_cleaned, show_planned, warn_of_readers
    from coreloop.learn.knowledge.cleanup import PlannedCleanup
    from coreloop.learn.knowledge.run import clean_up, project_database, project_notes

    workspace = open_workspace(Path.cwd())
    database, notes = project_database(workspace, db), project_notes(workspace)
    if notes.missing is not None:
        effect = say("every audit insight is treated as if its note had been removed")
        click.echo(say("{missing} is missing: {effect}", missing=notes.missing, effect=effect), err=True)
    outcome = clean_up(workspace, database, notes, confirm=confirm, now=datetime.now(UTC))
    if isinstance(outcome, PlannedCleanup):
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
    """Restore the database from ARCHIVE; the current state is archived first."""
    from coreloop.cli.show_knowledge import printable_path, warn_of_readers
    from coreloop.learn.knowledge.archive import restore as restore_archive
    from coreloop.learn.knowledge.run import project_database

    workspace = open_workspace(Path.cwd())
    database = project_database(workspace, db)
    before = restore_archive(archive, database, workspace.archive_dir, now=datetime.now(UTC))
    warn_of_readers(database)
    if as_json:
        facts = {
            "database": printable_path(database),
            "archive": printable_path(archive),
            "before": before and printable_path(before),
        }
        click.echo(orjson.dumps(facts))
        return
    click.echo(
        say(
            "{printable_path} restored from {printable_path2}",
            printable_path=printable_path(database),
            printable_path2=printable_path(archive),
        )
    )
    if before is not None:
        click.echo(
            say("the previous state is in {printable_path}", printable_path=printable_path(before)), err=True
        )
