"""The use case ``doctor``: run all checks."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from coreloop.admin.doctor.diagnosis import Diagnosis, Setup, SetupCheck, listed
from coreloop.admin.doctor.guard import check_guard
from coreloop.admin.doctor.log import check_log, log_files, recent_lines
from coreloop.admin.doctor.model import check_reach, check_replay
from coreloop.admin.doctor.privacy import check_ignored, check_private
from coreloop.admin.doctor.programs import check_notify
from coreloop.base.errors import CoreloopError, SettingsError
from coreloop.base.extras import CLI_MODULES, install_line
from coreloop.base.messages import Phrase, number_of
from coreloop.base.project.settings import Settings
from coreloop.base.project.settings_file import FILE_NAME, load_settings
from coreloop.base.project.tools import Tool, Unresolved, resolve_tools
from coreloop.base.project.workspace import Workspace, find_root
from coreloop.base.text import printable

_MAX_RECORDED: Final = 200
_LIKENESS: Final = 0.8
"""A name with two letters exchanged or one missing; pairs such as get_order and set_order are at 0.89."""


def check_tools(setup: Setup) -> Iterator[Diagnosis]:
    """Check that `coreloop.base.project.tools.resolve_tools` finds every tool; a wrong target is a fault."""
    workspace = setup.workspace
    configured = workspace.settings.tools
    lines = recent_lines(log_files(workspace.records_dir))
    recorded = {call.name for line in lines for call in line.calls}
    names = {*configured, *sorted(recorded)[:_MAX_RECORDED]}
    if not names:
        message = "no tool is known: no record has a tool call, and coreloop.yaml names no tool"
        yield Diagnosis(
            "tools", "warning", message, "wrap tools in @observed_tool, or name them under tools:"
        )
        return
    resolved = resolve_tools(names, root=workspace.root, configured=configured)
    yield from _misspelt(resolved, configured.keys() - recorded, recorded - configured.keys())
    unresolved = [tool for tool in resolved.values() if isinstance(tool, Unresolved)]
    if not unresolved:
        yield Diagnosis(
            "tools", "ok", Phrase("the definition of {tools} is found", tools=number_of(len(names), "tool"))
        )
        return
    is_wrong = any(tool.name in configured and configured[tool.name].target for tool in unresolved)
    reasons = listed(f"{tool.name[:60]} ({tool.reason})" for tool in unresolved)
    yield Diagnosis(
        "tools",
        "fault" if is_wrong else "warning",
        Phrase(
            "{n_unresolved} of {tools} without a known definition: {reasons}",
            n_unresolved=len(unresolved),
            tools=number_of(len(names), "tool"),
            reasons=reasons,
        ),
        'write tools: {name: {target: "path.py::name"}} in coreloop.yaml; without it they get no proposals',
    )


def _misspelt(
    resolved: Mapping[str, Tool | Unresolved], unrecorded: Set[str], others: Set[str]
) -> Iterator[Diagnosis]:
    """Unrecorded names of coreloop.yaml without a definition of their own that resemble a recorded name."""
    for name in sorted(unrecorded):
        tool = resolved[name]
        has_own = isinstance(tool, Tool) and tool.qualname.partition(":")[0].rpartition(".")[2] == name
        close = () if has_own else difflib.get_close_matches(name, sorted(others), n=1, cutoff=_LIKENESS)
        if close:
            message = Phrase("tools: {name} was never recorded; {close} is", name=name, close=close[0])
            yield Diagnosis(
                "tools",
                "warning",
                message,
                Phrase("did you mean {close}? Correct coreloop.yaml", close=close[0]),
            )


_DISTRIBUTED: Final = ("distributed", "fsspec")


def check_settings(setup: Setup) -> Iterator[Diagnosis]:
    """Check that coreloop.yaml exists and is valid."""
    if setup.refused is not None:
        todo = "correct it; until then the checks use defaults"
        yield Diagnosis("settings", "fault", str(setup.refused), todo)
    elif not setup.workspace.is_configured:
        message = Phrase(
            "there is no {file_name} in {root} or above it; every setting has its default",
            file_name=FILE_NAME,
            root=setup.workspace.root,
        )
        yield Diagnosis(
            "settings", "warning", message, "run dartlab-coreloop init --confirm in the repository"
        )
    else:
        yield Diagnosis("settings", "ok", Phrase("{root} is valid", root=setup.workspace.root / FILE_NAME))


def check_extras(_: Setup) -> Iterator[Diagnosis]:
    """Check that the modules of the extras exist, without importing them."""
    missing = _missing(CLI_MODULES)
    if missing:
        todo = Phrase("run {install_line}", install_line=install_line("cli"))
        yield Diagnosis(
            "extras",
            "fault",
            Phrase("packages of the extra cli are missing: {listed}", listed=listed(missing)),
            todo,
        )
    else:
        yield Diagnosis("extras", "ok", "the packages of the extra cli are installed")
    absent = _missing(_DISTRIBUTED)
    if absent:
        message = Phrase(
            "distributed is not installed ({listed}); only --scheduler and s3:// addresses need it",
            listed=listed(absent),
        )
        yield Diagnosis(
            "extras",
            "ok",
            message,
            Phrase("to use them, run {install_line}", install_line=install_line("distributed")),
        )
    else:
        yield Diagnosis("extras", "ok", "the packages of the extra distributed are installed")


def _missing(modules: Iterable[str]) -> list[str]:
    return [module for module in sorted(modules) if find_spec(module) is None]


CHECKS: Final[Mapping[str, SetupCheck]] = {
    "settings": check_settings,
    "records": check_log,
    "private": check_private,
    "ignored": check_ignored,
    "tools": check_tools,
    "reach": check_reach,
    "replay": check_replay,
    "notify": check_notify,
    "guard": check_guard,
    "extras": check_extras,
}


def check_setup(start: Path, *, now: datetime, environ: Mapping[str, str]) -> tuple[Diagnosis, ...]:
    """Run every check. Writes nothing and sends no question to an agent; runs the command of ``reach:``.

    Parameters
    ----------
    start : Path
        A folder of the project; it may be empty.
    now : datetime
        Aware.
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
        return Setup(Workspace(root, _usable(root, environ)), error, now, environ)


def _usable(root: Path, environ: Mapping[str, str]) -> Settings:
    """Return the settings without the check of their paths, or the defaults if they are invalid."""
    try:
        return load_settings(root, environ=environ, check_paths=False)
    except SettingsError:
        return Settings()


def _run(name: str, check: SetupCheck, setup: Setup) -> Iterator[Diagnosis]:
    try:
        yield from check(setup)
    except CoreloopError as error:  # its message says what to do
        yield Diagnosis(name, "warning", Phrase("could not be checked: {error}", error=error))
    except Exception as error:  # the other checks still run
        message = Phrase(
            "could not be checked: {name}: {split}",
            name=type(error).__name__,
            split=" ".join(str(error).split()),
        )
        if isinstance(error, OSError):
            yield Diagnosis(name, "fault", message, "give this user access to it, or run doctor as its owner")
        else:
            yield Diagnosis(name, "warning", message, "please report this as a bug in coreloop")
