"""``dartlab-coreloop init`` and ``doctor``."""

import os
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.admin.init.scaffold import REQUIREMENTS
from coreloop.base.messages import number_of
from coreloop.base.project.settings_file import FILE_NAME
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import padded, printable, wrapped
from coreloop.base.untrusted import with_untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.options import confirm_option, verbose_option
from coreloop.cli.output import Command, Output, is_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coreloop.admin.checks.diagnosis import Diagnosis
    from coreloop.admin.init.new_settings import SettingsProposals
    from coreloop.admin.init.run import DraftPreview, Initialised, InitRequest


_MAX_DRAFTS = 5
_VERBS = {"new": "write", "grows": "append to", "filled": "fill in", "updated": "update", "there": "keep"}


@click.command(cls=Command)
@click.option(
    "--owner",
    metavar="@LOGIN",
    help="Who reviews promotions: a login or a team.  [default: the owner of the GitHub repository]",
)
@click.option(
    "--source", metavar="REQUIREMENT", help="What the workflows install.  [default: what is installed here]"
)
@click.option(
    "--max-open",
    type=click.IntRange(min=1),
    help="Most drafts that may be open at once.  [default: asked on a terminal, else 3]",
)
@confirm_option
def init(owner: str | None, source: str | None, max_open: int | None, confirm: bool) -> Output:
    """Add the files that coreloop needs to a repository.

    Adds coreloop.yaml, the workflows, the branch rules, CODEOWNERS, data/audit/ and lines of .gitignore.
    Existing files are never overwritten, except .github/coreloop-dependencies.txt, which becomes that of this
    version. An organization cannot review, so it needs --owner. With --confirm, ends with the checks of
    doctor, which do not change the exit code. Last comes what the first drafts would be, from the records
    that there are, and how many new ones the last week brought.

    Example: init --owner @alex --confirm
    """
    from coreloop.admin.checks.registry import check_setup
    from coreloop.admin.init.run import initialise, preview_drafts

    request = _request(owner, source, max_open, confirm=confirm, may_ask=not is_json())
    root, now = request.repository, datetime.now(UTC)
    done = initialise(open_workspace(Path.cwd()), request)
    checks = check_setup(root, now=now, environ=os.environ) if confirm else ()
    preview = preview_drafts(open_workspace(root), now=now)
    facts = {
        "root": root,
        "files": [fields_of(file, "path", "state", "added") for file in done.files],
        **fields_of(done, "left_out", "notes"),
        "written": confirm,
        "checks": checks,
        "preview": with_untrusted(preview, "undefined") if preview is not None else None,
    }
    return Output(facts, lambda: _show(request, done, checks, preview))


def _request(
    owner: str | None, source: str | None, max_open: int | None, *, confirm: bool, may_ask: bool
) -> "InitRequest":
    """Return what to do; how many drafts may be open is asked on a terminal, while there are no settings."""
    from coreloop.admin.init.run import InitRequest
    from coreloop.base.git.repository import Repository, github_repo
    from coreloop.base.github.connect import account_type

    with Repository(Path.cwd()) as repository:
        root, github = repository.root, github_repo(repository)
    is_new = not (root / FILE_NAME).exists()
    if max_open is None and is_new and confirm and may_ask and sys.stdin.isatty():
        max_open = click.prompt("How many drafts may be open at once?", type=click.IntRange(min=1), default=3)
    return InitRequest(
        repository=root,
        github=github,
        reviewer=owner,
        source=source,
        confirm=confirm,
        max_open=max_open,
        owner_type=partial(account_type, environ=os.environ),
    )


def _show(
    request: "InitRequest",
    done: "Initialised",
    checks: "Sequence[Diagnosis]",
    preview: "DraftPreview | None",
) -> None:
    _show_files(request.repository, done, confirm=request.confirm)
    _warn_of_options(request, done)
    if checks:
        click.echo("\ndartlab-coreloop doctor")
        show_diagnoses(checks)
    settings = open_workspace(request.repository).settings
    _show_preview(preview, request.max_open or settings.forge.max_open)


def _warn_of_options(request: "InitRequest", done: "Initialised") -> None:
    """Say which options have no effect, since their file exists."""
    existing = {file.path for file in done.files if file.state == "there"}
    options = (
        ("--owner", request.reviewer, ".github/CODEOWNERS"),
        ("--source", request.source, REQUIREMENTS),
        ("--max-open", request.max_open, FILE_NAME),
    )
    for option, value, path in options:
        if value is not None and path in existing:
            click.echo(f"{option} has no effect: {path} exists; edit it instead", err=True)


