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
    is_tool_call,
    is_tool_decorator,
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
    "langchain": "langchain",
    "langchain_core": "langchain",
    "llama_index": "llama-index",
    "anthropic": "anthropic",
}
"""Packages of servers, agents and tools, and their frameworks in ``reach:``."""
_CLASSES: Final = frozenset({"FastMCP", "MCPServer", "Agent", "FunctionAgent", "ReActAgent", "AgentWorkflow"})
_RUNS: Final = frozenset({"run", "run_sync", "run_stream", "main"})
_MENTIONS: Final = re.compile(rb"\b(?:FastMCP|MCPServer|\w*Agent(?:Workflow)?|\w*[tT]ool)\b")
_QUESTION: Final = "does the agent get its tools from it?"
_NAMES: Final = ", ".join(dict.fromkeys(_PACKAGES.values()))
_EXAMPLES: Final = (
    f'reach: {{framework: NAME, tools: "module:TOOLS"}} (NAME: {_NAMES}), or a program that prints the JSON'
    " of the tools as models are sent it, reach: {command: [python, -m, schema]},"
)
_MAX_ROWS: Final = 2  # chosen: what one line of advice can hold


class Made(NamedTuple):
    """A server or an agent that the project makes: what ``reach:`` says of it, and its name in its module.

    ``doubt`` is why a person must decide whether that is right; tools alone have no agent.
    """

    framework: str
    tools: str
    variable: str = ""
    doubt: str = ""
    has_agent: bool = True

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
    """Find the project's servers, agents and tools, of the frameworks that recorded if any did."""
    recorded = recorded_frameworks(workspace.audit_dir) & {*_PACKAGES.values()}
    own = [one for one in _made(workspace.root) if one.framework in recorded or not recorded]
    made = [one for name in dict.fromkeys(one.framework for one in own) for one in _of_framework(name, own)]
    made = made or [Made(name, "package.module:TOOLS", "", _QUESTION) for name in sorted(recorded)]
    return made if len(made) == 1 else [one._replace(doubt=one.doubt or _QUESTION) for one in made]


def _of_framework(framework: str, made: list[Made]) -> list[Made]:
    """Its servers and agents; unless one is sure, the lists and modules with its tools if there are any."""
    own = {one.tools: one for one in made if one.framework == framework}.values()
    objects = [one for one in own if one.has_agent]
    modules = [one for one in own if not one.has_agent]
    if not modules or (len(objects) == 1 and not objects[0].doubt):
        return objects
    doubt = next((one.doubt for one in modules if one.doubt), "")
    return [Made(framework, ", ".join(one.tools for one in modules), "", doubt)]


def _made(root: Path) -> Iterator[Made]:
    """The servers and agents of the project's modules, without mounted servers, and the modules of tools."""
    mounted = set(mounted_servers(root))
    for path in source_files(root):
        tree = parse_python(path) if _MENTIONS.search(read_source(path)) else None
        nodes = [*ast.walk(tree)] if tree is not None else []
        froms = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        pairs = ((one, getattr(node, "module", one.name)) for node in froms for one in node.names)
        packages = {one.asname or one.name: str(module).partition(".")[0] for one, module in pairs}
        for node in tree.body if tree is not None else ():
            for call in (node, *(each for each in ast.walk(node) if isinstance(each, ast.Call))):
                kind = _maker(call)
                package = packages.get(ast.unparse(kind).partition(".")[0], "") if kind is not None else ""
                is_own = (root / package).exists() or (path, node.lineno) in mounted
                if package in _PACKAGES and not is_own:
                    yield _placed(_PACKAGES[package], root, path, node, call)


def _maker(node: ast.AST) -> ast.expr | None:
    """What makes a module's tool, or a server or an agent: a decorator, a method, a class."""
    if isinstance(node, AnyDefinition):
        return next(filter(is_tool_decorator, node.decorator_list), None)
    if isinstance(node, ast.Assign):
        values = (node.value, *getattr(node.value, "elts", ()), getattr(node.value, "elt", None))
        made = (value.func for value in values if isinstance(value, ast.Call) and is_tool_call(value))
        return next((function for function in made if isinstance(function, ast.Attribute)), None)
    function = getattr(node, "func", None)
    kinds = (function, getattr(function, "value", None))  # Agent[Deps](), AgentWorkflow.from_agents()
    return next((kind for kind in kinds if kind is not None and last_name(kind) in _CLASSES), None)


def _placed(framework: str, root: Path, path: Path, node: ast.stmt, call: ast.AST) -> Made:
    """Where the tools are: in the module, on what importing it makes, in a list, or on what returns it."""
    module, doubt = module_name(root, path), _doubt(root, path)
    if isinstance(call, ast.Assign) and not isinstance(call.value, ast.Call):  # a list of tools
        return Made(framework, f"{module}:{ast.unparse(call.targets[0])}", "", doubt, has_agent=False)
    if call is node:
        return Made(framework, module, "", doubt, has_agent=False)
    lists = [ast.unparse(each.value) for each in getattr(call, "keywords", ()) if each.arg == "tools"]
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
    return Made(framework, f"{module}:TOOLS", "", f"{module} has no TOOLS: make that the list of its tools")


def _doubt(root: Path, path: Path) -> str:
    """Why a module should not be imported as it is."""
    tree, main = parse_python(path), 'put that below if __name__ == "__main__":'
    is_run = tree is not None and any(map(_runs, tree.body))
    return f"importing {module_name(root, path)} runs it: {main}" if is_run else ""


def _runs(node: ast.stmt) -> bool:
    """Whether importing a module runs an agent or a server there."""
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return not isinstance(node, ast.If | AnyDefinition) and any(last_name(call) in _RUNS for call in calls)
