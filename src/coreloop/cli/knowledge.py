"""``dartlab-coreloop knowledge``."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import padded, printable
from coreloop.base.untrusted import with_untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.options import FOLDER, NOT_CONFIRMED, confirm_option
from coreloop.cli.output import Group, Output, say, spelled_path
from coreloop.learn.knowledge import store
from coreloop.learn.knowledge.blog import NoInsight
from coreloop.learn.knowledge.blog import backfill_blog as backfill_posts
from coreloop.learn.knowledge.cleanup import Cleaned, clean, plan, project_notes
from coreloop.learn.knowledge.store import Insight, project_database


@click.group(cls=Group)
def knowledge() -> None:
    """Clean and fill the knowledge database.

    Example: knowledge cleanup
    """


@knowledge.command()
@confirm_option
def prune(confirm: bool) -> Output:
    """Remove playbook bullets that mostly fail (run monthly).

    Example: knowledge prune --confirm
    """
    database = project_database(open_workspace(Path.cwd()))
    with store.reading(database) as connection:
        weak = store.weak_bullets(connection)
    if confirm and weak:
        with store.writing(database) as connection:
            store.prune(connection)
    facts = {"confirmed": confirm, "bullets": [with_untrusted(bullet, "bullet") for bullet in weak]}
    if not weak:
        return Output(facts, "no bullet has a quality below 0.5")
    notes = [f"removed: {len(weak):,}"] if confirm else [NOT_CONFIRMED]
    return Output(facts, map(_bullet_line, weak), notes)


@knowledge.command()
@confirm_option
def cleanup(confirm: bool) -> Output:
    """Remove unverified insights; replace questions with hashes.

    Without --confirm, counts what each rule would change. With it, first writes a snapshot to
    data/ai/knowledge/_archive. Exits 1 if removed text may remain in the file's free space.

    Example: knowledge cleanup --confirm
    """
    workspace = open_workspace(Path.cwd())
    database, notes = project_database(workspace), project_notes(workspace)
    if not workspace.audit_notes_dir.is_dir():
        effect = "every audit insight is treated as if its note had been removed"
        say(f"{workspace.audit_notes_dir} is missing: {effect}", err=True)
    now = datetime.now(UTC)
    if confirm:
        workspace.keep_private(workspace.archive_dir)
        outcome = clean(database, notes, workspace.archive_dir, now=now)
        done = list(_cleaned_notes(outcome))
    else:
        outcome = plan(database, notes, now=now)
        done = ["nothing to do" if outcome.is_idle else NOT_CONFIRMED]
    facts = {
        "database": database,
        "confirmed": confirm,
        **fields_of(outcome, "effects", "archive", "residue"),
    }
    verbs = ("removed", "changed") if confirm else ("would go", "would change")
    return Output(facts, _effects(outcome, *verbs), done, int(outcome.residue is not None))


@knowledge.command()
@click.option("--blog-root", type=FOLDER, default="blog", show_default=True, help="The blog's folder.")
@confirm_option
def backfill_blog(blog_root: Path, confirm: bool) -> Output:
    """Import the ai blocks of blog posts as insights.

    Without --confirm, lists what would change and why posts are skipped. Exits 1 if the front matter of a
    post is unreadable; the other posts are still imported.

    Example: knowledge backfill-blog --blog-root blog/ --confirm
    """
    workspace = open_workspace(Path.cwd())
    database = project_database(workspace)
    backfill = backfill_posts(
        blog_root,
        project=workspace.root,
        database=database,
        confirm=confirm,
        now=datetime.now(UTC),
    )
    posts = {name: [_post(*post) for post in some.items()] for name, some in backfill.items()}
    notes = [printable(post["reason"]) for post in posts["malformed"]]
    notes += [] if confirm else [NOT_CONFIRMED]
    return Output({"confirmed": confirm, **posts}, _blog_lines(posts), notes, int(bool(posts["malformed"])))


def _bullet_line(bullet: Mapping[str, Any]) -> str:
    counts = f"{bullet['success_count']}/{bullet['success_count'] + bullet['fail_count']}"
    sector = f"[{bullet['sector']}] " if bullet["sector"] else ""
    return printable(f"{bullet['quality']:.2f} {counts:>9}  {sector}{bullet['bullet']}")


def _effects(outcome: Cleaned, removed: str, changed: str) -> Iterator[str]:
    for effect in outcome.effects:
        verb = removed if effect.removes else changed
        table = printable(effect.table)
        yield f"{padded(verb, 12)} {effect.rows:>9,} {table:<11} {printable(effect.rule)}"


def _cleaned_notes(cleaned: Cleaned) -> Iterator[str]:
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


def _post(path: Path, content: Insight | NoInsight) -> dict[str, Any]:
    """Return a post as JSON has it: with its code, or the reason why it has none."""
    if not isinstance(content, NoInsight):
        return {"path": path, "stock_code": content.stock_code}
    place = "" if content.line is None else f"{spelled_path(path)}:{content.line}: "
    return {"path": path, "reason": f"{place}{content.reason}"}


def _blog_lines(posts: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """Yield a table of posts: new, edited, or skipped with the reason."""
    for state in ("new", "edited", "skipped"):
        for post in posts[state]:
            reason = f": {post['reason']}" if "reason" in post else ""
            yield printable(f"{padded(state, 9)}  {post.get('stock_code', ''):<8}  {post['path']}{reason}")
    counts = {name: len(some) for name, some in posts.items()}
    yield ", ".join(f"{count:,} {'unchanged' if name == 'same' else name}" for name, count in counts.items())
