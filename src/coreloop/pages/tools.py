"""The section on tools: what the model is told of each, how its calls end, and what surrounds them."""

from collections import Counter
from collections.abc import Sequence
from inspect import cleandoc
from typing import Any, Final

from coreloop.pages.activity import Activity, rate_of
from coreloop.pages.charts import Edge
from coreloop.pages.health import read_kept_activity
from coreloop.pages.section import Section, View
from coreloop.pages.source import Source
from coreloop.project.tools import Unresolved, resolve_tools

_MAX_TOOLS: Final = 200
_MAX_EDGES: Final = 12


def read_tools(source: Source) -> View:
    """List the tools by calls, and those that were never called."""
    kept = read_kept_activity(source)
    activity = kept.value if kept else None
    called = activity.tools if activity else ()
    names = {tool.name for tool in called}
    return {
        "activity": activity,
        "tools": called[:_MAX_TOOLS],
        "never": sorted(name for name in source.workspace.settings.tools if name not in names),
        "edges": _edges(activity) if activity else (),
    }


def read_tool(source: Source, name: str) -> View | None:
    """Show a tool that was called, or that coreloop.yaml names."""
    kept = read_kept_activity(source)
    activity = kept.value if kept else None
    figures = activity.tool(name) if activity else None
    if figures is None and name not in source.workspace.settings.tools:
        return None
    view: dict[str, Any] = {"name": name, "figures": figures, "definition": _definition(source, name)}
    if activity is None or figures is None:
        return view | {"failures": (), "failing": (), "arguments": {}, "sources": (), "around": ()}
    failures = [one for one in activity.failures if one.tool == name]
    around = sorted(activity.around(name), key=lambda edge: -edge.weight)
    return view | {
        "days": activity.days,
        "failures": failures,
        "failing": [rate_of(one.error_class, one.n, figures.n) for one in failures],
        "arguments": _arguments(activity, name),
        "sources": _sources(activity, name),
        "before": [edge for edge in around if edge.end == name][:_MAX_EDGES],
        "after": [edge for edge in around if edge.start == name][:_MAX_EDGES],
    }


def _definition(source: Source, name: str) -> dict[str, str]:
    workspace = source.workspace
    found = source.snapshots.get(
        f"tool {name}",
        [workspace.root / "coreloop.yaml"],
        lambda: resolve_tools([name], root=workspace.root, configured=workspace.settings.tools)[name],
    ).value
    if isinstance(found, Unresolved):
        return {"problem": found.reason, "target": "", "docstring": ""}
    return {
        "problem": "",
        "target": f"{found.file}::{found.qualname}",
        "docstring": cleandoc(found.docstring),
    }


def _arguments(activity: Activity, name: str) -> dict[str, list[tuple[str, int]]]:
    """The places that each argument's values came from, the most frequent first."""
    places: dict[str, list[tuple[str, int]]] = {}
    for (tool, argument, place), n in sorted(activity.sources.items(), key=lambda item: (-item[1], item[0])):
        if tool == name:
            places.setdefault(argument, []).append((place, n))
    return places


def _sources(activity: Activity, name: str) -> list[Edge]:
    edges = [
        Edge(place, argument, n) for (tool, argument, place), n in activity.sources.items() if tool == name
    ]
    return _heaviest(edges)


def _edges(activity: Activity) -> list[Edge]:
    """From which tool's results the arguments of tools come."""
    weights: Counter[tuple[str, str]] = Counter()
    for (tool, _, place), n in activity.sources.items():
        weights[place, tool] += n
    return _heaviest([Edge(*pair, n) for pair, n in weights.items()])


def _heaviest(edges: Sequence[Edge]) -> list[Edge]:
    return sorted(edges, key=lambda edge: (-edge.weight, edge.start, edge.end))[:_MAX_EDGES]


def _names(source: Source) -> list[str]:
    view = read_tools(source)
    return [*(tool.name for tool in view["tools"]), *view["never"]]


TOOLS: Final = Section(
    name="tools",
    title="Tools",
    read=read_tools,
    item="tool.html",
    read_item=read_tool,
    items=_names,
)
