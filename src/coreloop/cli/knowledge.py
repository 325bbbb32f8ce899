"""``dartlab-coreloop knowledge`` and ``backfill-blog``."""

from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import open_workspace
from coreloop.base.sqlite import keep_private
from coreloop.base.text import padded, printable
from coreloop.base.untrusted import with_untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.options import FOLDER, NOT_CONFIRMED, confirm_option, db_option
from coreloop.cli.output import Command, Group, Output, spelled_path, wrap

if TYPE_CHECKING:
    from coreloop.learn.knowledge.blog import Backfill, Post
    from coreloop.learn.knowledge.cleanup import Cleaned, PlannedCleanup
    from coreloop.learn.knowledge.insights import Insight
    from coreloop.learn.knowledge.playbook import Bullet

_TEXTS: Final = ("narrative", "strengths", "weaknesses", "key_metrics")


@click.group(cls=Group)
def knowledge() -> None:
    """Show and clean the knowledge database."""


@knowledge.command()
@click.argument("stock", required=False)
@click.option("--sector", metavar="NAME", help="Show the companies whose sector contains NAME.")
@click.option("--playbook", "intent", metavar="INTENT", help="Show the playbook for a kind of question.")
@db_option
def show(stock: str | None, sector: str | None, intent: str | None, db: Path | None) -> Output:
    """Show the insights on STOCK: blog first, then audit, then live. Expired insights are left out.

    Example: knowledge show 005930
    """
    from coreloop.learn.knowledge.run import look_up_bullets, look_up_insights, project_database

    if sum(choice is not None for choice in (stock, sector, intent)) != 1:
        raise UsageError("give one of: a stock code, --sector NAME or --playbook INTENT")
    database = project_database(open_workspace(Path.cwd()), db)
    if intent is not None:
        bullets = look_up_bullets(database, intent)
        facts = [with_untrusted(bullet, "bullet") for bullet in bullets]
        lines = list(map(_bullet_line, bullets))
    else:
        insights = look_up_insights(database, stock_code=stock, sector=sector, now=datetime.now(UTC))
        facts = [with_untrusted(insight, *_TEXTS) for insight in insights]
        lines = [wrap(line) for insight in insights for line in _insight_lines(insight)]
    return Output(facts, lines, [] if lines else ["nothing on record"])


@knowledge.command()
@confirm_option
@db_option
def prune(db: Path | None, confirm: bool) -> Output:
    """Remove playbook bullets that fail more often than they help (run monthly).

    Example: knowledge prune --confirm
    """
    from coreloop.learn.knowledge.run import project_database, prune_playbook

    database = project_database(open_workspace(Path.cwd()), db)
    weak = prune_playbook(database, confirm=confirm)
    facts = {"confirmed": confirm, "bullets": [with_untrusted(bullet, "bullet") for bullet in weak]}
    if not weak:
        return Output(facts, "no bullet has a quality below 0.5")
    notes = [f"removed: {len(weak):,}", *_readers(database)] if confirm else [NOT_CONFIRMED]
    return Output(facts, map(_bullet_line, weak), notes)


