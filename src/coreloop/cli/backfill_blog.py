"""``dartlab-coreloop backfill-blog``."""

from datetime import UTC, datetime
from pathlib import Path

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.options import FOLDER, confirm_option, db_option, json_option


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
    from coreloop.cli.show_knowledge import show_backfill, warn_of_readers
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
    show_backfill(backfill, confirm=confirm, as_json=as_json)
    if confirm:
        warn_of_readers(request.database)
    if backfill.malformed:
        click.get_current_context().exit(1)
