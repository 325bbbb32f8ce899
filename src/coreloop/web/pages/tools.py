"""The section on tools: what the model is told of each, and how its calls end."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from coreloop.base.project.settings import ToolSettings
from coreloop.base.project.tools import Tool, Unresolved
from coreloop.descriptions.find_tools import find_tools
from coreloop.web.pages.changes import read_changes, read_state_words
from coreloop.web.pages.charts import rate_of
from coreloop.web.pages.health import read_kept_activity, read_table
from coreloop.web.pages.page_data import PageSection, PageSource, View
from coreloop.web.pages.waiting_proposals import WaitingProposal, read_kept_proposals

_MAX_TOOLS: Final = 200
_MAX_PROPOSALS: Final = 20


def read_tools(source: PageSource) -> View:
    """List the tools by calls, and those that were never called."""
    kept = read_kept_activity(source)
    called = kept.value.tools if kept else ()
    never = sorted(_declared(source) - {tool.name for tool in called})
    return {
        "read": [kept] if kept else [],
        "activity": kept.value if kept else None,
        "tools": called[:_MAX_TOOLS],
        "n_tools": len(called),
        "never": never[:_MAX_TOOLS],
        "n_never": len(never),
        **read_table(source),
    }


def read_tool(source: PageSource, name: str) -> View | None:
    """Show a tool that was called or is defined."""
    kept = read_kept_activity(source)
    activity = kept.value if kept else None
    metrics = next((tool for tool in activity.tools if tool.name == name), None) if activity else None
    if metrics is None and name not in _declared(source):
        return None
    changes = [one for one in read_changes(source) if one[0].change.tool == name]
    failures = [one for one in activity.failures if one.tool == name] if activity else []
    return {
        "name": name,
        "read": [kept] if kept else [],
        "figures": metrics,
        "sent": activity.sent.get(name) if activity else None,
        "description": _describe(source, name),
        "changes": changes[:_MAX_PROPOSALS],
        "proposals": _proposals(source, name),
        "days": activity.days if activity else None,
        "failing": [rate_of(one.error_class, one.n, metrics.n) for one in failures if metrics],
    }


def _proposals(source: PageSource, name: str) -> list[tuple[WaitingProposal, str]]:
    """The proposals for a tool, each with its state."""
    states = read_state_words(source)
    mine = [one for one in read_kept_proposals(source).values() if one.entry.tool == name][:_MAX_PROPOSALS]
    return [(one, states[one.entry.key]) for one in mine if one.entry.key in states]


def _declared(source: PageSource) -> set[str]:
    """The tools that a decorator declares or coreloop.yaml names, not those that only records name."""
    defined = {name for name, tool in _definitions(source).items() if isinstance(tool, Tool)}
    return defined | source.workspace.settings.tools.keys()


def _definitions(source: PageSource) -> Mapping[str, Tool | Unresolved]:
    """The tools that were called, that coreloop.yaml names, or that a decorator declares, by name."""

    def read() -> Mapping[str, Tool | Unresolved]:
        kept = read_kept_activity(source)
        called = [tool.name for tool in kept.value.tools[:_MAX_TOOLS]] if kept else []
        names = {*called, *source.workspace.settings.tools}
        return find_tools(names, source.workspace, only_places=True, and_registered=True)

    places = [source.workspace.root / "coreloop.yaml", *source.git_places]
    return source.snapshots.get("definitions", places, read).value


def _describe(source: PageSource, name: str) -> View:
    """Read the docstring as it is in the file now, where it is, and what limits it exceeds; or why not."""
    workspace, tool = source.workspace, _definitions(source).get(name)
    if tool is None:
        return {"problem": "it is new; its definition is looked up every ten minutes"}
    if isinstance(tool, Tool):
        target = ToolSettings(target=f"{tool.file}::{tool.qualname}")
        settings = replace(workspace.settings, tools={name: target})
        tool = find_tools([name], replace(workspace, settings=settings))[name]
    if isinstance(tool, Unresolved):
        return {"problem": tool.reason}
    text = tool.docstring
    exceeded = {cap: n for cap, n in workspace.settings.reach.caps.items() if len(text) > n}
    return {"target": f"{tool.file}::{tool.qualname}", "text": text, "exceeded": exceeded}


def _names(source: PageSource) -> list[str]:
    view = read_tools(source)
    return [*(tool.name for tool in view["tools"]), *view["never"]]


TOOLS: Final = PageSection(
    name="tools", title="Tools", read=read_tools, item="tool.html", read_item=read_tool, items=_names
)
