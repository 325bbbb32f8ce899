"""Output of ``knowledge`` and ``backfill-blog``."""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import orjson

from coreloop.base.messages import Phrase, say
from coreloop.base.sqlite import keep_private
from coreloop.base.text import padded, printable, wrapped
from coreloop.cli.options import NOT_CONFIRMED
from coreloop.learn.knowledge.blog import Backfill, Post
from coreloop.learn.knowledge.cleanup import Cleaned, CleanupEffect, PlannedCleanup
from coreloop.learn.knowledge.front_matter import Malformed
from coreloop.learn.knowledge.insights import Insight
from coreloop.learn.knowledge.playbook import Bullet


def show_insights(insights: Sequence[Insight]) -> None:
    """Print insights in the given order."""
    for insight in insights:
        as_of = insight.data_as_of and say("as of {day}", day=insight.data_as_of)
        head = " · ".join(filter(None, (insight.stock_code, insight.sector, insight.source, as_of)))
        lines = [head, f"    {insight.narrative}"]
        lines += [f"    + {text}" for text in insight.strengths]
        lines += [f"    - {text}" for text in insight.weaknesses]
        metrics = ", ".join(f"{name} {value}" for name, value in insight.key_metrics.items())
        lines += [f"    {metrics}"] if metrics else []
        gate = insight.quality_gate or say("not verified")
        lines.append(f"    {insight.evidence_ref or say('no evidence')} ({gate})")
        _show_lines(lines)
    if not insights:
        click.echo(say("nothing on record"), err=True)


def show_bullets(bullets: Sequence[Bullet]) -> None:
    """Print bullets in the given order."""
    for bullet in bullets:
        counts = f"{bullet.success_count}/{bullet.success_count + bullet.fail_count}"
        sector = f"[{bullet.sector}] " if bullet.sector else ""
        _show_lines([f"{bullet.quality:.2f} {counts:>9}  {sector}{bullet.bullet}"])
    if not bullets:
        click.echo(say("nothing on record"), err=True)


def _show_lines(lines: Iterable[str]) -> None:
    """Print lines: wrapped at their own indent on a terminal, unwrapped otherwise."""
    columns = shutil.get_terminal_size().columns
    for line in map(printable, lines):
        indent = " " * (len(line) - len(line.lstrip()))
        click.echo(wrapped(line, columns, indent=indent) if sys.stdout.isatty() else line)


def show_pruned(weak: Sequence[Bullet], *, confirm: bool, as_json: bool) -> None:
    """Print the bullets that are removed, or would be."""
    if as_json:
        click.echo(orjson.dumps({"confirmed": confirm, "bullets": weak}, option=orjson.OPT_INDENT_2))
        return
    if not weak:
        click.echo(say("no bullet has a quality below 0.5"))
        return
    show_bullets(weak)
    click.echo(say("removed: {n_weak:,}", n_weak=len(weak)) if confirm else say(NOT_CONFIRMED), err=True)


def show_planned(planned: PlannedCleanup, database: Path, *, as_json: bool) -> None:
    """Print what a cleanup would do."""
    if as_json:
        facts = {
            "database": printable_path(database),
            "confirmed": False,
            "effects": planned.effects,
            "unscrubbed": planned.is_unscrubbed,
        }
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
        return
    _show_effects(planned.effects, say("would go"), say("would change"))
    if planned.is_unscrubbed:
        click.echo(say("the last cleanup was interrupted: removed text may still be in the file"), err=True)
    click.echo(say("nothing to do") if planned.is_idle else say(NOT_CONFIRMED), err=True)


