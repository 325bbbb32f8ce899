"""``dartlab-coreloop pattern``."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from coreloop.cli.mining import Mining, mining_options
from coreloop.cli.options import FOLDER, days_between, in_dir_option, json_option, window_options
from coreloop.mine.address import Address, Folder
from coreloop.project.workspace import Workspace, open_workspace
from coreloop.text import printable

if TYPE_CHECKING:
    from coreloop.mine.rollup import Rollup
    from coreloop.pattern.candidates import Note

_Number = TypeVar("_Number", int, float)


@click.command()
@window_options
@click.option("--min-repeat", type=click.IntRange(1), help="Requests a pattern needs.  [default: 3]")
@click.option(
    "--min-unique-questions",
    type=click.IntRange(1),
    help="Different questions a pattern needs.  [default: 3]",
)
@click.option("--min-chunk-len", type=click.IntRange(0), help="Characters of a whole answer.  [default: 400]")
@click.option(
    "--min-success-rate", type=click.FloatRange(0, 1), help="Successes of all requests.  [default: 1.0]"
)
@in_dir_option
@click.option("--out", type=FOLDER, help="Where candidates go.  [default: data/audit/candidates]")
@click.option("--sanitize", is_flag=True, help="For others to read: redacted, and folded under 5.")
@click.option(
    "--include-audit-analysis",
    "with_notes",
    is_flag=True,
    help="Show what people wrote in data/dart/auditAnalysis, too; retention_days then removes nothing.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    expose_value=False,
    help="Always so: pattern proposes, and opens no pull request; retention_days holds.",
)
@mining_options
@json_option
def command(
    since: date | timedelta,
    until: date | timedelta,
    min_repeat: int | None,
    min_unique_questions: int | None,
    min_chunk_len: int | None,
    min_success_rate: float | None,
    in_dir: Folder | None,
    out: Path | None,
    sanitize: bool,
    with_notes: bool,
    mining: Mining,
    as_json: bool,
) -> None:
    """Find tool sequences that keep succeeding (Phase P).

    Writes {day}-candidates.json and {day}-draft.md. Where coreloop.yaml sets retention_days, files of older
    records are removed and named; nothing else changes. The defaults of the gates can be set there too.
    """
    from coreloop.cli.show import show_proposals, warn_of_skipped
    from coreloop.history.promotions import project_keys
    from coreloop.mine.rollup import mine_settings
    from coreloop.mine.window import Days
    from coreloop.pattern.propose import propose, write_proposals
    from coreloop.pattern.success import Gate
    from coreloop.verdicts.judge import read_judgments

    now = datetime.now(UTC)
    workspace = open_workspace(Path.cwd())
    gates = workspace.settings.gates
    days = Days(*days_between(now.date(), since, until))
    gate = Gate(
        min_repeat=_chosen(min_repeat, gates.min_repeat),
        min_unique_questions=_chosen(min_unique_questions, gates.min_unique_questions),
        min_success_rate=_chosen(min_success_rate, gates.min_success_rate),
    )
    judgments = read_judgments(workspace.judgments_dir)
    settings = mine_settings(
        workspace.settings,
        _chosen(min_chunk_len, gates.min_chunk_len),
        replayed=workspace.replayed(),
        verdicts=judgments.of_requests(),
    )
    rollups = mining.rollups(in_dir or workspace.records_dir, settings, workspace=workspace)
    known = project_keys(workspace.root, base=workspace.settings.forge.base)
    known |= judgments.rejected()
    proposals = propose(
        rollups,
        days,
        gate,
        workspace=workspace,
        known=known,
        playbook=_good_bullets(workspace),
        notes=_notes(workspace) if with_notes else (),
    )
    folder = out or workspace.candidates_dir
    workspace.keep_private(folder)
    document, paths = write_proposals(proposals, folder, now=now, sanitized=sanitize)
    show_proposals(proposals, document, paths, as_json=as_json)
    warn_of_skipped(judgments.skipped, "judgments")
    if with_notes:
        click.echo(
            "dry run: with audit notes nothing is removed, and no text is proposed from them", err=True
        )
        return
    keep_days = workspace.settings.retention_days
    if keep_days is not None:
        # never what was just mined
        _remove_expired(rollups, min(now.date() - timedelta(days=keep_days), days.since), keep_days, in_dir)


def _remove_expired(
    rollups: "list[Rollup]", oldest_kept: date, keep_days: int, in_dir: Folder | None
) -> None:
    """Remove and name the older files of the records folder; of a folder that was named, none."""
    from coreloop.mine.folder import expired, remove

    if isinstance(in_dir, Address):
        click.echo(f"{in_dir}: nothing is removed at an address; retention_days is for folders", err=True)
    if in_dir is not None:
        return
    for path in expired(rollups, before=oldest_kept):
        remove(path)
        click.echo(f"removed {path}: all of it is older than retention_days ({keep_days})", err=True)


def _good_bullets(workspace: Workspace) -> dict[str, tuple[str, ...]]:
    """The playbook's advice that has proved itself, where the project has a knowledge database."""
    from coreloop.knowledge.playbook import good_bullets
    from coreloop.knowledge.store import reading

    if not workspace.knowledge_file.exists():
        return {}
    with reading(workspace.knowledge_file) as connection:
        return good_bullets(connection)


def _notes(workspace: Workspace) -> "tuple[Note, ...]":
    from coreloop.knowledge.audit_analysis import read_notes
    from coreloop.pattern.candidates import Note

    folder = workspace.audit_notes_dir
    if not folder.is_dir():
        click.echo(f"no audit notes: {folder} is missing", err=True)
    found = read_notes(folder)
    for name, reason in found.skipped.items():
        click.echo(f"skipped {printable(name)}: {reason}", err=True)
    return tuple(Note(code, bullets) for code, bullets in found.bullets.items())


def _chosen(option: _Number | None, default: _Number) -> _Number:
    return default if option is None else option
