"""Check that the definition of every tool is found: of coreloop.yaml and of the newest records."""

import difflib
from collections.abc import Iterator, Mapping, Set
from typing import Final

from coreloop.admin.doctor.diagnosis import Diagnosis, Setup, listed
from coreloop.admin.doctor.log import log_files, recent_lines
from coreloop.base.project.tools import Tool, Unresolved, resolve_tools
from coreloop.base.text import counted

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
        yield Diagnosis("tools", "ok", f"the definition of {counted(len(names), 'tool')} is found")
        return
    is_wrong = any(tool.name in configured and configured[tool.name].target for tool in unresolved)
    reasons = listed(f"{tool.name[:60]} ({tool.reason})" for tool in unresolved)
    yield Diagnosis(
        "tools",
        "fault" if is_wrong else "warning",
        f"{len(unresolved)} of {counted(len(names), 'tool')} without a known definition: {reasons}",
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
            yield Diagnosis("tools", "warning", message, f"did you mean {close[0]}? Correct coreloop.yaml")
