"""``dartlab-coreloop doctor``."""

import os
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.messages import number_of
from coreloop.base.text import padded, wrapped
from coreloop.cli.options import verbose_option
from coreloop.cli.output import Command, Output

if TYPE_CHECKING:
    from coreloop.admin.checks.diagnosis import Diagnosis


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
