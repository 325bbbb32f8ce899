"""Whether the definition of every tool is found: those of coreloop.yaml and those of the newest records."""

from collections.abc import Iterator
from typing import Final

from coreloop.doctor.diagnosis import Diagnosis, Setup, listed
from coreloop.doctor.log import log_files, recent_lines
from coreloop.project.tools import Unresolved, resolve_tools
from coreloop.text import counted

_MOST: Final = 200


def check_tools(setup: Setup) -> Iterator[Diagnosis]:
    """Whether `coreloop.project.tools.resolve_tools` finds each; a target that is wrong is a fault."""
    workspace = setup.workspace
    configured = workspace.settings.tools
    lines = recent_lines(log_files(workspace.records_dir))
    recorded = {call.name for line in lines for call in line.calls}
    names = {*configured, *sorted(recorded)[:_MOST]}
    if not names:
        said = "no tool is known: no record has a tool call, and coreloop.yaml names no tool"
        yield Diagnosis("tools", "warning", said, "wrap tools in @observed_tool, or name them under tools:")
        return
    resolved = resolve_tools(names, root=workspace.root, configured=configured)
    lost = [tool for tool in resolved.values() if isinstance(tool, Unresolved)]
    if not lost:
        yield Diagnosis("tools", "ok", f"the definition of {counted(len(names), 'tool')} is found")
        return
    is_wrong = any(tool.name in configured and configured[tool.name].target for tool in lost)
    reasons = listed(f"{tool.name[:60]} ({tool.reason})" for tool in lost)
    yield Diagnosis(
        "tools",
        "fault" if is_wrong else "warning",
        f"{len(lost)} of {counted(len(names), 'tool')} without a known definition: {reasons}",
        'write tools: {name: {target: "path.py::name"}} in coreloop.yaml; tools without one get no proposals',
    )
