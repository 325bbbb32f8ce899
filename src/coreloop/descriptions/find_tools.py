"""Where tools are defined: as functions and classes in Python, or by what describes them to models."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import Final, TypeAlias

from coreloop.base.project import tools as defined
from coreloop.base.project.argument_limits import SchemaLimits
from coreloop.base.project.settings import ToolSettings
from coreloop.base.project.tools import Tool, Unresolved, is_tool_name, read_source_bytes, resolve_tools
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.schemas import leaves, schema_of
from coreloop.descriptions.source import UnprovenError
from coreloop.descriptions.texts import SUFFIXES, ToolText, find_texts

_DESCRIBES: Final = re.compile(rb"descri", re.IGNORECASE)
_Place: TypeAlias = tuple[str, Sequence[ToolText]]


def find_tools(
    names: Iterable[str],
    workspace: Workspace,
    *,
    configured: Mapping[str, ToolSettings] | None = None,
    only_places: bool = False,
) -> dict[str, Tool | Unresolved]:
    """Find the definitions of tools, as `resolve_tools` does, also of those that only a description defines.

    Models read a description, so a function that its file does not register as a tool gives way to the only
    description of that name.

    Parameters
    ----------
    names : iterable of str
        Tool names.
    workspace : Workspace
        The project.
    configured : mapping of tool name to ToolSettings, optional
        Instead of those in coreloop.yaml.
    only_places : bool
        As in `resolve_tools`.
    """
    configured = workspace.settings.tools if configured is None else configured
    found = resolve_tools(names, root=workspace.root, configured=configured, only_places=only_places)
    targets = {name: its.target for name, its in configured.items() if name in found and its.target}
    codes = {name: tool for name, tool in found.items() if isinstance(tool, Tool)}
    own = {name: (f"{tool.file}::{tool.qualname}", False) for name, tool in codes.items()}
    own |= {name: (target, True) for name, target in targets.items()}
    places = {name: [_at(workspace.root, *place)] for name, place in own.items()}
    unknown = {name for name in found.keys() - targets.keys() if name not in places or not places[name][0][1]}
    for name, described in _search(unknown, workspace).items():
        others = [place for place in described if name not in codes or not _is_copy(place, codes[name])]
        places[name] = others or places.get(name, [])
        if len(others) > 1 and name not in codes:
            where = ", ".join(f"{file}::{name}" for file, _ in others[:3])
            reason = f"described {len(others)} times ({where}); name one under tools: in coreloop.yaml"
            found[name] = Unresolved(name, reason)
    for name, described in places.items():
        if len(described) == 1 and described[0][1]:
            found[name] = described_tool(name, *described[0], codes.get(name))
    return found


def _is_copy(place: _Place, code: Tool) -> bool:
    """Whether a description is of a function's docstring, as in a list of schemas that a program printed."""
    first = code.docstring.strip().partition("\n")[0]
    return bool(first) and any(first in " ".join(text.value.split()) for text in place[1])


def logged_names(names: Iterable[str], workspace: Workspace) -> dict[str, str]:
    """Map names as clients log them to the tools that `find_tools` finds."""
    resolve = partial(find_tools, workspace=workspace, only_places=True)
    configured = workspace.settings.tools
    return defined.logged_names(names, root=workspace.root, configured=configured, resolve=resolve)


def described_tool(name: str, file: str, texts: Sequence[ToolText], code: Tool | None = None) -> Tool:
    """The tool of its texts; what they do not say is as of its definition in Python.

    Parameters
    ----------
    name, file : str
        As in `Tool`.
    texts : collection of ToolText
        All of one tool; none if Python alone defines it.
    code : Tool, optional
        What is defined in Python.
    """
    if not texts and code is not None:
        return code
    first = texts[0]
    tool = replace(
        code or Tool(name, file, "", (), frozenset()),
        described={its.argument: its.value for its in texts if its.argument and not its.refused},
        docstring=next((cleandoc(its.value) for its in texts if not its.argument), ""),
    )
    if code is not None and (file, first.symbol) == (code.file, code.qualname):
        return tool
    properties, required = schema_of(first.schema)
    choices = {name: its for name, node in properties.items() if (its := tuple(leaves(node.get("enum"))))}
    return replace(
        tool,
        file=file,
        qualname=first.tool,
        line=first.line,
        parameters=tuple(properties) or tool.parameters,
        literals=tool.literals.union(leaves(first.schema)),
        choices=choices,
        limits={name: SchemaLimits(required=True) for name in required},
        listed=tool.listed.union(map(frozenset, tool.choices.values())),
    )


def _at(root: Path, target: str, is_known: bool) -> _Place:
    """The texts of a target, and their file; none if it is unreadable."""
    file, _, name = target.partition("::")
    with suppress(UnprovenError):
        texts = find_texts(file, read_source_bytes(root / file), [name] if is_known else ())
        return file, [text for text in texts if name in {text.tool, text.symbol}]
    return file, ()


def _search(names: Collection[str], workspace: Workspace) -> dict[str, list[_Place]]:
    """The files that describe each tool, with its texts."""
    places: defaultdict[str, list[_Place]] = defaultdict(list)
    words = b"|".join(re.escape(name.encode()) for name in sorted(filter(is_tool_name, names)))
    if not words:
        return places
    mention, quoted = (re.compile(form % words) for form in (rb"(?<!\w)(?:%s)(?!\w)", rb"[\"'](?:%s)[\"']"))
    for path in defined.source_files(workspace.root, SUFFIXES):
        raw, file = read_source_bytes(path), path.relative_to(workspace.root).as_posix()
        pattern = quoted if path.suffix == ".py" else mention
        is_ours = workspace.root / workspace.settings.data_dir not in path.parents
        if is_ours and _DESCRIBES.search(raw) and pattern.search(raw):
            by_name = defaultdict[str, list[ToolText]](list)
            with suppress(UnprovenError):
                for text in find_texts(file, raw):
                    by_name[text.tool].append(text)
            for name in by_name.keys() & set(names):
                places[name].append((file, by_name[name]))
    return places
