"""What ``init`` finds of a project: its tools, and the framework that sends them (``reach:``)."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Final

import yaml

from coreloop.base.project.allowed_values import last_name
from coreloop.base.project.definitions import MOUNTS, parse_python, read_source, source_files
from coreloop.base.project.imports import Imports
from coreloop.base.project.tools import (
    SENT_FOLDER,
    Tool,
    Unresolved,
    is_tool_name,
    sent_tools,
)
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.find_tools import find_tools, logged_names
from coreloop.observe.reading.decode import RecordLine, read_lines

_MOST_RECORDS: Final = 20_000  # chosen: enough to see the usual tools
_MOST_SETS: Final = 100  # chosen: enough to see which adapters recorded


@dataclass(frozen=True, slots=True)
class FoundTools:
    """The project's tools that coreloop.yaml does not name.

    Attributes
    ----------
    targets : mapping of str to str
        Tool -> ``path.py::qualname``, as every command finds it too, so that no row is needed.
    unclear : mapping of str to str
        Tool -> its definitions, and what speaks for each, if it is not known which is meant.
    """

    targets: Mapping[str, str] = field(default_factory=dict)
    unclear: Mapping[str, str] = field(default_factory=dict)


def project_tools(workspace: Workspace) -> FoundTools:
    """Find the tools that records name, that models were sent, and that the source registers.

    Names in records are untrusted: only those of definitions are returned.
    """
    seen = {*used_tools(workspace.records_dir), *sent_tools(workspace.audit_dir)}
    names = {name: name for name in seen} | logged_names(seen, workspace)
    tools = find_tools(filter(is_tool_name, names.values()), workspace, only_places=True, and_registered=True)
    new = [tool for name, tool in tools.items() if name not in workspace.settings.tools]
    targets = {tool.name: f"{tool.file}::{tool.qualname}" for tool in new if isinstance(tool, Tool)}
    return FoundTools(
        targets={name: target for name, target in targets.items() if target.isprintable()},
        unclear={tool.name: tool.reason for tool in new if isinstance(tool, Unresolved) and tool.is_defined},
    )


def used_tools(folder: Path) -> set[str]:
    """Return the tools of the newest 20,000 records; their names are untrusted."""
    files = filter(Path.is_file, sorted(folder.glob("*.jsonl"), reverse=True))
    lines = chain.from_iterable(map(read_lines, files))
    records = islice((line for line in lines if isinstance(line, RecordLine)), _MOST_RECORDS)
    return {call.name for record in records for call in record.calls}


MADE_WITH: Final = ("fastmcp", "mcp", "pydantic-ai", "openai-agents")
"""Frameworks whose servers and agents are found in the source; ``coreloop.attach`` takes these."""
_PACKAGES: Final = dict(zip(("fastmcp", "mcp", "pydantic_ai", "agents"), MADE_WITH, strict=True))
_REACH: Final = re.compile(rb"(?m)^reach:")
_MADE: Final = re.compile(rb"= (?:FastMCP|MCPServer|Agent)\(")
_MOUNTS: Final = re.compile(MOUNTS)


def add_reach(old: bytes, workspace: Workspace) -> tuple[bytes, tuple[str, ...]]:
    """Return the content of coreloop.yaml with the row, and the new lines; unchanged if they cannot be added.

    Unless one server or agent is made in the project, by the framework whose adapter recorded if any did, the
    rows are comments that ask.
    """
    recorded = _recorded(workspace.audit_dir / SENT_FOLDER)
    made = [one for one in _made(workspace.root) if one[0] in recorded or not recorded]
    mark, question = ("", "") if len(made) == 1 else ("# ", "  # does the agent get its tools from it?")
    rows = (
        f"{mark}reach: {{framework: {framework}, tools: {json.dumps(tools)}}}{question}"
        for framework, tools in made or [(name, "package.module:TOOLS") for name in sorted(recorded)]
    )
    added = () if _REACH.search(old) else tuple(row for row in rows if row.encode() not in old)
    end = b"\r\n" if b"\r\n" in old else b"\n"
    gap = end if added and not old.endswith(b"\n") else b""
    new = old + gap + b"".join(row.encode() + end for row in added)
    with suppress(yaml.YAMLError):
        yaml.safe_load(new)
        return new, added
    return old, added


def _recorded(folder: Path) -> set[str]:
    """The frameworks whose adapters recorded; an unreadable file is passed over."""
    found = set[str]()
    for path in islice(sorted(folder.glob("*.json")), _MOST_SETS):
        with suppress(OSError, ValueError, RecursionError, AttributeError, TypeError):
            found |= {json.loads(path.read_bytes()).get("framework")} & {*MADE_WITH, "langchain"}
    return found


def _made(root: Path) -> Iterator[tuple[str, str]]:
    """Frameworks, and the servers and agents that modules make with them: ``mcp = FastMCP("rooms")``.

    Without servers that another one mounts.
    """
    mounted = set(_mounted(root))
    for path in source_files(root):
        tree = parse_python(path) if _MADE.search(read_source(path)) else None
        body = tree.body if tree is not None else []
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        module = module.removeprefix("src.").removesuffix(".__init__")
        froms = [node for node in body if isinstance(node, ast.ImportFrom)]
        packages = {one.name: str(node.module).partition(".")[0] for node in froms for one in node.names}
        for node in body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                kind = ast.unparse(node.value.func)
                package = packages.get(kind, "") if kind in {"FastMCP", "MCPServer", "Agent"} else ""
                is_own = (root / package).exists() or (path, node.lineno) in mounted
                if package in _PACKAGES and not is_own:
                    yield _PACKAGES[package], f"{module}:{ast.unparse(node.targets[0])}"


def _mounted(root: Path) -> Iterator[tuple[Path, int]]:
    """Where servers are made that others mount."""
    imports = Imports(root, parse_python)
    for path in source_files(root):
        tree = parse_python(path) if _MOUNTS.search(read_source(path)) else None
        for call in ast.walk(tree) if tree is not None else ():
            if isinstance(call, ast.Call) and _MOUNTS.match(f".{last_name(call.func)}(".encode()):
                found = (imports.look_up(path, ast.unparse(server)) for server in call.args)
                yield from ((one[0], one[1].lineno) for one in found if one is not None)
