"""``dartlab-coreloop knowledge show|export|prune|cleanup|restore``."""

from datetime import UTC, datetime
from pathlib import Path

import click
import orjson

from coreloop.cli.options import FOLDER, confirm_option, db_option, json_option, knowledge_database
from coreloop.errors import UsageError
from coreloop.project.workspace import open_workspace


@click.group()
def command() -> None:
    """Look into the knowledge database, and keep it clean."""


@command.command()
@click.argument("stock", required=False)
@click.option("--sector", metavar="NAME", help="Every company whose sector has this in its name.")
@click.option("--playbook", "intent", metavar="INTENT", help="What works for a kind of question.")
@db_option
@json_option
def show(stock: str | None, sector: str | None, intent: str | None, db: Path | None, as_json: bool) -> None:
    """Show what is known about STOCK: blog before audit before live, never what has expired."""
    from coreloop.cli.show_knowledge import show_bullets, show_insights
    from coreloop.knowledge.insights import recall
    from coreloop.knowledge.playbook import bullets
    from coreloop.knowledge.store import reading

    if sum(one is not None for one in (stock, sector, intent)) != 1:
        raise UsageError("say one thing to show: a stock code, --sector NAME or --playbook INTENT")
    with reading(knowledge_database(db, open_workspace(Path.cwd()))) as connection:
        if intent is not None:
            show_bullets(bullets(connection, intent), as_json=as_json)
            return
        found = recall(connection, stock_code=stock, sector=sector, now=datetime.now(UTC))
        show_insights(found, as_json=as_json)


@command.command()
@click.option("--out", type=FOLDER, required=True, help="Where insights.json and playbook.json go.")
@db_option
@json_option
def export(out: Path, db: Path | None, as_json: bool) -> None:
    """Write insights and playbook as JSON, to be shared; executions stay here."""
    from coreloop.cli.show_knowledge import shown
    from coreloop.knowledge.export import export as write_export
    from coreloop.knowledge.store import reading

    with reading(knowledge_database(db, open_workspace(Path.cwd()))) as connection:
        written = write_export(connection, out)
    if as_json:
        click.echo(orjson.dumps({shown(path): rows for path, rows in written.items()}))
        return
    for path, rows in written.items():
        click.echo(f"wrote {shown(path)}: {rows:,} rows")


@command.command()
@confirm_option
@db_option
@json_option
def prune(db: Path | None, confirm: bool, as_json: bool) -> None:
    """Remove the playbook's bullets that fail more often than they help (monthly)."""
    from coreloop.cli.show_knowledge import show_pruned
    from coreloop.knowledge.playbook import prune as remove_weak
    from coreloop.knowledge.playbook import weak_bullets
    from coreloop.knowledge.store import reading, writing

    database = knowledge_database(db, open_workspace(Path.cwd()))
    with reading(database) as connection:
        weak = weak_bullets(connection)
    if confirm and weak:
        with writing(database) as connection:
            weak = remove_weak(connection)
    show_pruned(weak, confirm=confirm, as_json=as_json)


@command.command()
@confirm_option
@db_option
@json_option
def cleanup(db: Path | None, confirm: bool, as_json: bool) -> None:
    """Remove what nobody verified, and turn questions into hashes.

    Without --confirm it counts what each rule would do. With it, a snapshot of the state before goes to
    data/ai/knowledge/_archive first. Exits 1 when removed text may still be in the file's free space.
    """
    from coreloop.cli.show_knowledge import show_cleaned, show_planned
    from coreloop.knowledge.audit_analysis import note_codes
    from coreloop.knowledge.cleanup import Notes, clean, plan

    workspace = open_workspace(Path.cwd())
    database = knowledge_database(db, workspace)
    folder = workspace.audit_notes_dir
    if not folder.is_dir():
        click.echo(f"{folder} is missing: every audit insight counts as one whose note is gone", err=True)
    below = Path(workspace.settings.data_dir, "dart", folder.name).as_posix()
    notes = Notes(note_codes(folder), below)
    now = datetime.now(UTC)
    if not confirm:
        show_planned(plan(database, notes, now=now), database, as_json=as_json)
        return
    workspace.keep_private(workspace.archive_dir)
    cleaned = clean(database, notes, workspace.archive_dir, now=now)
    show_cleaned(cleaned, database, as_json=as_json)
    if cleaned.residue is not None:
        click.get_current_context().exit(1)


@command.command()
@click.argument("archive", type=click.Path(path_type=Path, dir_okay=False))
@db_option
@json_option
def restore(archive: Path, db: Path | None, as_json: bool) -> None:
    """Make the database what it was when ARCHIVE was written; what it is now is archived first."""
    from coreloop.cli.show_knowledge import shown
    from coreloop.knowledge.archive import restore as bring_back

    workspace = open_workspace(Path.cwd())
    database = knowledge_database(db, workspace)
    before = bring_back(archive, database, workspace.archive_dir, now=datetime.now(UTC))
    if as_json:
        facts = {"database": shown(database), "archive": shown(archive), "before": before and shown(before)}
        click.echo(orjson.dumps(facts))
        return
    click.echo(f"{shown(database)} is again what {shown(archive)} holds")
    if before is not None:
        click.echo(f"what it was until now: {shown(before)}", err=True)
