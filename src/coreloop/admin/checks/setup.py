"""Check the settings and the tools that they name."""

from collections.abc import Iterator
from typing import Final

from coreloop.admin.checks.diagnosis import Diagnosis, Setup, listed
from coreloop.admin.checks.newest_record import how_to_record, log_files, recent_lines
from coreloop.base.messages import number_of
from coreloop.base.project.settings_file import FILE_NAME
from coreloop.base.project.tools import Tool, Unresolved, sent_tools
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.find_tools import extra_needed, find_tools, logged_names

_MAX_RECORDED: Final = 200  # chosen: names of a log that doctor looks up


def project_tools(workspace: Workspace) -> dict[str, Tool | Unresolved]:
    """Find the tools that coreloop.yaml and records name, that models were sent, and that the source has."""
    lines = recent_lines(log_files(workspace.records_dir))
    recorded = {call.name for line in lines for call in line.calls} | sent_tools(workspace.audit_dir).keys()
    known = logged_names(recorded, workspace)
    names = {*workspace.settings.tools, *(known.get(name, name) for name in sorted(recorded)[:_MAX_RECORDED])}
    return find_tools(names, workspace, only_places=True, and_registered=True)


def check_tools(setup: Setup) -> Iterator[Diagnosis]:
    """Check that `find_tools` finds every tool; a wrong target is a fault."""
    configured, resolved = setup.workspace.settings.tools, project_tools(setup.workspace)
    extra = extra_needed(resolved, setup.workspace)
    if not resolved:
        message = "no tool is known: neither records nor coreloop.yaml nor the project's files have one"
        todo = f"name them under tools:, or {how_to_record(setup.workspace)}"
        yield Diagnosis("tools", "warning", message, extra or todo)
        return
    unresolved = [tool for tool in resolved.values() if isinstance(tool, Unresolved)]
    if not unresolved:
        yield Diagnosis("tools", "ok", f"the definition of {number_of(len(resolved), 'tool')} is found")
        return
    is_wrong = any(tool.name in configured and configured[tool.name].target for tool in unresolved)
    named = [f"{one.name} ({one.reason})" for one in unresolved if one.name in configured or one.is_defined]
    n_recorded = len(unresolved) - len(named)  # names of a log are no words of ours: refine --json has them
    reasons = listed([*named, *([f"{n_recorded} that only records name"] if n_recorded else [])])
    message = f"{len(unresolved)} of {number_of(len(resolved), 'tool')} without a known definition: {reasons}"
    todo = 'write tools: {name: {target: "path.py::name"}} in coreloop.yaml; without it they get no proposals'
    yield Diagnosis("tools", "fault" if is_wrong else "warning", message, extra or todo)


def check_settings(setup: Setup) -> Iterator[Diagnosis]:
    """Check that coreloop.yaml exists and is valid."""
    if setup.refused is not None:
        todo = "correct it; until then the checks use defaults"
        yield Diagnosis("settings", "fault", str(setup.refused), todo)
    elif not (setup.workspace.root / FILE_NAME).is_file():
        message = f"no {FILE_NAME} in {setup.workspace.root} or above it; every setting has its default"
        todo = "run dartlab-coreloop init --confirm in the repository"
        yield Diagnosis("settings", "warning", message, todo)
    else:
        yield Diagnosis("settings", "ok", f"{setup.workspace.root / FILE_NAME} is valid")
