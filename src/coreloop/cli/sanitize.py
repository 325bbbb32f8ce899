"""``dartlab-coreloop sanitize``."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.errors import UsageError
from coreloop.base.files import write_private
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.cli.options import FILE, FILE_OR_FOLDER, FOLDER, json_option
from coreloop.cli.progress import ProgressBar

if TYPE_CHECKING:
    from coreloop.sanitize.export import Report
    from coreloop.sanitize.run import SanitizeResult

_SHOWN = 10


@click.command()
@click.argument("paths", nargs=-1, type=FILE_OR_FOLDER)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if private data is found.")
@click.option("--in", "source", type=FILE_OR_FOLDER, help="Records.  [default: data/audit/ai-ask]")
@click.option("--out", type=FOLDER, help="A new folder.  [default: data/audit/sanitized/{mode}-{time}]")
@click.option("--mode", type=click.Choice(["hash", "drop", "mask"]), help="How to remove private data.")
@click.option("--names", type=FILE, help="More companies to mask: code, name, alias|alias.")
@click.option(
    "--key-file",
    type=FILE,
    help="Key of the pseudonyms; created if absent.  [default: a new key, not stored]",
)
@click.option("--keep-times", is_flag=True, help="Keep the minutes and the names of day files.")
@click.option("--report", "report_file", type=FILE, help="Write the report as JSON.")
@click.option("--jobs", type=click.IntRange(1), help="Worker processes.  [default: one per core]")
@json_option
def command(
    paths: tuple[Path, ...],
    check: bool,
    source: Path | None,
    out: Path | None,
    mode: str | None,
    names: Path | None,
    key_file: Path | None,
    keep_times: bool,
    report_file: Path | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Copy the records without private data, or check them for it.

    hash replaces every text with a keyed pseudonym; drop also removes questions; mask keeps text readable
    and replaces private data with labels. The originals are never changed. Companies listed in Korea are
    known: mask replaces their names and stock codes, and --check reports them; allow: in coreloop.yaml keeps
    a name.
    """
    from coreloop.sanitize.run import ExportRequest, check_records, export_records

    workspace = open_workspace(Path.cwd())
    jobs = jobs or os.cpu_count() or 1
    _require_one_task(paths, check=check, mode=mode, writes=out is not None or key_file is not None)
    if check:
        sources = (*paths, *([source] if source is not None else []))
        bar = ProgressBar("looking")
        result = check_records(
            workspace, sources, names=names, report=report_file, jobs=jobs, progress=bar.update
        )
    else:
        bar = ProgressBar("sanitizing")
        request = ExportRequest(
            mode=mode,  # type: ignore[arg-type]  # click checked that it is a mode
            now=datetime.now(UTC),
            source=source,
            out=out,
            names=names,
            key_file=key_file,
            report=report_file,
            keep_times=keep_times,
            jobs=jobs,
            progress=bar.update,
        )
        result = export_records(workspace, request)
    bar.end()
    _show_notes(result, mode)
    _finish(result, report_file, as_json=as_json)


def _show_notes(result: "SanitizeResult", mode: str | None) -> None:
    for warning in result.warnings:
        click.echo(f"warning: {warning}", err=True)
    if result.out is not None:
        click.echo(f"wrote {result.out}", err=True)
    if mode == "mask":
        click.echo("read the copy before you publish it: rules do not find everything", err=True)


def _require_one_task(paths: tuple[Path, ...], *, check: bool, mode: str | None, writes: bool) -> None:
    """Refuse options of the check and of the copy together, and neither of them."""
    if check and (mode is not None or writes):
        raise UsageError("--check writes nothing: leave out --mode, --out and --key-file")
    if not check and paths:
        raise UsageError(f"PATHS are for --check; to copy a folder, give --in {paths[0]}")
    if not check and mode is None:
        raise UsageError("give --mode hash, drop or mask to write a copy, or --check to look")


def _finish(result: "SanitizeResult", report_file: Path | None, *, as_json: bool) -> None:
    text = result.to_json()
    if report_file is not None:
        write_private(report_file, text)
        click.echo(f"wrote {report_file}", err=True)
    if as_json:
        click.echo(text, nl=False)
    else:
        for source, report in zip(result.sources, result.reports, strict=True):
            if len(result.reports) > 1:
                click.echo(f"{printable(str(source))}:")
            _show(report, report_file)
    click.get_current_context().exit(0 if result.is_clean else 1)


def _show(report: "Report", report_file: Path | None) -> None:
    what = "read" if report.mode is None else f"written (mode {report.mode})"
    click.echo(f"{number_of(report.n_in, 'line')}: {report.n_out:,} {what}, {report.n_rejected:,} rejected")
    for kind, count in sorted(report.findings.items()):
        click.echo(f"  {kind:<9} {count:>7,}")
    if report.mode is None and not report.findings:
        if report.n_out:
            click.echo(
                "  no private data found: no address, number, credential or listed name that a rule knows"
            )
            click.echo(
                "  not looked for: names of persons without a title, a word or a key such as full_name"
            )
        else:
            click.echo("  nothing was checked: no line can be read")
    if report.n_unread:
        names = [*map(printable, report.unread[:_SHOWN]), *(["…"] if report.n_unread > _SHOWN else [])]
        click.echo(f"{number_of(report.n_unread, 'file')} not read: {', '.join(names)}")
    more = str(report_file or "--report FILE.json")
    _show_listed(report.places, report.findings.total() if report.places else 0, "findings", more)
    _show_listed(report.rejected, report.n_rejected, "rejected lines", more)


def _show_listed(entries: list[dict[str, object]], total: int, noun: str, more: str) -> None:
    from coreloop.sanitize.export import MAX_LISTED

    for entry in entries[:_SHOWN]:
        place = f"{entry['file']}:{entry['line']}"
        detail = (
            f"{entry['kind']} in {entry['path']}"
            if "kind" in entry
            else f"{entry['reason']} ({entry['bytes']:,} bytes)"
        )
        click.echo(f"{printable(place)}: {printable(detail)}")
    if total > _SHOWN:
        click.echo(f"… {_SHOWN} of {total:,} {noun}; {more} has up to {MAX_LISTED:,}")
