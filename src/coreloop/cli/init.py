"""``dartlab-coreloop init`` and ``doctor``."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from coreloop.admin.checks.diagnosis import Diagnosis
from coreloop.admin.checks.registry import check_setup
from coreloop.admin.init.run import Initialised, InitRequest, initialise
from coreloop.admin.init.scaffold import REQUIREMENTS, uses_github
from coreloop.base.git.repository import Repository, github_repo
from coreloop.base.messages import number_of
from coreloop.base.project.settings_file import FILE_NAME
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import padded
from coreloop.base.validation import fields_of
from coreloop.cli.options import confirm_option, int_option, verbose_option
from coreloop.cli.output import Command, Output, for_people, hung, wrap
from coreloop.cli.status import read_next_step

_VERBS = {"new": "write", "grows": "append to", "filled": "fill in", "updated": "update", "there": "keep"}


@click.command(cls=Command)
@click.option(
    "--owner",
    metavar="@LOGIN",
    help="Who reviews promotions: a login or a team.  [default: the owner of the GitHub repository]",
)
@click.option("--source", metavar="REQUIREMENT", help="What workflows install.  [default: what is installed]")
@int_option("--max-open", "Most drafts that may be open at once.  [default: 3]")
@confirm_option
def init(owner: str | None, source: str | None, max_open: int | None, confirm: bool) -> Output:
    """Add the files that coreloop needs to a repository.

    Adds coreloop.yaml, data/audit/ and lines of .gitignore; with a remote on GitHub, --owner or --source,
    also the workflows, the branch rules and CODEOWNERS. Existing files are never overwritten, except
    .github/coreloop-dependencies.txt, which becomes that of this version; coreloop.yaml gains reach. An
    organization cannot review, so it needs --owner. --source also takes a wheel of the repository.
    With --confirm, also says what doctor says.

    Example: init --owner @alex --confirm
    """
    repository = Repository(Path.cwd())
    root, github = repository.root, github_repo(repository)
    workspace, now = open_workspace(Path.cwd()), datetime.now(UTC)
    request = InitRequest(
        repository=root,
        github=github,
        for_github=bool(owner or source) or uses_github(root, repository, workspace.settings.forge),
        reviewer=owner,
        source=source,
        confirm=confirm,
        max_open=max_open,
    )
    done = initialise(workspace, request)
    is_done = confirm or all(file.state == "there" for file in done.files)
    checks = check_setup(root, now=now, environ=os.environ) if is_done else ()
    facts = {
        "root": root,
        "files": [fields_of(file, "path", "state", "added") for file in done.files],
        **fields_of(done, "left_out", "notes"),
        "written": confirm,
        "checks": checks,
    }
    lines = [*_file_lines(root, done, confirm=confirm)]
    if checks:
        lines += ["", "dartlab-coreloop doctor", *diagnosis_lines(checks)]
    urgent = ("records", "warning")  # nothing else matters before the first record
    faults = (one.todo for one in checks if one.level == "fault" or (one.check, one.level) == urgent)
    todo = next(faults, "")
    if not is_done:
        todo = "dartlab-coreloop init --confirm"
    lines += ["", hung("next: ", todo or read_next_step(open_workspace(root), now=now))]
    return Output(facts, lines, for_people(map(wrap, _notes(request, done))))


def _notes(request: InitRequest, done: Initialised) -> Iterator[str]:
    """Say what is left out, and which options have no effect, since their file exists."""
    if done.left_out is not None:
        yield f"dartlab-coreloop: {done.left_out}"
    existing = {file.path for file in done.files if file.state in {"there", "grows"}}
    options = (
        ("--owner", request.reviewer, ".github/CODEOWNERS"),
        ("--source", request.source, REQUIREMENTS),
        ("--max-open", request.max_open, FILE_NAME),
    )
    for option, value, path in options:
        if value is not None and path in existing:
            yield f"{option} has no effect: {path} exists; edit it instead"


def _file_lines(root: Path, done: Initialised, *, confirm: bool) -> Iterator[str]:
    for file in done.files:
        yield f"{padded(_VERBS[file.state], 10)} {file.path}"
        yield from (hung("           ", line) for line in file.added)
    if done.left_out is not None:
        yield "left out   .github/workflows/"
    yield from (hung("note       ", note) for note in done.notes)
    files = number_of(sum(file.state != "there" for file in done.files), "file")
    if files == "0 files":
        yield "nothing to do: every file exists"
    elif not confirm:
        yield wrap(f"{files} in {root}; --confirm writes them")
    else:
        owner = f", and check {done.reviewer} in CODEOWNERS" if done.reviewer is not None else ""
        yield wrap(f"{files} written; commit them{owner}")


@click.command(cls=Command)
@verbose_option
def doctor(verbose: bool) -> Output:
    """Check the set-up, and say what to do about each problem.

    Runs what reach: names, which imports the tools; with a token in GITHUB_TOKEN or GH_TOKEN it asks GitHub
    about the guard. Changes nothing. Exits 1 if a check finds a fault.

    Example: doctor -v
    """
    diagnoses = check_setup(Path.cwd(), now=datetime.now(UTC), environ=os.environ)
    is_broken = any(diagnosis.level == "fault" for diagnosis in diagnoses)
    return Output(diagnoses, diagnosis_lines(diagnoses, is_verbose=verbose), code=int(is_broken))


_COLOURS: Final = {"ok": "green", "warning": "yellow", "fault": "red"}
_WIDTH: Final = 9


def diagnosis_lines(diagnoses: Sequence[Diagnosis], *, is_verbose: bool = False) -> Iterator[str]:
    """Yield what is wrong and what to do about it, then the counts; verbose, also what is well."""
    levels = [diagnosis.level for diagnosis in diagnoses]
    for diagnosis in diagnoses:
        if diagnosis.level == "ok" and not is_verbose:
            continue
        yield hung(f"{_level(diagnosis.level)}{diagnosis.check:{_WIDTH + 1}}", diagnosis.message)
        if diagnosis.todo:
            yield hung(f"{' ' * (2 * _WIDTH + 1)}-> ", diagnosis.todo)
    if not is_verbose and (n_ok := levels.count("ok")):
        yield f"{_level('ok')}{number_of(n_ok, 'check')} passed; -v shows them"
    yield f"{number_of(levels.count('fault'), 'fault')}, {number_of(levels.count('warning'), 'warning')}"


def _level(level: str) -> str:
    return click.style(padded(level, _WIDTH), fg=_COLOURS[level])
