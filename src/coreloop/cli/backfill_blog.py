"""``dartlab-coreloop backfill-blog``."""

from datetime import UTC, datetime
from pathlib import Path

import click

from coreloop.cli.options import FOLDER, confirm_option, db_option, json_option
from coreloop.project.workspace import open_workspace


@click.command()
@click.option("--blog-root", type=FOLDER, default="blog", show_default=True, help="The blog's folder.")
@click.option("--glob", "pattern", default="**/index.md", show_default=True, help="Which files are posts.")
@confirm_option
@db_option
@json_option
def command(blog_root: Path, pattern: str, db: Path | None, confirm: bool, as_json: bool) -> None:
    """Import the ai blocks of blog posts as insights.

    Without --confirm it shows what would change and why posts are skipped. Exits 1 when a post's front matter
    cannot be read; the others are taken all the same.
    """
    from coreloop.cli.show_knowledge import show_backfill, warn_of_readers
    from coreloop.knowledge.run import BackfillRequest, backfill_blog, project_database

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
