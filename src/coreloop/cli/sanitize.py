"""``dartlab-coreloop sanitize``."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import click

from coreloop.base.errors import UsageError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.cli.options import FILE, FILE_OR_FOLDER, FOLDER
from coreloop.cli.output import Command, Output, ProgressBar
from coreloop.sanitize.export import MAX_LISTED, Report
from coreloop.sanitize.run import SanitizeResult, check_records, export_records
from coreloop.sanitize.sanitize_record import Mode

_SHOWN = 10


@click.command(cls=Command)
@click.argument("paths", metavar="[PATH]…", nargs=-1, type=FILE_OR_FOLDER)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if private data is found.")
@click.option("--in", "source", type=FILE_OR_FOLDER, help="Records.  [default: data/audit/ai-ask]")
@click.option("--out", type=FOLDER, help="A new folder.  [default: data/audit/sanitized/{mode}-{time}]")
@click.option("--mode", type=click.Choice(["hash", "drop", "mask"]), help="How to remove private data.")
@click.option("--names", type=FILE, help="More companies to mask: code, name, alias|alias.")
@click.option("--key-file", type=FILE, help="Key of the pseudonyms, made if absent.  [default: a new one]")
@click.option("--keep-times", is_flag=True, help="Keep the minutes and the names of day files.")
@click.option("--jobs", type=click.IntRange(1), help="Worker processes.  [default: one per core]")
def sanitize(
    paths: tuple[Path, ...],
    check: bool,
    source: Path | None,
    out: Path | None,
    mode: str | None,
    names: Path | None,
    key_file: Path | None,
    keep_times: bool,
    jobs: int | None,
) -> Output:
    """Copy the records without private data, or check them for it.

    hash replaces every text with a keyed pseudonym; drop also removes questions; mask keeps text readable
    and replaces private data with labels, names of companies listed in Korea too.

    Example: sanitize --mode mask --out shared
    """
    workspace, jobs = open_workspace(Path.cwd()), jobs or os.cpu_count() or 1
    _require_one_task(paths, check=check, mode=mode, writes=out is not None or key_file is not None)
    bar = ProgressBar("looking" if check else "sanitizing")
    shared: dict[str, Any] = {"names": names, "jobs": jobs, "progress": bar.update}
    if check:
        result = check_records(workspace, (*paths, *([source] if source is not None else [])), **shared)
    else:
        result = export_records(
            workspace,
            cast(Mode, mode),
            now=datetime.now(UTC),
            source=source,
            out=out,
            key_file=key_file,
            keep_times=keep_times,
            **shared,
        )
    bar.end()
    return _output(result, mode)


def _require_one_task(paths: tuple[Path, ...], *, check: bool, mode: str | None, writes: bool) -> None:
    """Refuse options of the check and of the copy together, and neither of them."""
    if check and (mode is not None or writes):
        raise UsageError("--check writes nothing: leave out --mode, --out and --key-file")
    if not check and paths:
        raise UsageError(f"PATH is for --check; to copy a folder, give --in {paths[0]}")
    if not check and mode is None:
        raise UsageError("give --mode hash, drop or mask to write a copy, or --check to look")


def _output(result: SanitizeResult, mode: str | None) -> Output:
    notes = [f"warning: {warning}" for warning in result.warnings]
    if result.out is not None:
        notes.append(f"wrote {result.out}")
    if mode == "mask":
        notes.append("read the copy before you publish it: rules do not find everything")
    return Output(result.to_json().rstrip(b"\n"), _lines(result), notes, 0 if result.is_clean else 1)


def _lines(result: SanitizeResult) -> Iterator[str]:
    for source, report in zip(result.sources, result.reports, strict=True):
        if len(result.reports) > 1:
            yield f"{printable(str(source))}:"
        yield from _report_lines(report)


def _report_lines(report: Report) -> Iterator[str]:

    what = "read" if report.mode is None else f"written (mode {report.mode})"
    yield f"{number_of(report.n_in, 'line')}: {report.n_out:,} {what}, {report.n_rejected:,} rejected"
    yield from (f"  {kind:<9} {count:>7,}" for kind, count in sorted(report.findings.items()))
    if report.mode is None and not report.findings:
        if report.n_out:
            yield "  no private data found: no address, number, credential or listed name that a rule knows"
            yield "  not looked for: names of persons without a title, a word or a key such as full_name"
        else:
            yield "  nothing was checked: no line can be read"
    if report.n_unread:
        names = [*map(printable, report.unread[:_SHOWN]), *(["…"] if report.n_unread > _SHOWN else [])]
        yield f"{number_of(report.n_unread, 'file')} not read: {', '.join(names)}"
    found = [(place, f"{place['kind']} in {place['path']}") for place in report.places]
    rejected = [(line, f"{line['reason']} ({line['bytes']:,} bytes)") for line in report.rejected]
    n_found = report.findings.total() if found else 0
    for listed, total, noun in (
        (found, n_found, "findings"),
        (rejected, report.n_rejected, "rejected lines"),
    ):
        for place, detail in listed[:_SHOWN]:
            yield printable(f"{place['file']}:{place['line']}: {detail}")
        if total > _SHOWN:
            yield f"… {_SHOWN} of {total:,} {noun}; --json has up to {MAX_LISTED:,}"
