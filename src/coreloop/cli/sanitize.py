"""``dartlab-coreloop sanitize``."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from coreloop.cli.options import FOLDER, json_option
from coreloop.errors import UsageError
from coreloop.files import write_private
from coreloop.project.workspace import Workspace, open_workspace
from coreloop.text import printable

if TYPE_CHECKING:
    from coreloop.sanitize.report import Report

_FILE = click.Path(path_type=Path, dir_okay=False)
_ANY = click.Path(path_type=Path)
_SHOWN = 10


@click.command()
@click.argument("paths", nargs=-1, type=_ANY)
@click.option("--check", is_flag=True, help="Only look; exit 1 when something is found.")
@click.option("--in", "source", type=_ANY, help="Records.  [default: data/audit/ai-ask]")
@click.option("--out", type=FOLDER, help="A new folder.  [default: data/audit/sanitized/{mode}-{time}]")
@click.option("--mode", type=click.Choice(["hash", "drop", "mask"]), help="What becomes of a question.")
@click.option("--names", type=_FILE, help="Companies to mask: code, name, alias|alias.")
@click.option(
    "--key-file", type=_FILE, help="Key of the pseudonyms; made when it is not there.  [default: none]"
)
@click.option("--keep-times", is_flag=True, help="Leave minutes, and the names of day files.")
@click.option("--report", "report_file", type=_FILE, help="Write the report as JSON.")
@click.option("--jobs", type=click.IntRange(1), help="Processes.  [default: one a core]")
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
    """Make a copy of the records that may be shared, or look what may not be.

    hash makes every text a keyed pseudonym, drop removes questions too, mask keeps texts readable and puts
    labels for what is private. The originals are never written to. docs/privacy.md says what each promises.
    """
    from coreloop.sanitize.folder import check_dir

    workspace = open_workspace(Path.cwd())
    jobs = jobs or os.cpu_count() or 1
    if check:
        if mode is not None or out is not None or key_file is not None:
            raise UsageError("--check writes nothing: leave out --mode, --out and --key-file")
        sources = (*paths, *([source] if source is not None else [])) or (workspace.records_dir,)
        reports = [check_dir(one, names_file=_names(names, workspace), jobs=jobs) for one in sources]
        _finish(reports, sources, report_file, as_json=as_json)
        return
    if mode is None or paths:
        raise UsageError("say --mode hash, drop or mask, with --in and --out for the folders; or --check")
    source = source or workspace.records_dir
    out = out or workspace.audit_dir / "sanitized" / f"{mode}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    report = _export(
        workspace, source, out, mode, names, key_file, keep_times=keep_times, jobs=jobs, report=report_file
    )
    click.echo(f"wrote {out}", err=True)
    _finish([report], (source,), report_file, as_json=as_json)


def _export(
    workspace: Workspace,
    source: Path,
    out: Path,
    mode: str,
    names: Path | None,
    key_file: Path | None,
    *,
    keep_times: bool,
    jobs: int,
    report: Path | None,
) -> "Report":
    from coreloop.sanitize.folder import Choices, find_files, refuse_out, sanitize_dir
    from coreloop.sanitize.pseudonyms import read_key
    from coreloop.sanitize.vocabulary import Vocabulary, learn

    if names is not None and mode != "mask":
        raise UsageError("--names is for --mode mask; the other modes keep no names at all")
    refuse_out(source, out)
    _refuse_within(report, source, "--report")
    _refuse_within(key_file, source, "--key-file")
    files = find_files(source)
    choices = Choices(
        mode=mode,  # type: ignore[arg-type]  # one of the three, says click
        key=read_key(key_file, out=out) if key_file is not None else None,
        names_file=_names(names, workspace) if mode == "mask" else None,
        vocabulary=Vocabulary() if mode == "mask" else learn(files, workspace.settings, workspace.root),
        keep_times=keep_times,
        jobs=jobs,
    )
    return sanitize_dir(source, out, choices)


def _refuse_within(file: Path | None, source: Path, option: str) -> None:
    if file is not None and source.resolve() in (file.resolve(), *file.resolve().parents):
        raise UsageError(f"{option} {file} lies in {source}, which is only read; name another place")


def _names(names: Path | None, workspace: Workspace) -> Path | None:
    configured = workspace.settings.sanitize.names
    return names or (workspace.root / configured if configured is not None else None)


def _finish(
    reports: "list[Report]", sources: tuple[Path, ...], report_file: Path | None, *, as_json: bool
) -> None:
    facts = [
        {"source": os.fsencode(source).decode("utf-8", "replace"), **one.to_dict()}
        for source, one in zip(sources, reports, strict=True)
    ]
    text = orjson.dumps(
        facts[0] if len(facts) == 1 else facts, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )
    if report_file is not None:
        write_private(report_file, text)
        click.echo(f"wrote {report_file}", err=True)
    if as_json:
        click.echo(text, nl=False)
    else:
        for report in reports:
            _show(report)
    checked = any(report.mode is None and report.found for report in reports)
    rejected = any(report.n_rejected for report in reports)
    click.get_current_context().exit(1 if checked or rejected else 0)


def _show(report: "Report") -> None:
    what = "read" if report.mode is None else f"written, {report.mode}"
    click.echo(f"{report.n_in:,} lines in = {report.n_out:,} {what} + {report.n_rejected:,} rejected")
    for kind, count in sorted(report.found.items()):
        click.echo(f"  {kind:<9} {count:>7,}")
    if report.mode is None and not report.found:
        click.echo("  nothing found")
    _show_listed(report.places, report.found.total() if report.places else 0, "findings")
    _show_listed(report.rejected, report.n_rejected, "rejected lines")


def _show_listed(listed: list[dict[str, object]], total: int, what: str) -> None:
    for one in listed[:_SHOWN]:
        place = f"{one['file']}:{one['line']}"
        detail = (
            f"{one['kind']} in {one['path']}"
            if "kind" in one
            else f"{one['reason']} ({one['bytes']:,} bytes)"
        )
        click.echo(f"{printable(place)}: {printable(detail)}")
    if total > _SHOWN:
        click.echo(f"… of {total:,} {what}; --report FILE.json has more")
