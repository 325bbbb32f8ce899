"""What ``knowledge`` and ``backfill-blog`` print."""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import click
import orjson

from coreloop.knowledge.blog import Backfill, Post
from coreloop.knowledge.cleanup import Cleaned, Effect, Planned
from coreloop.knowledge.front_matter import Malformed
from coreloop.knowledge.insights import Insight
from coreloop.knowledge.playbook import Bullet
from coreloop.sqlite import keep_private
from coreloop.text import printable, wrapped

NOT_CONFIRMED: Final = "nothing changed; add --confirm to carry it out"


def show_insights(found: Sequence[Insight], *, as_json: bool) -> None:
    """Print insights, the most trusted first."""
    if as_json:
        click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2))
        return
    for one in found:
        facts = (one.stock_code, one.sector, one.source, one.data_as_of and f"as of {one.data_as_of}")
        lines = [" · ".join(filter(None, facts)), f"    {one.narrative}"]
        lines += [f"    + {text}" for text in one.strengths]
        lines += [f"    - {text}" for text in one.weaknesses]
        figures = ", ".join(f"{name} {value}" for name, value in one.key_metrics.items())
        lines += [f"    {figures}"] if figures else []
        lines.append(f"    {one.evidence_ref or 'no evidence'} ({one.quality_gate or 'not verified'})")
        _show_lines(lines)
    if not found:
        click.echo("nothing on record", err=True)


def show_bullets(found: Sequence[Bullet], *, as_json: bool) -> None:
    """Print bullets, the best first."""
    if as_json:
        click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2))
        return
    for one in found:
        counts = f"{one.success_count}/{one.success_count + one.fail_count}"
        sector = f"[{one.sector}] " if one.sector else ""
        _show_lines([f"{one.quality:.2f} {counts:>9}  {sector}{one.bullet}"])
    if not found:
        click.echo("nothing on record", err=True)


def _show_lines(lines: Iterable[str]) -> None:
    """Print lines, wrapped under their own beginning on a terminal, and whole for another program."""
    columns = shutil.get_terminal_size().columns
    for line in map(printable, lines):
        indent = " " * (len(line) - len(line.lstrip()))
        click.echo(wrapped(line, columns, indent=indent) if sys.stdout.isatty() else line)


def show_pruned(weak: Sequence[Bullet], *, confirm: bool, as_json: bool) -> None:
    """Print the bullets that go, or went."""
    if as_json:
        click.echo(orjson.dumps({"confirmed": confirm, "bullets": weak}, option=orjson.OPT_INDENT_2))
        return
    if not weak:
        click.echo("no bullet has a quality below 0.5")
        return
    show_bullets(weak, as_json=False)
    click.echo(f"removed: {len(weak):,}" if confirm else NOT_CONFIRMED, err=True)


def show_planned(planned: Planned, database: Path, *, as_json: bool) -> None:
    """Print what a cleanup would do."""
    if as_json:
        facts = {
            "database": shown(database),
            "confirmed": False,
            "effects": planned.effects,
            "unscrubbed": planned.is_unscrubbed,
        }
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
        return
    _show_effects(planned.effects, "would go", "would change")
    if planned.is_unscrubbed:
        click.echo("the last cleanup was interrupted: removed text may still be in the file", err=True)
    click.echo("nothing to do" if planned.is_idle else NOT_CONFIRMED, err=True)


def show_cleaned(cleaned: Cleaned, database: Path, *, as_json: bool) -> None:
    """Print what a cleanup did, and where the clear text still is."""
    if as_json:
        facts = {
            "database": shown(database),
            "confirmed": True,
            "effects": cleaned.effects,
            "archive": cleaned.archive and shown(cleaned.archive),
            "residue": cleaned.residue,
        }
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
    else:
        _show_effects(cleaned.effects, "removed", "changed")
    if cleaned.archive is None:
        click.echo("nothing to remove or change, so no snapshot was made", err=True)
    else:
        click.echo(
            f"{shown(cleaned.archive)} still holds all of it in clear text, for you alone (mode 0600); "
            "delete it when you no longer need it",
            err=True,
        )
    if cleaned.residue is not None:
        what = f"removed text may still be in the file's free space ({cleaned.residue}); run this again"
        click.echo(what, err=True)


def show_backfill(backfill: Backfill, *, confirm: bool, as_json: bool) -> None:
    """Print a table of posts: what becomes of each, and why not."""
    if as_json:
        click.echo(orjson.dumps(_facts(backfill, confirm=confirm), option=orjson.OPT_INDENT_2))
    else:
        for word, posts in (("new", backfill.new), ("edited", backfill.edited)):
            for post in posts:
                click.echo(printable(f"{word:<9}  {_code(post):<8}  {post.path}"))
        for post in backfill.skipped:
            click.echo(printable(f"{'skipped':<9}  {'':<8}  {post.path}: {_reason(post)}"))
        for one in backfill.gone:
            click.echo(
                printable(f"{'gone':<9}  {one.stock_code:<8}  {one.evidence_ref}: its insight remains")
            )
        click.echo(_sum(backfill))
    for post in backfill.malformed:
        click.echo(printable(_reason(post)), err=True)
    if not confirm:
        click.echo(NOT_CONFIRMED, err=True)


def warn_of_readers(database: Path) -> None:
    """Say that others may read a database that was written and belongs to somebody else."""
    if database.exists() and not keep_private(database):
        click.echo(f"{shown(database)} is not yours, and other users may read it", err=True)


def _show_effects(effects: Sequence[Effect], removed: str, changed: str) -> None:
    for one in effects:
        what = removed if one.removes else changed
        table = printable(one.table)
        click.echo(f"{what:<12} {one.rows:>9,} {table:<11} {printable(one.rule)}")


def _facts(backfill: Backfill, *, confirm: bool) -> dict[str, object]:
    taken = {"new": backfill.new, "edited": backfill.edited, "same": backfill.same}
    left = {"skipped": backfill.skipped, "malformed": backfill.malformed}
    return {
        "confirmed": confirm,
        **{
            name: [{"path": shown(one.path), "stock_code": _code(one)} for one in posts]
            for name, posts in taken.items()
        },
        **{
            name: [{"path": shown(one.path), "reason": _reason(one)} for one in posts]
            for name, posts in left.items()
        },
        "gone": [{"evidence_ref": one.evidence_ref, "stock_code": one.stock_code} for one in backfill.gone],
    }


def _sum(backfill: Backfill) -> str:
    parts = (
        (backfill.new, "new"),
        (backfill.edited, "edited"),
        (backfill.same, "unchanged"),
        (backfill.skipped, "skipped"),
        (backfill.malformed, "malformed"),
        (backfill.gone, "gone"),
    )
    return ", ".join(f"{len(part):,} {word}" for part, word in parts)


def _code(post: Post) -> str:
    return post.content.stock_code if isinstance(post.content, Insight) else ""


def _reason(post: Post) -> str:
    if isinstance(post.content, Malformed):
        return f"{shown(post.path)}:{post.content.line}: {post.content.reason}"
    return "" if isinstance(post.content, Insight) else post.content.reason


def shown(path: Path) -> str:
    """A path for the screen or for JSON: what of its name is not UTF-8 is replaced."""
    return os.fsencode(path).decode("utf-8", "replace")
