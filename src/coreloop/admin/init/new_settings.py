"""What ``init`` finds of a project: its tools, and the framework that sends them (``reach:``)."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from coreloop.base.project.allowed_values import last_name
from coreloop.base.project.definitions import (
    AnyDefinition,
    mounted_servers,
    parse_python,
    read_source,
    source_files,
)
from coreloop.base.project.imports import Imports, module_name
from coreloop.base.project.workspace import Workspace
from coreloop.observe.descriptions_in_force import recorded_frameworks

_PACKAGES: Final = {
    "fastmcp": "fastmcp",
    "mcp": "mcp",
    "pydantic_ai": "pydantic-ai",
    "agents": "openai-agents",
}
"""Packages of the servers and agents that `coreloop.attach` takes, and their frameworks in ``reach:``."""
_CLASSES: Final = frozenset({"FastMCP", "MCPServer", "Agent"})
_RUNS: Final = frozenset({"run", "run_sync", "run_stream", "main"})
_MENTIONS: Final = re.compile(rb"\b(?:FastMCP|MCPServer|Agent)\b")
_QUESTION: Final = "does the agent get its tools from it?"
_EXAMPLES: Final = 'reach: {framework: NAME, tools: "module:TOOLS"} or reach: {command: [python, -m, schema]}'
_MAX_ROWS: Final = 2  # chosen: what one line of advice can hold


class Made(NamedTuple):
    """A server or an agent that the project makes: what ``reach:`` says of it, and its name in its module.

    ``doubt`` is why a person must decide whether that is right.
    """

    framework: str
    tools: str
    variable: str = ""
    doubt: str = ""

    @property
    def row(self) -> str:
        """The line of coreloop.yaml."""
        return f"reach: {{framework: {self.framework}, tools: {json.dumps(self.tools)}}}"


def add_rows(
    old: bytes, workspace: Workspace, forge: Mapping[str, object] = {}
) -> tuple[bytes, tuple[str, ...]]:
    """Return the content of coreloop.yaml with rows for ``reach`` and ``forge``, and the new rows.

    It stays as it is where they cannot be added. Unless one server or agent is made in the project, and
    importing it does nothing else, its rows are comments that ask.
    """
    made = find_made(workspace) if not re.search(rb"(?m)^reach:", old) else ()
    rows = [f"# {one.row}  # {one.doubt}" if one.doubt else one.row for one in made]
    if forge and not re.search(rb"(?m)^forge:", old):
        rows.append(f"forge: {yaml.safe_dump(forge, default_flow_style=True, sort_keys=False).strip()}")
    added = tuple(row for row in rows if row.encode() not in old)
    end = b"\r\n" if b"\r\n" in old else b"\n"
    gap = end if added and not old.endswith(b"\n") else b""
    new = old + gap + b"".join(row.encode() + end for row in added)
    with suppress(yaml.YAMLError):
        yaml.safe_load(new)
        return new, added
    return old, added


def reach_todo(workspace: Workspace) -> str:
    """Say what to write into coreloop.yaml, so that it is known what the model receives."""
    made = find_made(workspace)[:_MAX_ROWS]
    doubt = f"; {made[0].doubt}" if made and made[0].doubt else ""
    return f"set {' or '.join(one.row for one in made) or _EXAMPLES} in coreloop.yaml{doubt}"


def find_made(workspace: Workspace) -> list[Made]:
    """Find the project's servers and agents, of the frameworks whose adapters recorded if any did."""
    recorded = recorded_frameworks(workspace.audit_dir) & {*_PACKAGES.values(), "langchain"}
    own = {one.tools: one for one in _made(workspace.root) if one.framework in recorded or not recorded}
    made = [*own.values()] or [Made(name, "package.module:TOOLS", "", _QUESTION) for name in sorted(recorded)]
    return made if len(made) == 1 else [one._replace(doubt=one.doubt or _QUESTION) for one in made]


def _made(root: Path) -> Iterator[Made]:
    """The servers and agents of the project's modules, without servers that another one mounts."""
    mounted = set(mounted_servers(root))
    for path in source_files(root):
        tree = parse_python(path) if _MENTIONS.search(read_source(path)) else None
        nodes = [*ast.walk(tree)] if tree is not None else []
        froms = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        pairs = ((one, getattr(node, "module", one.name)) for node in froms for one in node.names)
        packages = {one.asname or one.name: str(module).partition(".")[0] for one, module in pairs}
        for node in tree.body if tree is not None else ():
            for call in (each for each in ast.walk(node) if isinstance(each, ast.Call)):
                kind = call.func.value if isinstance(call.func, ast.Subscript) else call.func
                package = packages.get(ast.unparse(kind).partition(".")[0], "")
                is_own = (root / package).exists() or (path, node.lineno) in mounted
                if package in _PACKAGES and last_name(kind) in _CLASSES and not is_own:
                    yield _placed(_PACKAGES[package], root, path, node, call)


def _placed(framework: str, root: Path, path: Path, node: ast.stmt, call: ast.Call) -> Made:
    """Where the tools are: on what importing the module makes, in a list, or on what returns it."""
    module, tree = module_name(root, path), parse_python(path)
    doubt = f'importing {module} runs it: put that below if __name__ == "__main__":'
    doubt = doubt if tree is not None and any(map(_runs, tree.body)) else ""
    lists = [ast.unparse(each.value) for each in call.keywords if each.arg == "tools"]
    given = Imports(root, parse_python).look_up(path, lists[0]) if lists else None
    if isinstance(node, ast.Assign | ast.AnnAssign) and not (doubt and given):
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        if node.value is call or last_name(getattr(node.value, "func", call)) == "attach":
            name = ast.unparse(target)
            return Made(framework, f"{module}:{name}", name, doubt)
    if given is not None:
        doubt = doubt if given[0] == path else ""
        return Made(framework, f"{module_name(root, given[0])}:{lists[0]}", "", doubt)
    if (
        isinstance(node, ast.FunctionDef)
        and isinstance(node.body[-1], ast.Return)
        and len(node.args.args) == len(node.args.defaults)
    ):
        return Made(framework, f"{module}:{node.name}", "", doubt or _QUESTION)
    return Made(framework, f"{module}:TOOLS", "", doubt or f"TOOLS: a list in {module} of its tools")


def _runs(node: ast.stmt) -> bool:
    """Whether importing a module runs an agent or a server there."""
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return not isinstance(node, ast.If | AnyDefinition) and any(last_name(call) in _RUNS for call in calls)
