"""Output of the checks, for ``doctor`` and ``init``."""

from collections.abc import Sequence
from typing import Final

import click

from coreloop.admin.doctor.diagnosis import Diagnosis
from coreloop.base.text import counted

_COLOURS: Final = {"ok": "green", "warning": "yellow", "fault": "red"}
_WIDTH: Final = 9


def show_diagnoses(diagnoses: Sequence[Diagnosis]) -> None:
    """Print each diagnosis with what to do about it, then the number of faults and warnings."""
    for diagnosis in diagnoses:
        level = click.style(f"{diagnosis.level:{_WIDTH}}", fg=_COLOURS[diagnosis.level])
        click.echo(f"{level}{diagnosis.check:{_WIDTH + 1}}{diagnosis.message}")
        if diagnosis.todo:
            click.echo(f"{'':{2 * _WIDTH + 1}}-> {diagnosis.todo}")
    levels = [diagnosis.level for diagnosis in diagnoses]
    faults, warnings = levels.count("fault"), levels.count("warning")
    click.echo(f"{counted(faults, 'fault')}, {counted(warnings, 'warning')}")
