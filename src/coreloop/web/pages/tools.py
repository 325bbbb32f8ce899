"""The section on tools: what the model is told of each, how its calls end, and what surrounds them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from coreloop.admin.init.decorated import decorated_tools
from coreloop.base.project.settings import ToolSettings
from coreloop.base.project.tools import Tool, Unresolved, resolve_tools
from coreloop.learn.verdicts.proposal_state import states_by_key
from coreloop.web.pages.activity import Activity, Edge, heaviest, rate_of
from coreloop.web.pages.changes import read_changes
from coreloop.web.pages.health import read_kept_activity
from coreloop.web.pages.kept_states import read_kept_states
from coreloop.web.pages.page_data import PageSource
from coreloop.web.pages.section import PageSection, View
from coreloop.web.pages.waiting_proposals import WaitingProposal, read_kept_proposals

_MAX_TOOLS: Final = 200
_MAX_EDGES: Final = 12
_MAX_PROPOSALS: Final = 20


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """Where a tool is defined, ``path.py::qualname``; ``problem`` says why that is not known."""

    target: str = ""
    problem: str = ""


_NEW: Final = ToolDefinition(problem="it is new; its definition is looked up every ten minutes")


@dataclass(frozen=True, slots=True)
class Description:
    """A tool's docstring as the model reads it.

    Attributes
    ----------
    text : str
        Without the indent of the source.
    exceeded : mapping of str to int
        The model or provider whose limit it exceeds -> that limit, in characters.
    """

    definition: ToolDefinition
    text: str = ""
    exceeded: Mapping[str, int] = field(default_factory=dict)


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
        "edges": _edges(kept.value) if kept else (),
    }


def read_tool(source: PageSource, name: str) -> View | None:
    """Show a tool that was called or is defined."""
    kept = read_kept_activity(source)
    metrics = kept.value.tool(name) if kept else None
    if metrics is None and name not in _declared(source):
        return None
    view: dict[str, Any] = {
        "name": name,
        "read": [kept] if kept else [],
        "figures": metrics,
        "sent": kept.value.sent.get(name) if kept else None,
        "description": _describe(source, name),
        "changes": [change for change in read_changes(source) if change.effect.change.tool == name][
            :_MAX_PROPOSALS
        ],
        "proposals": _proposals(source, name),
    }
    if kept is None or metrics is None:
        return view
    activity = kept.value
    failures = [failure for failure in activity.failures if failure.tool == name]
    return view | {
        "days": activity.days,
        "failing": [rate_of(failure.error_class, failure.n, metrics.n) for failure in failures],
        "causes": [cause for cause in activity.causes if cause.tool == name],
        "sources": _sources(activity, name),
        "before": activity.before(name)[:_MAX_EDGES],
        "after": activity.after(name)[:_MAX_EDGES],
    }


def _proposals(source: PageSource, name: str) -> list[tuple[WaitingProposal, str]]:
    """The proposals for a tool, each with its state."""
    states = states_by_key(read_kept_states(source))
    mine = [one for one in read_kept_proposals(source).values() if one.tool == name][:_MAX_PROPOSALS]
    return [(one, states[one.entry.key].state) for one in mine if one.entry.key in states]


def _declared(source: PageSource) -> set[str]:
    """The tools that a decorator declares or coreloop.yaml names, not those that only records name."""
    defined = {name for name, definition in _definitions(source).items() if not definition.problem}
    return defined | source.workspace.settings.tools.keys()


def _definitions(source: PageSource) -> Mapping[str, ToolDefinition]:
    """The tools that were called, that coreloop.yaml names, or that a decorator declares, by name."""
    workspace = source.workspace
    places = [workspace.root / "coreloop.yaml", *source.git_places]
    return source.snapshots.get("definitions", places, lambda: _read_definitions(source)).value


def _read_definitions(source: PageSource) -> dict[str, ToolDefinition]:
    root, configured = source.workspace.root, source.workspace.settings.tools
    declared = decorated_tools(root)
    resolved = resolve_tools({*_called(source), *configured}, root=root, configured=configured)
    found = {
        name: declared.get(name, tool) if isinstance(tool, Unresolved) else tool
        for name, tool in resolved.items()
    }
    return {name: _definition(tool) for name, tool in {**declared, **found}.items()}


def _called(source: PageSource) -> list[str]:
    kept = read_kept_activity(source)
    return [tool.name for tool in kept.value.tools[:_MAX_TOOLS]] if kept else []


def _definition(tool: Tool | Unresolved) -> ToolDefinition:
    if isinstance(tool, Unresolved):
        return ToolDefinition(problem=tool.reason)
    return ToolDefinition(f"{tool.file}::{tool.qualname}")


def _describe(source: PageSource, name: str) -> Description:
    """Read the docstring as it is in the file now."""
    workspace = source.workspace
    known = _definitions(source).get(name, _NEW)
    if known.problem:
        return Description(known)
    configured = {name: ToolSettings(target=known.target)}
    tool = resolve_tools([name], root=workspace.root, configured=configured)[name]
    if isinstance(tool, Unresolved):
        return Description(_definition(tool))
    caps = workspace.settings.reach.caps.items()
    return Description(known, tool.docstring, {cap: n for cap, n in caps if len(tool.docstring) > n})


def _sources(activity: Activity, name: str) -> list[Edge]:
    """From which tool's results each argument comes."""
    places = (item for item in activity.sources.items() if item[0][0] == name)
    return heaviest(Edge(place, argument, n) for (_, argument, place), n in places)[:_MAX_EDGES]


def _edges(activity: Activity) -> list[Edge]:
    """From which tool's results the arguments of tools come."""
    weights: Counter[tuple[str, str]] = Counter()
    for (tool, _, place), n in activity.sources.items():
        weights[place, tool] += n
    return heaviest(Edge(*pair, n) for pair, n in weights.items())[:_MAX_EDGES]


def _names(source: PageSource) -> list[str]:
    view = read_tools(source)
    return [*(tool.name for tool in view["tools"]), *view["never"]]


TOOLS: Final = PageSection(
    name="tools",
    title="Tools",
    read=read_tools,
    item="tool.html",
    read_item=read_tool,
    items=_names,
)
