"""``dartlab-coreloop backfill-blog``."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import padded, printable
from coreloop.cli.emit import emit, fields_of
from coreloop.cli.knowledge import printable_path, warn_of_readers
from coreloop.cli.options import FOLDER, NOT_CONFIRMED, confirm_option, db_option, json_option

if TYPE_CHECKING:
    from coreloop.learn.knowledge.blog import Backfill, Post


@click.command()
@click.option("--blog-root", type=FOLDER, default="blog", show_default=True, help="The blog's folder.")
@click.option(
    "--glob", "pattern", default="**/index.md", show_default=True, help="Pattern of the posts' files."
)
@confirm_option
@db_option
@json_option
def command(blog_root: Path, pattern: str, db: Path | None, confirm: bool, as_json: bool) -> None:
    """Import the ai blocks of blog posts as insights.

    Without --confirm, lists what would change and why posts are skipped. Exits 1 if the front matter of a
    post is unreadable; the other posts are still imported.
    """
    from coreloop.learn.knowledge.run import BackfillRequest, backfill_blog, project_database

    workspace = open_workspace(Path.cwd())
    request = BackfillRequest(
        blog_root=blog_root,
        pattern=pattern,
        project=workspace.root,
        database=project_database(workspace, db),
        confirm=confirm,
    )
    backfill = backfill_blog(request, now=datetime.now(UTC))
    emit(_facts(backfill, confirm=confirm), as_json=as_json, text=lambda _: _show(backfill))
    for post in backfill.malformed:
        click.echo(printable(_reason(post)), err=True)
    if not confirm:
        click.echo(NOT_CONFIRMED, err=True)
    else:
        warn_of_readers(request.database)
    if backfill.malformed:
        click.get_current_context().exit(1)


def _show(backfill: "Backfill") -> None:
    """Print a table of posts: new, edited, skipped with the reason, or gone."""
    for state, posts in (("new", backfill.new), ("edited", backfill.edited)):
        for post in posts:
            click.echo(printable(f"{padded(state, 9)}  {_code(post):<8}  {post.path}"))
    for post in backfill.skipped:
        click.echo(printable(f"{padded('skipped', 9)}  {'':<8}  {post.path}: {_reason(post)}"))
    for insight in backfill.gone:
        remains = f"{insight.evidence_ref}: its insight remains"
        click.echo(printable(f"{padded('gone', 9)}  {insight.stock_code:<8}  {remains}"))
    click.echo(_summary(backfill))


def _facts(backfill: "Backfill", *, confirm: bool) -> dict[str, object]:
    imported = {"new": backfill.new, "edited": backfill.edited, "same": backfill.same}
    refused = {"skipped": backfill.skipped, "malformed": backfill.malformed}
    return {
        "confirmed": confirm,
        **{
            name: [{"path": post.path, "stock_code": _code(post)} for post in posts]
            for name, posts in imported.items()
        },
        **{
            name: [{"path": post.path, "reason": _reason(post)} for post in posts]
            for name, posts in refused.items()
        },
        "gone": [fields_of(insight, "evidence_ref", "stock_code") for insight in backfill.gone],
    }


def _summary(backfill: "Backfill") -> str:
    parts = (
        (backfill.new, "new"),
        (backfill.edited, "edited"),
        (backfill.same, "unchanged"),
        (backfill.skipped, "skipped"),
        (backfill.malformed, "malformed"),
        (backfill.gone, "gone"),
    )
    return ", ".join(f"{len(part):,} {state}" for part, state in parts)


def _code(post: "Post") -> str:
    from coreloop.learn.knowledge.insights import Insight

    return post.content.stock_code if isinstance(post.content, Insight) else ""


def _reason(post: "Post") -> str:
    from coreloop.learn.knowledge.front_matter import Malformed
    from coreloop.learn.knowledge.insights import Insight

    if isinstance(post.content, Malformed):
        return f"{printable_path(post.path)}:{post.content.line}: {post.content.reason}"
    return "" if isinstance(post.content, Insight) else post.content.reason
