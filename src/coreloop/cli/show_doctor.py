"""Output of the checks, for ``doctor`` and ``init``."""

from collections.abc import Sequence
from typing import Final

import click

from coreloop.admin.doctor.diagnosis import Diagnosis
from coreloop.base.messages import number_of, say
from coreloop.base.text import padded

_COLOURS: Final = {"ok": "green", "warning": "yellow", "fault": "red"}
_WIDTH: Final = 9


def show_diagnoses(diagnoses: Sequence[Diagnosis]) -> None:
    """Print each diagnosis with what to do about it, then the number of faults and warnings."""
    for diagnosis in diagnoses:
        level = click.style(f"{padded(say(diagnosis.level), _WIDTH)}", fg=_COLOURS[diagnosis.level])
        click.echo(f"{level}{diagnosis.check:{_WIDTH + 1}}{say(diagnosis.message)}")
        if diagnosis.todo:
            click.echo(f"{'':{2 * _WIDTH + 1}}-> {say(diagnosis.todo)}")
    levels = [diagnosis.level for diagnosis in diagnoses]
    faults, warnings = levels.count("fault"), levels.count("warning")
    click.echo(f"{say(number_of(faults, 'fault'))}, {say(number_of(warnings, 'warning'))}")
