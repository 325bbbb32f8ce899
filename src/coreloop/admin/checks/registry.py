"""Every check of a project's set-up, which `doctor` runs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from coreloop.admin.checks.diagnosis import Diagnosis, Setup, SetupCheck
from coreloop.admin.checks.guard import check_guard
from coreloop.admin.checks.newest_record import check_log
from coreloop.admin.checks.privacy import check_ignored, check_private
from coreloop.admin.checks.reach_and_replay import check_reach, check_replay
from coreloop.admin.checks.setup import check_settings, check_tools
from coreloop.base.errors import CoreloopError, SettingsError
from coreloop.base.project.settings import Settings
from coreloop.base.project.settings_file import load_settings
from coreloop.base.project.workspace import Workspace, find_root
from coreloop.base.text import printable

CHECKS: Final[Mapping[str, SetupCheck]] = {
    "settings": check_settings,
    "records": check_log,
    "private": check_private,
    "ignored": check_ignored,
    "tools": check_tools,
    "reach": check_reach,
    "replay": check_replay,
    "guard": check_guard,
}
"""By subject, in the order in which ``doctor`` prints them."""


def check_setup(start: Path, *, now: datetime, environ: Mapping[str, str]) -> tuple[Diagnosis, ...]:
    """Run every check. Writes nothing and sends no question to an agent; runs the command of ``reach:``.

    Parameters
    ----------
    start : Path
        A folder of the project; it may be empty.
    environ : mapping
        ``CORELOOP_…`` overrides, and a token in GITHUB_TOKEN or GH_TOKEN.

    Returns
    -------
    tuple of Diagnosis
        In the order of `CHECKS`, printable. A check that raises an exception becomes a warning.
    """
    setup = _open(start, now, environ)
    return tuple(
        replace(diagnosis, message=printable(diagnosis.message), todo=printable(diagnosis.todo))
        for name, check in CHECKS.items()
        for diagnosis in _run(name, check, setup)
    )


def _open(start: Path, now: datetime, environ: Mapping[str, str]) -> Setup:
    root = find_root(start)
    try:
        return Setup(Workspace(root, load_settings(root, environ=environ)), None, now, environ)
    except SettingsError as error:
        return Setup(Workspace(root, Settings()), error, now, environ)


def _run(name: str, check: SetupCheck, setup: Setup) -> Iterator[Diagnosis]:
    try:
        yield from check(setup)
    except CoreloopError as error:  # its message says what to do
        yield Diagnosis(name, "warning", f"could not be checked: {error}")
    except Exception as error:  # the other checks still run
        message = f"could not be checked: {type(error).__name__}: {' '.join(str(error).split())}"
        if isinstance(error, OSError):
            yield Diagnosis(name, "fault", message, "give this user access to it, or run doctor as its owner")
        else:
            yield Diagnosis(name, "warning", message, "please report this as a bug in coreloop")
