"""``dartlab-coreloop knowledge show|export|prune|cleanup``."""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.errors import UsageError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.sqlite import keep_private
from coreloop.base.text import padded, printable, wrapped
from coreloop.base.untrusted import with_untrusted
from coreloop.cli.emit import emit, fields_of
from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.options import FOLDER, NOT_CONFIRMED, confirm_option, db_option, json_option

if TYPE_CHECKING:
    from coreloop.learn.knowledge.cleanup import Cleaned, CleanupEffect, PlannedCleanup
    from coreloop.learn.knowledge.insights import Insight
    from coreloop.learn.knowledge.playbook import Bullet


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
    from coreloop.learn.knowledge.run import look_up_bullets, look_up_insights, project_database

    if sum(choice is not None for choice in (stock, sector, intent)) != 1:
        raise UsageError("give one of: a stock code, --sector NAME or --playbook INTENT")
    database = project_database(open_workspace(Path.cwd()), db)
    if intent is not None:
        bullets = look_up_bullets(database, intent)
        facts = [with_untrusted(one, "bullet") for one in bullets]
        emit(facts, as_json=as_json, text=lambda _: show_bullets(bullets))
        return
    insights = look_up_insights(database, stock_code=stock, sector=sector, now=datetime.now(UTC))
    facts = [with_untrusted(one, "narrative", "strengths", "weaknesses", "key_metrics") for one in insights]
    emit(facts, as_json=as_json, text=lambda _: show_insights(insights))


@command.command()
@click.option("--out", type=FOLDER, required=True, help="Folder for insights.json and playbook.json.")
@db_option
@json_option
def export(out: Path, db: Path | None, as_json: bool) -> None:
    """Write insights and playbook as JSON to share; executions are left out."""
    from coreloop.learn.knowledge.run import export_knowledge, project_database

    written = export_knowledge(project_database(open_workspace(Path.cwd()), db), out)
    emit({printable_path(path): rows for path, rows in written.items()}, as_json=as_json, text=_show_written)


def _show_written(written: dict[str, int]) -> None:
    for path, rows in written.items():
        click.echo(f"wrote {path}: {number_of(rows, 'row')}")


@command.command()
@confirm_option
@db_option
@json_option
def prune(db: Path | None, confirm: bool, as_json: bool) -> None:
    """Remove playbook bullets that fail more often than they help (run monthly)."""
    from coreloop.learn.knowledge.run import project_database, prune_playbook

    database = project_database(open_workspace(Path.cwd()), db)
    weak = prune_playbook(database, confirm=confirm)
    facts = {"confirmed": confirm, "bullets": [with_untrusted(one, "bullet") for one in weak]}
    emit(facts, as_json=as_json, text=lambda _: show_pruned(weak, confirm=confirm))
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
    from coreloop.learn.knowledge.cleanup import PlannedCleanup
    from coreloop.learn.knowledge.run import clean_up, project_database, project_notes

    workspace = open_workspace(Path.cwd())
    database, notes = project_database(workspace, db), project_notes(workspace)
    if notes.missing is not None:
        effect = "every audit insight is treated as if its note had been removed"
        click.echo(f"{notes.missing} is missing: {effect}", err=True)
    outcome = clean_up(workspace, database, notes, confirm=confirm, now=datetime.now(UTC))
    facts = {"database": database, "confirmed": confirm, "effects": outcome.effects}
    if isinstance(outcome, PlannedCleanup):
        facts["unscrubbed"] = outcome.is_unscrubbed
        emit(facts, as_json=as_json, text=lambda _: show_planned(outcome))
        return
    facts |= fields_of(outcome, "archive", "residue")
    emit(facts, as_json=as_json, text=lambda _: show_cleaned(outcome))
    _show_archive(outcome)
    warn_of_readers(database)
    if outcome.residue is not None:
        click.get_current_context().exit(1)


def show_insights(insights: "Sequence[Insight]") -> None:
    """Print insights in the given order."""
    for insight in insights:
        as_of = insight.data_as_of and f"as of {insight.data_as_of}"
        head = " · ".join(filter(None, (insight.stock_code, insight.sector, insight.source, as_of)))
        lines = [head, f"    {insight.narrative}"]
        lines += [f"    + {text}" for text in insight.strengths]
        lines += [f"    - {text}" for text in insight.weaknesses]
        metrics = ", ".join(f"{name} {value}" for name, value in insight.key_metrics.items())
        lines += [f"    {metrics}"] if metrics else []
        gate = insight.quality_gate or "not verified"
        lines.append(f"    {insight.evidence_ref or 'no evidence'} ({gate})")
        _show_lines(lines)
    if not insights:
        click.echo("nothing on record", err=True)


def show_bullets(bullets: "Sequence[Bullet]") -> None:
    """Print bullets in the given order."""
    for bullet in bullets:
        counts = f"{bullet.success_count}/{bullet.success_count + bullet.fail_count}"
        sector = f"[{bullet.sector}] " if bullet.sector else ""
        _show_lines([f"{bullet.quality:.2f} {counts:>9}  {sector}{bullet.bullet}"])
    if not bullets:
        click.echo("nothing on record", err=True)


def _show_lines(lines: Iterable[str]) -> None:
    """Print lines: wrapped at their own indent on a terminal, unwrapped otherwise."""
    columns = shutil.get_terminal_size().columns
    for line in map(printable, lines):
        indent = " " * (len(line) - len(line.lstrip()))
        click.echo(wrapped(line, columns, indent=indent) if sys.stdout.isatty() else line)


def show_pruned(weak: "Sequence[Bullet]", *, confirm: bool) -> None:
    """Print the bullets that are removed, or would be."""
    if not weak:
        click.echo("no bullet has a quality below 0.5")
        return
    show_bullets(weak)
    click.echo(f"removed: {len(weak):,}" if confirm else NOT_CONFIRMED, err=True)


def show_planned(planned: "PlannedCleanup") -> None:
    """Print what a cleanup would do."""
    _show_effects(planned.effects, "would go", "would change")
    if planned.is_unscrubbed:
        click.echo("the last cleanup was interrupted: removed text may still be in the file", err=True)
    click.echo("nothing to do" if planned.is_idle else NOT_CONFIRMED, err=True)


def show_cleaned(cleaned: "Cleaned") -> None:
    """Print what a cleanup did."""
    _show_effects(cleaned.effects, "removed", "changed")


def _show_archive(cleaned: "Cleaned") -> None:
    """Print on stderr which files still hold clear text."""
    if cleaned.archive is None:
        click.echo("nothing to remove or change, so no snapshot was made", err=True)
    else:
        click.echo(
            f"{printable_path(cleaned.archive)} still holds all of it in clear text, for you "
            "alone (mode 0600); delete it when you no longer need it",
            err=True,
        )
    if cleaned.residue is not None:
        warning = f"removed text may still be in the file's free space ({cleaned.residue}); run this again"
        click.echo(warning, err=True)


def warn_of_readers(database: Path) -> None:
    """Warn if the database belongs to another user, so that its mode cannot be restricted."""
    if database.exists() and not keep_private(database):
        click.echo(f"{printable_path(database)} is not yours, and other users may read it", err=True)


def _show_effects(effects: "Sequence[CleanupEffect]", removed: str, changed: str) -> None:
    for effect in effects:
        verb = removed if effect.removes else changed
        table = printable(effect.table)
        click.echo(f"{padded(verb, 12)} {effect.rows:>9,} {table:<11} {printable(effect.rule)}")


def printable_path(path: Path) -> str:
    """Return a path as text for the screen or JSON; bytes that are not UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")
