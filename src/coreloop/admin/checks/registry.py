"""Every check of a project: of its set-up, which `doctor` runs, and of what it recorded, `status`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coreloop.admin.checks import alarms
from coreloop.admin.checks.diagnosis import Alarm, Diagnosis, Setup, SetupCheck
from coreloop.admin.checks.guard import check_guard
from coreloop.admin.checks.newest_record import check_log
from coreloop.admin.checks.privacy import check_ignored, check_private
from coreloop.admin.checks.reach_and_replay import check_reach, check_replay
from coreloop.admin.checks.setup import check_extras, check_settings, check_tools
from coreloop.base.errors import CoreloopError, SettingsError
from coreloop.base.project.settings import Settings
from coreloop.base.project.settings_file import load_settings
from coreloop.base.project.workspace import Workspace, find_root
from coreloop.base.text import printable

if TYPE_CHECKING:
    from coreloop.admin.status.status import Status


@dataclass(frozen=True, slots=True)
class SubjectChecks:
    """What is checked of a subject.

    Attributes
    ----------
    name : str
        The subject.
    of_setup : callable or None
        Diagnoses the set-up, without reading all records.
    of_status : tuple of callable
        Each raises one alarm at most, from the state of the whole loop.
    """

    name: str
    of_setup: SetupCheck | None = None
    of_status: tuple[Callable[["Status"], alarms.Raised], ...] = ()


CHECKS: Final = (
    SubjectChecks("settings", check_settings),
    SubjectChecks(
        "records",
        check_log,
        (alarms.no_record, alarms.future, alarms.outside_window, alarms.torn_lines, alarms.dropped),
    ),
    SubjectChecks("private", check_private),
    SubjectChecks("ignored", check_ignored),
    SubjectChecks("tools", check_tools, (alarms.failing,)),
    SubjectChecks("proposals", None, (alarms.no_candidate, alarms.pending)),
    SubjectChecks("promotions", None, (alarms.unmerged, alarms.hurts)),
    SubjectChecks("reach", check_reach, (alarms.reach,)),
    SubjectChecks("replay", check_replay),
    SubjectChecks("guard", check_guard),
    SubjectChecks("extras", check_extras),
    SubjectChecks("stability", None, (alarms.stability,)),
)
"""In the order in which both commands print them."""


def find_alarms(status: "Status") -> tuple[Alarm, ...]:
    """List the alarms that a status raises; ``status.alarms`` is ignored."""
    found = ((find.__name__, find(status)) for check in CHECKS for find in check.of_status)
    return tuple(Alarm(kind, *raised) for kind, raised in found if raised is not None)


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
        for check in CHECKS
        if check.of_setup is not None
        for diagnosis in _run(check.name, check.of_setup, setup)
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
