"""``dartlab-coreloop doctor``."""

import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from coreloop.cli.emit import emit
from coreloop.cli.options import json_option, verbose_option


@click.command()
@verbose_option
@json_option
def command(verbose: bool, as_json: bool) -> None:
    """Check the set-up, and say what to do about each problem.

    Looks at coreloop.yaml, the newest records, file modes, .gitignore, the tools, the replay endpoint, the
    guard and what is installed, and runs what reach: names, which imports the tools; with a token in
    GITHUB_TOKEN or GH_TOKEN it asks GitHub about the guard.
    Changes nothing. Exits 1 if a check finds a fault; warnings do not change the exit code.
    """
    from coreloop.admin.doctor.run import check_setup
    from coreloop.cli.show_doctor import show_diagnoses

    diagnoses = check_setup(Path.cwd(), now=datetime.now(UTC), environ=os.environ)
    emit(diagnoses, as_json=as_json, text=partial(show_diagnoses, is_verbose=verbose))
    is_broken = any(diagnosis.level == "fault" for diagnosis in diagnoses)
    click.get_current_context().exit(1 if is_broken else 0)