def _show_files(root: Path, done: "Initialised", *, confirm: bool) -> None:
    for file in done.files:
        click.echo(f"{padded(_VERBS[file.state], 10)} {file.path}")
        for line in file.added:
            click.echo(f"           {line}")
        if file.path == FILE_NAME and (proposed := _proposed(done.proposals)):
            click.echo(f"           proposes, each behind a #: {proposed}")
    if done.left_out is not None:
        click.echo("left out   .github/workflows/")
        click.echo(f"dartlab-coreloop: {done.left_out}", err=True)
    for note in done.notes:
        click.echo(f"note       {printable(note)}")
    n_files = sum(file.state != "there" for file in done.files)
    if not n_files:
        click.echo("nothing to do: every file exists")
    elif not confirm:
        click.echo(f"{number_of(n_files, 'file')} in {printable(str(root))}; --confirm writes them")
    else:
        click.echo(
            f"{number_of(n_files, 'file')} written. Commit them, check {done.reviewer} in CODEOWNERS, and run"
        )
        click.echo("  dartlab-coreloop guard protect")


def _show_preview(preview: "DraftPreview | None", max_open: int) -> None:
    if preview is None:
        click.echo("no records yet, so no preview of the first drafts; try dartlab-coreloop look FOLDER")
        return
    if not preview.n_records:
        click.echo("\nthe newest records are too many for a preview; dartlab-coreloop refine reads them")
        return
    _show_drafts(preview)
    click.echo(f"at most {max_open} are open at once (forge: max_open in coreloop.yaml)")


def _show_drafts(preview: "DraftPreview") -> None:
    n_drafts = len(preview.drafts)
    records = number_of(preview.n_records, "record")
    click.echo()
    click.echo(f"first drafts, from {records} of 30 days: {n_drafts}")
    for tool, line in preview.drafts[:_MAX_DRAFTS]:
        click.echo(printable(f"  {tool}: {line}"))
    if n_drafts > _MAX_DRAFTS:
        click.echo(f"  … and {n_drafts - _MAX_DRAFTS} more")
    if preview.undefined:
        tools = ", ".join(map(printable, preview.undefined[:_MAX_DRAFTS]))
        click.echo(f"more lines hold, but the source does not define the tools; name them in tools: {tools}")
    if preview.n_unread:
        unread = number_of(preview.n_unread, "older file")
        click.echo(f"{unread} not read; dartlab-coreloop refine reads all")


def _proposed(proposals: "SettingsProposals") -> str:
    n_selectors = sum(len(tool.selectors) for tool in proposals.tools)
    counts = {"tool": len(proposals.tools), "selector": n_selectors}
    parts = [number_of(number, noun) for noun, number in counts.items() if number]
    return ", ".join(
        [
            *parts,
            *([f"reach by {proposals.framework}"] if proposals.framework else []),
        ]
    )


@click.command(cls=Command)
@verbose_option
def doctor(verbose: bool) -> Output:
    """Check the set-up, and say what to do about each problem.

    Looks at coreloop.yaml, the newest records, file modes, .gitignore, the tools, the replay endpoint, the
    guard and what is installed, and runs what reach: names, which imports the tools; with a token in
    GITHUB_TOKEN or GH_TOKEN it asks GitHub about the guard.
    Changes nothing. Exits 1 if a check finds a fault; warnings do not change the exit code.

    Example: doctor -v
    """
    from coreloop.admin.checks.registry import check_setup

    diagnoses = check_setup(Path.cwd(), now=datetime.now(UTC), environ=os.environ)
    is_broken = any(diagnosis.level == "fault" for diagnosis in diagnoses)
    shown = partial(show_diagnoses, diagnoses, is_verbose=verbose)
    return Output(diagnoses, shown, code=int(is_broken))


_COLOURS: Final = {"ok": "green", "warning": "yellow", "fault": "red"}
_WIDTH: Final = 9


def show_diagnoses(diagnoses: "Sequence[Diagnosis]", *, is_verbose: bool = False) -> None:
    """Print what is wrong and what to do about it, then the counts; verbose, also what is well."""
    columns, indent = shutil.get_terminal_size().columns, " " * (2 * _WIDTH + 1)
    for diagnosis in diagnoses:
        if diagnosis.level == "ok" and not is_verbose:
            continue
        level = click.style(f"{padded(diagnosis.level, _WIDTH)}", fg=_COLOURS[diagnosis.level])
        message = wrapped(diagnosis.message, columns, indent=indent).removeprefix(indent)
        click.echo(f"{level}{diagnosis.check:{_WIDTH + 1}}{message}")
        if diagnosis.todo:
            click.echo(f"{indent}-> {diagnosis.todo}")  # not wrapped: it may be a command to copy
    levels = [diagnosis.level for diagnosis in diagnoses]
    if not is_verbose and (n_ok := levels.count("ok")):
        level = click.style(padded("ok", _WIDTH), fg=_COLOURS["ok"])
        click.echo(f"{level}{number_of(n_ok, 'check')} passed; -v shows them")
    faults, warnings = levels.count("fault"), levels.count("warning")
    click.echo(f"{number_of(faults, 'fault')}, {number_of(warnings, 'warning')}")
