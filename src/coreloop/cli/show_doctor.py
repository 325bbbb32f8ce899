"""What ``doctor`` and ``init`` print of the checks."""

from collections.abc import Sequence
from typing import Final

import click

from coreloop.doctor.diagnosis import Diagnosis
from coreloop.text import counted

_COLOURS: Final = {"ok": "green", "warning": "yellow", "fault": "red"}
_WIDTH: Final = 9


def show_diagnoses(found: Sequence[Diagnosis]) -> None:
    """Print a line per check, what to do under it, and how many failed."""
    for one in found:
        level = click.style(f"{one.level:{_WIDTH}}", fg=_COLOURS[one.level])
        click.echo(f"{level}{one.check:{_WIDTH + 1}}{one.message}")
        if one.todo:
            click.echo(f"{'':{2 * _WIDTH + 1}}-> {one.todo}")
    faults, warnings = (sum(one.level == level for one in found) for level in ("fault", "warning"))
    click.echo(f"{counted(faults, 'fault')}, {counted(warnings, 'warning')}")