@knowledge.command()
@confirm_option
@db_option
def cleanup(db: Path | None, confirm: bool) -> Output:
    """Remove unverified insights and replace questions with hashes.

    Without --confirm, counts what each rule would change. With it, first writes a snapshot to
    data/ai/knowledge/_archive. Exits 1 if removed text may remain in the file's free space.

    Example: knowledge cleanup --confirm
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
        return Output(facts, _effects(outcome, "would go", "would change"), _planned_notes(outcome))
    facts |= fields_of(outcome, "archive", "residue")
    done = [*_cleaned_notes(outcome), *_readers(database)]
    return Output(facts, _effects(outcome, "removed", "changed"), done, int(outcome.residue is not None))


@click.command(cls=Command)
@click.option("--blog-root", type=FOLDER, default="blog", show_default=True, help="The blog's folder.")
@click.option(
    "--glob", "pattern", default="**/index.md", show_default=True, help="Pattern of the posts' files."
)
@confirm_option
@db_option
def backfill_blog(blog_root: Path, pattern: str, db: Path | None, confirm: bool) -> Output:
    """Import the ai blocks of blog posts as insights.

    Without --confirm, lists what would change and why posts are skipped. Exits 1 if the front matter of a
    post is unreadable; the other posts are still imported.

    Example: backfill-blog --blog-root blog/ --confirm
    """
    from coreloop.learn.knowledge import run

    workspace = open_workspace(Path.cwd())
    request = run.BackfillRequest(
        blog_root=blog_root,
        pattern=pattern,
        project=workspace.root,
        database=run.project_database(workspace, db),
        confirm=confirm,
    )
    backfill = run.backfill_blog(request, now=datetime.now(UTC))
    notes = [printable(_reason(post)) for post in backfill.malformed]
    notes += _readers(request.database) if confirm else [NOT_CONFIRMED]
    return Output(
        _blog_facts(backfill, confirm=confirm), _blog_lines(backfill), notes, int(bool(backfill.malformed))
    )


def _insight_lines(insight: "Insight") -> Iterator[str]:
    as_of = insight.data_as_of and f"as of {insight.data_as_of}"
    yield " · ".join(filter(None, (insight.stock_code, insight.sector, insight.source, as_of)))
    yield f"    {insight.narrative}"
    yield from (f"    + {text}" for text in insight.strengths)
    yield from (f"    - {text}" for text in insight.weaknesses)
    if insight.key_metrics:
        yield f"    {', '.join(f'{name} {value}' for name, value in insight.key_metrics.items())}"
    yield f"    {insight.evidence_ref or 'no evidence'} ({insight.quality_gate or 'not verified'})"


def _bullet_line(bullet: "Bullet") -> str:
    counts = f"{bullet.success_count}/{bullet.success_count + bullet.fail_count}"
    sector = f"[{bullet.sector}] " if bullet.sector else ""
    return printable(f"{bullet.quality:.2f} {counts:>9}  {sector}{bullet.bullet}")


def _effects(outcome: "Cleaned | PlannedCleanup", removed: str, changed: str) -> Iterator[str]:
    for effect in outcome.effects:
        verb = removed if effect.removes else changed
        table = printable(effect.table)
        yield f"{padded(verb, 12)} {effect.rows:>9,} {table:<11} {printable(effect.rule)}"


def _planned_notes(planned: "PlannedCleanup") -> Iterator[str]:
    if planned.is_unscrubbed:
        yield "the last cleanup was interrupted: removed text may still be in the file"
    yield "nothing to do" if planned.is_idle else NOT_CONFIRMED


def _cleaned_notes(cleaned: "Cleaned") -> Iterator[str]:
    """Say which files still hold clear text."""
    if cleaned.archive is None:
        yield "nothing to remove or change, so no snapshot was made"
    else:
        yield (
            f"{spelled_path(cleaned.archive)} still holds all of it in clear text, for you "
            "alone (mode 0600); delete it when you no longer need it"
        )
    if cleaned.residue is not None:
        yield f"removed text may still be in the file's free space ({cleaned.residue}); run this again"


def _readers(database: Path) -> list[str]:
    """Warn if the database belongs to another user, so that its mode cannot be restricted."""
    is_open = database.exists() and not keep_private(database)
    return [f"{spelled_path(database)} is not yours, and other users may read it"] if is_open else []


def _blog_lines(backfill: "Backfill") -> Iterator[str]:
    """Yield a table of posts: new, edited, skipped with the reason, or gone; then how many there are."""
    for state, posts in (("new", backfill.new), ("edited", backfill.edited)):
        yield from (_blog_line(state, _code(post), str(post.path)) for post in posts)
    yield from (_blog_line("skipped", "", f"{post.path}: {_reason(post)}") for post in backfill.skipped)
    for insight in backfill.gone:
        yield _blog_line("gone", insight.stock_code or "", f"{insight.evidence_ref}: its insight remains")
    counts = {field.name: len(getattr(backfill, field.name)) for field in fields(backfill)}
    yield ", ".join(f"{count:,} {'unchanged' if name == 'same' else name}" for name, count in counts.items())


def _blog_line(state: str, code: str, text: str) -> str:
    return printable(f"{padded(state, 9)}  {code:<8}  {text}")


def _blog_facts(backfill: "Backfill", *, confirm: bool) -> dict[str, object]:
    gone = [fields_of(insight, "evidence_ref", "stock_code") for insight in backfill.gone]
    facts: dict[str, object] = {"confirmed": confirm}
    for name in ("new", "edited", "same"):
        facts[name] = [{"path": post.path, "stock_code": _code(post)} for post in getattr(backfill, name)]
    for name in ("skipped", "malformed"):
        facts[name] = [{"path": post.path, "reason": _reason(post)} for post in getattr(backfill, name)]
    return facts | {"gone": gone}


def _code(post: "Post") -> str:
    return getattr(post.content, "stock_code", "")


def _reason(post: "Post") -> str:
    reason, line = getattr(post.content, "reason", ""), getattr(post.content, "line", None)
    return reason if line is None else f"{spelled_path(post.path)}:{line}: {reason}"
