"""Output of the checks, for ``doctor`` and ``init``."""

import shutil
from collections.abc import Sequence
from typing import Final

import click

from coreloop.admin.doctor.diagnosis import Diagnosis
from coreloop.base.messages import number_of, say
from coreloop.base.text import padded, wrapped

_COLOURS: Final = {"ok": "green", "warning": "yellow", "fault": "red"}
_WIDTH: Final = 9


def show_diagnoses(diagnoses: Sequence[Diagnosis], *, is_verbose: bool = False) -> None:
    """Print what is wrong and what to do about it, then the counts; verbose, also what is well."""
    columns, indent = shutil.get_terminal_size().columns, " " * (2 * _WIDTH + 1)
    for diagnosis in diagnoses:
        if diagnosis.level == "ok" and not is_verbose:
            continue
        level = click.style(f"{padded(say(diagnosis.level), _WIDTH)}", fg=_COLOURS[diagnosis.level])
        message = wrapped(say(diagnosis.message), columns, indent=indent).removeprefix(indent)
        click.echo(f"{level}{diagnosis.check:{_WIDTH + 1}}{message}")
        if diagnosis.todo:
            click.echo(f"{indent}-> {say(diagnosis.todo)}")  # not wrapped: it may be a command to copy
    levels = [diagnosis.level for diagnosis in diagnoses]
    if not is_verbose and (n_ok := levels.count("ok")):
        level = click.style(padded(say("ok"), _WIDTH), fg=_COLOURS["ok"])
        click.echo(f"{level}{say('{checks} passed; -v shows them', checks=number_of(n_ok, 'check'))}")
    faults, warnings = levels.count("fault"), levels.count("warning")
    click.echo(f"{say(number_of(faults, 'fault'))}, {say(number_of(warnings, 'warning'))}")