def show_cleaned(cleaned: Cleaned, database: Path, *, as_json: bool) -> None:
    """Print what a cleanup did, and which files still hold clear text."""
    if as_json:
        facts = {
            "database": printable_path(database),
            "confirmed": True,
            "effects": cleaned.effects,
            "archive": cleaned.archive and printable_path(cleaned.archive),
            "residue": cleaned.residue,
        }
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
    else:
        _show_effects(cleaned.effects, say("removed"), say("changed"))
    if cleaned.archive is None:
        click.echo(say("nothing to remove or change, so no snapshot was made"), err=True)
    else:
        click.echo(
            say(
                "{printable_path} still holds all of it in clear text, for you alone (mode "
                "0600); delete it when you no longer need it",
                printable_path=printable_path(cleaned.archive),
            ),
            err=True,
        )
    if cleaned.residue is not None:
        warning = say(
            "removed text may still be in the file's free space ({residue}); run this again",
            residue=cleaned.residue,
        )
        click.echo(warning, err=True)


def show_backfill(backfill: Backfill, *, confirm: bool, as_json: bool) -> None:
    """Print a table of posts: new, edited, skipped with the reason, or gone."""
    if as_json:
        click.echo(orjson.dumps(_facts(backfill, confirm=confirm), option=orjson.OPT_INDENT_2))
    else:
        for state, posts in (("new", backfill.new), ("edited", backfill.edited)):
            for post in posts:
                click.echo(printable(f"{padded(say(state), 9)}  {_code(post):<8}  {post.path}"))
        for post in backfill.skipped:
            click.echo(printable(f"{padded(say('skipped'), 9)}  {'':<8}  {post.path}: {say(_reason(post))}"))
        for insight in backfill.gone:
            click.echo(
                printable(
                    f"{padded(say('gone'), 9)}  {insight.stock_code:<8}  "
                    f"{say('{ref}: its insight remains', ref=insight.evidence_ref)}"
                )
            )
        click.echo(_summary(backfill))
    for post in backfill.malformed:
        click.echo(printable(say(_reason(post))), err=True)
    if not confirm:
        click.echo(say(NOT_CONFIRMED), err=True)


def warn_of_readers(database: Path) -> None:
    """Warn if the database belongs to another user, so that its mode cannot be restricted."""
    if database.exists() and not keep_private(database):
        click.echo(
            say(
                "{printable_path} is not yours, and other users may read it",
                printable_path=printable_path(database),
            ),
            err=True,
        )


def _show_effects(effects: Sequence[CleanupEffect], removed: str, changed: str) -> None:
    for effect in effects:
        verb = removed if effect.removes else changed
        table = printable(effect.table)
        click.echo(f"{padded(verb, 12)} {effect.rows:>9,} {table:<11} {printable(say(effect.rule))}")


def _facts(backfill: Backfill, *, confirm: bool) -> dict[str, object]:
    imported = {"new": backfill.new, "edited": backfill.edited, "same": backfill.same}
    refused = {"skipped": backfill.skipped, "malformed": backfill.malformed}
    return {
        "confirmed": confirm,
        **{
            name: [{"path": printable_path(post.path), "stock_code": _code(post)} for post in posts]
            for name, posts in imported.items()
        },
        **{
            name: [{"path": printable_path(post.path), "reason": _reason(post)} for post in posts]
            for name, posts in refused.items()
        },
        "gone": [
            {"evidence_ref": insight.evidence_ref, "stock_code": insight.stock_code}
            for insight in backfill.gone
        ],
    }


def _summary(backfill: Backfill) -> str:
    parts = (
        (backfill.new, "new"),
        (backfill.edited, "edited"),
        (backfill.same, "unchanged"),
        (backfill.skipped, "skipped"),
        (backfill.malformed, "malformed"),
        (backfill.gone, "gone"),
    )
    return ", ".join(f"{len(part):,} {say(state)}" for part, state in parts)


def _code(post: Post) -> str:
    return post.content.stock_code if isinstance(post.content, Insight) else ""


def _reason(post: Post) -> str:
    if isinstance(post.content, Malformed):
        return Phrase(
            "{path}:{line}: {reason}",
            path=printable_path(post.path),
            line=post.content.line,
            reason=post.content.reason,
        )
    return "" if isinstance(post.content, Insight) else post.content.reason


def printable_path(path: Path) -> str:
    """Return a path as text for the screen or JSON; bytes that are not UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")
