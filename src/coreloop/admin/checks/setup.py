"""Check the settings, the tools that they name, and the installed packages."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Set
from importlib.util import find_spec
from typing import Final

from coreloop.admin.checks.diagnosis import Diagnosis, Setup, listed
from coreloop.admin.checks.newest_record import log_files, recent_lines
from coreloop.base.extras import CLI_MODULES, install_line
from coreloop.base.messages import number_of
from coreloop.base.project.settings_file import FILE_NAME
from coreloop.base.project.tools import Tool, Unresolved, resolve_tools

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
        yield Diagnosis("tools", "ok", f"the definition of {number_of(len(names), 'tool')} is found")
        return
    is_wrong = any(tool.name in configured and configured[tool.name].target for tool in unresolved)
    reasons = listed(f"{tool.name[:60]} ({tool.reason})" for tool in unresolved)
    yield Diagnosis(
        "tools",
        "fault" if is_wrong else "warning",
        (f"{len(unresolved)} of {number_of(len(names), 'tool')} without a known definition: {reasons}"),
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
            message = f"tools: {name} was never recorded; {close[0]} is"
            yield Diagnosis(
                "tools",
                "warning",
                message,
                f"did you mean {close[0]}? Correct coreloop.yaml",
            )


_DISTRIBUTED: Final = ("distributed", "fsspec")


def check_settings(setup: Setup) -> Iterator[Diagnosis]:
    """Check that coreloop.yaml exists and is valid."""
    if setup.refused is not None:
        todo = "correct it; until then the checks use defaults"
        yield Diagnosis("settings", "fault", str(setup.refused), todo)
    elif not setup.workspace.is_configured:
        message = (
            f"there is no {FILE_NAME} in {setup.workspace.root} or above it; every setting has its default"
        )
        yield Diagnosis(
            "settings", "warning", message, "run dartlab-coreloop init --confirm in the repository"
        )
    else:
        yield Diagnosis("settings", "ok", f"{setup.workspace.root / FILE_NAME} is valid")


def check_extras(_: Setup) -> Iterator[Diagnosis]:
    """Check that the modules of the extras exist, without importing them."""
    missing = _missing(CLI_MODULES)
    if missing:
        todo = f"run {install_line('cli')}"
        yield Diagnosis(
            "extras",
            "fault",
            f"packages of the extra cli are missing: {listed(missing)}",
            todo,
        )
    else:
        yield Diagnosis("extras", "ok", "the packages of the extra cli are installed")
    absent = _missing(_DISTRIBUTED)
    if absent:
        message = (
            f"distributed is not installed ({listed(absent)}); only --scheduler and s3:// addresses need it"
        )
        yield Diagnosis(
            "extras",
            "ok",
            message,
            f"to use them, run {install_line('distributed')}",
        )
    else:
        yield Diagnosis("extras", "ok", "the packages of the extra distributed are installed")


def _missing(modules: Iterable[str]) -> list[str]:
    return [module for module in sorted(modules) if find_spec(module) is None]
