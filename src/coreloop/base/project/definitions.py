"""What a project's files say of its tools, read without importing: definitions, registrations, mounts."""

import ast
import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeGuard

from coreloop.base.project.allowed_values import last_name
from coreloop.base.project.imports import Imports
from coreloop.base.project.python_source import UnprovenError, parse_source

_SKIPPED_FOLDERS: Final = frozenset(
    {"__pycache__", "build", "dist", "env", "node_modules", "site-packages", "test", "tests", "venv"}
)
_TEST: Final = re.compile(r"test_|.*[._]test\.|.*\.spec\.[cm]?[jt]sx?$")
_MAX_SOURCE_BYTES: Final = 2_000_000

DECORATORS: Final = frozenset(
    (
        *("tool", "tool_plain", "function_tool", "beta_tool", "beta_async_tool", "observed_tool", "add_tool"),
        *("kernel_function", "ai_function", "FunctionDeclaration", "ToolDefinition", "ToolParam"),
        *("register_tool", "create_tool", "pydantic_function_tool"),
    )
)
"""Last parts of decorator names: ``@tool``, ``@mcp.tool()``, ``@agent.tool_plain``, ``server.add_tool`` …"""
MOUNTS: Final = rb"\.(mount|import_server|prefixed)\("
_NAMES: Final = ("name", "name_override")
_DESCRIPTIONS: Final = ("description", "description_override")
_FUNCTIONS: Final = ("func", "fn", "function", "coroutine", "callback", "handler", "on_invoke_tool", "model")
_SCHEMAS: Final = ("inputSchema", "input_schema", "parameters", "params_json_schema")
_MENTION: Final = (
    rb"[tT]ools?\s*[=(]|TOOLS\s*[=:]|@[\w.]*tool|from_function|from_defaults|"
    + MOUNTS
    + rb"|input_?schema|inputSchema|json_schema|[\"']parameters[\"']"
)
Function = ast.FunctionDef | ast.AsyncFunctionDef
AnyDefinition = Function | ast.ClassDef
_NAMED = ast.Name | ast.Attribute
NO_TOOL, METHOD, FUNCTION, REGISTERED = range(4)
"""How sure a definition is a tool. A class, or a function in another, is none unless it is registered."""


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """What may be a tool.

    Attributes
    ----------
    name : str
        As the model knows it.
    path, qualname : Path, str
        Where it is; a call or a dictionary has the tool's name.
    node : ast.FunctionDef or ast.AsyncFunctionDef or ast.ClassDef or None
        None if a call or a dictionary is all of it.
    call : ast.expr or None
        The decorator, call or dictionary that makes it a tool.
    rank : int
        How sure that is: `NO_TOOL` to `REGISTERED`.
    """

    name: str
    path: Path
    qualname: str
    node: AnyDefinition | None
    call: ast.expr | None = None
    rank: int = REGISTERED

    @property
    def line(self) -> int:
        return getattr(self.node or self.call, "lineno", 0)

    @property
    def description(self) -> ast.expr | None:
        """What the model reads instead of a docstring, if its text is in the source."""
        value = _argument(self.call, _DESCRIPTIONS)
        return value if value is not None and (text_of(value) or self.node is None) else None

    @property
    def schema(self) -> ast.expr | None:
        """What says its parameters instead of a signature."""
        return _argument(self.call, _SCHEMAS)


class Source:
    """The project's files, each read once; ``names`` are those of the tools that are looked for."""

    def __init__(self, root: Path, names: Collection[str]) -> None:
        self.root, self.names = root, frozenset(names)
        self._read = cache(read_source)
        self.tree = cache(parse_python)
        self.imports = Imports(root, self.tree)
        self.used = cache(self.imports.whole)
        self._in_file = cache(lambda path: [*self._registered(path), *self._defined(path)])
        self._functions: list[Definition] = []
        self.mounts: dict[str, list[tuple[Path, ast.expr]]] = {}

    def mentions(self, pattern: bytes) -> list[Path]:
        """The files with a pattern."""
        search = re.compile(pattern).search
        return [path for path in source_files(self.root) if search(self._read(path))]

    def search(self) -> dict[str, list[Definition]]:
        """All registered tools by their names, and whatever else has one of the names."""
        names = b"|".join(re.escape(name.encode()) for name in self.names) or b"(?!)"
        files = self.mentions(rb"\bdef\s+(?:%b)\s*[(\[]|%b" % (names, _MENTION))
        self._functions = [one for path in files for one in self._defined(path)]
        every = [one for path in files for one in self._in_file(path)]
        pairs = [(name, f"{mount}_") for name in self.names for mount in self.mounts]
        below = {name.removeprefix(mount) for name, mount in pairs if name.startswith(mount)}
        if not below <= self.names:  # the tools of servers that are mounted
            self.names |= below
            self._in_file.cache_clear()
            return self.search()
        found: dict[str, dict[tuple[Path, int], Definition]] = {}
        for one in sorted(every, key=lambda one: one.rank):
            if one.rank == REGISTERED or (one.name in self.names and one.rank > NO_TOOL):
                found.setdefault(one.name, {})[one.path, one.line] = one
        return {name: list(places.values()) for name, places in found.items()}

    def at(self, path: Path, qualname: str, name: str) -> Definition | None:
        """The definition at a place: a call that describes the tool of a name, else a function or a class."""
        own = [one for one in self._in_file(path) if one.path == path and one.qualname == qualname]
        return next((one for one in own if one.name == name or one.node is not None), None)

    def plain(self, path: Path, node: ast.AST | None, deep: int = 9) -> Any:
        """What an expression is, with names looked up; None for what only running would show."""
        if isinstance(node, ast.Constant) or not deep:
            return node.value if isinstance(node, ast.Constant) else None
        if isinstance(node, ast.Dict):
            return {name: self.plain(path, value, deep - 1) for name, value in _entries(node)}
        if isinstance(node, ast.List | ast.Tuple):
            return [self.plain(path, part, deep - 1) for part in node.elts]
        is_model = isinstance(node, ast.Call) and last_name(node.func) == "model_json_schema"
        named = node.func.value if is_model else node  # type: ignore[union-attr]
        found = self.imports.look_up(path, ast.unparse(named)) if isinstance(named, _NAMED) else None
        if found is None or not is_model:
            return self.plain(found[0], getattr(found[1], "value", None), deep - 1) if found else None
        fields = [field for field in getattr(found[1], "body", ()) if isinstance(field, ast.AnnAssign)]
        return {"properties": dict.fromkeys(last_name(field.target) for field in fields)}

    def of_mount(self, found: list[Definition], mount: str) -> list[Definition]:
        """Those of some definitions that are of a server that is mounted under a name."""
        places = [self.imports.look_up(path, ast.unparse(value)) for path, value in self.mounts[mount]]
        servers = [place for place in places if place is not None]
        own = [one for one in found if self.imports.look_up(one.path, _server(one.call)) in servers]
        return own or [one for one in found if one.path in {file for file, _ in servers}] or found

    def _defined(self, path: Path) -> Iterator[Definition]:
        tree = self.tree(path)
        nodes = list(visible(tree)) if tree is not None else []
        functions = {qualname for qualname, node in nodes if isinstance(node, Function)}
        for qualname, node in nodes:
            above = qualname.rpartition(".")[0]
            is_none = above in functions or isinstance(node, ast.ClassDef)
            rank = NO_TOOL if is_none else METHOD if above else FUNCTION
            yield Definition(node.name, path, qualname, node, None, rank)
            call = next(filter(is_tool_decorator, node.decorator_list), None)
            if call is not None and isinstance(node, Function):
                yield Definition(_named(call) or node.name, path, qualname, node, call)

    def _registered(self, path: Path) -> Iterator[Definition]:
        """The tools that calls, lists and dictionaries of a file make; mounts are noted."""
        tree = self.tree(path)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Call) and re.fullmatch(MOUNTS, f".{last_name(node.func)}(".encode()):
                self._mount(path, node)
            n_made = 0
            for value, call in references(node):
                for one in self._referred(path, value):
                    n_made += 1
                    yield replace(one, name=_named(call) or one.name, call=call, rank=REGISTERED)
            if not n_made and _describes_tool(node):
                name = _constant(_argument(node, _NAMES))
                yield Definition(name, path, name, None, node)

    def _mount(self, path: Path, call: ast.Call) -> None:
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        if isinstance(call.func, ast.Attribute) and call.func.attr == "prefixed":  # toolset.prefixed("board")
            values.append(call.func.value)
        servers = [getattr(value, "func", value) for value in values if not isinstance(value, ast.Constant)]
        for name in filter(None, map(_constant, values)):
            self.mounts.setdefault(name, []).extend((path, server) for server in servers)

    def _referred(self, path: Path, value: ast.expr) -> list[Definition]:
        """The functions that a name or an attribute may stand for: the imported one, else all of its name."""
        if not isinstance(value, _NAMED):
            return []
        found = self.imports.look_up(path, ast.unparse(value))
        if found is not None and isinstance(found[1], Function):
            return [Definition(found[1].name, found[0], found[1].name, found[1])]
        if found is not None and (listed := getattr(getattr(found[1], "value", None), "elts", ())):
            return [one for part in listed for one in self._referred(found[0], part)]
        is_method = isinstance(value, ast.Attribute)
        functions = self._functions or self._defined(path)
        named = [one for one in functions if one.name == last_name(value) and isinstance(one.node, Function)]
        alike = [one for one in named if one.call is None and is_method == (one.rank == METHOD)]
        return [one for one in alike if one.path == path] or [one for one in alike if one.name in self.names]


def _server(call: ast.expr | None) -> str:
    """``board`` of a decorator ``@board.tool()``."""
    function = getattr(call, "func", call)
    return ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""


def is_tool_decorator(decorator: ast.expr) -> bool:
    """Whether a decorator makes a tool: ``@tool``, ``@mcp.tool()``, ``@function_tool``."""
    return last_name(decorator.func if isinstance(decorator, ast.Call) else decorator) in DECORATORS


def is_tool_call(call: ast.Call) -> bool:
    """Whether a call makes a tool: ``Tool(f)``, ``StructuredTool.from_function(f)``, ``mcp.tool("x")(f)``."""
    function = call.func
    owner = function.value if isinstance(function, ast.Attribute) else function
    is_made = is_tool_decorator(call) or is_tool_decorator(function)
    return is_made or any(last_name(part).endswith("Tool") for part in (function, owner))


def _describes_tool(node: ast.AST) -> TypeGuard[ast.Call | ast.Dict]:
    """Whether a call or a dictionary names and describes a tool: with a schema, or as ``Tool(…)``."""
    is_tool = isinstance(node, ast.Call) and last_name(node.func).endswith("Tool")
    is_described = _argument(node, _DESCRIPTIONS) is not None and _constant(_argument(node, _NAMES)) != ""
    return is_described and (is_tool or _argument(node, _SCHEMAS) is not None)


def references(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The functions that a list of tools or a call names, each with the call that it stands in."""
    name = getattr(node, "arg", None) or last_name(next(iter(getattr(node, "targets", [])), node))
    listed = getattr(node, "value", None) if name.lower().endswith("tools") else None
    if isinstance(node, ast.Call) and last_name(node.func).endswith("tools"):  # model.bind_tools([book])
        listed = next(iter(node.args), None)
    for value in listed.elts if isinstance(listed, ast.List | ast.Tuple) else ():
        yield from ((part, value) for part in taken_by(value))
        yield value, None
    if isinstance(node, ast.Call) and is_tool_call(node):
        made = node.func if isinstance(node.func, ast.Call) else node
        yield from ((part, made) for part in taken_by(node))
    loops: Any = [node] if isinstance(node, ast.For) else getattr(node, "generators", ())
    for loop in loops:  # [Tool(function) for function in (book, cancel)]
        calls = (part for part in ast.walk(node) if isinstance(part, ast.Call) and is_tool_call(part))
        if last_name(loop.target) in {last_name(part) for call in calls for part in taken_by(call)}:
            yield from ((part, None) for part in getattr(loop.iter, "elts", [loop.iter]))
    text = _argument(node, _DESCRIPTIONS)
    if text is not None and _describes_tool(node) and not text_of(text):  # description=book.__doc__
        yield from ((part, node) for part in ast.walk(text) if isinstance(part, ast.Name))


def taken_by(call: ast.expr) -> Iterator[ast.expr]:
    """The functions that a call may take."""
    if isinstance(call, ast.Call):
        yield from call.args
        yield from (keyword.value for keyword in call.keywords if keyword.arg in _FUNCTIONS)


def _entries(node: ast.AST | None) -> Iterator[tuple[str, ast.expr]]:
    """The keys of a dictionary, or of a call, that are texts, with their values."""
    if isinstance(node, ast.Dict):
        pairs = zip(map(_constant, node.keys), node.values, strict=True)
        yield from ((key, value) for key, value in pairs if key)
    elif isinstance(node, ast.Call):
        yield from ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg)


def _argument(node: ast.AST | None, names: Collection[str]) -> ast.expr | None:
    return next((value for name, value in _entries(node) if name in names), None)


def _named(call: ast.expr | None) -> str:
    """The name that a decorator or a call gives a tool: ``@tool("name")``, ``Tool(f, name="name")``."""
    first = call.args[:1] if isinstance(call, ast.Call) and is_tool_decorator(call) else []
    values = map(_constant, [_argument(call, _NAMES), *first])
    return next(filter(None, values), "")


def _constant(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def text_of(value: ast.expr) -> str:
    """The text in an expression, as in ``dedent("…")``; empty if it has none."""
    return next(filter(None, (_constant(node) for node in ast.walk(value) if isinstance(node, ast.expr))), "")


def source_files(root: Path, suffixes: tuple[str, ...] = (".py",)) -> Iterator[Path]:
    """Yield the files with some suffixes below a folder, without tests, environments and build output."""
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if not is_skipped(name))
        for name in sorted(files):
            if name.endswith(suffixes) and not _TEST.match(name):
                yield Path(folder, name)


def mounted_servers(root: Path) -> Iterator[tuple[Path, int]]:
    """Yield where servers are made that others mount: file and line."""
    imports, mounts = Imports(root, parse_python), re.compile(MOUNTS)
    for path in source_files(root):
        tree = parse_python(path) if mounts.search(read_source(path)) else None
        for call in ast.walk(tree) if tree is not None else ():
            if isinstance(call, ast.Call) and mounts.match(f".{last_name(call.func)}(".encode()):
                found = (imports.look_up(path, ast.unparse(server)) for server in call.args)
                yield from ((one[0], one[1].lineno) for one in found if one is not None)


def is_skipped(folder: str) -> bool:
    """Whether a folder has no tools of the project's own: tests, environments, build output."""
    return folder.startswith((".", "tests_", "__tests")) or folder in _SKIPPED_FOLDERS


def definitions(tree: ast.AST, above: str = "") -> Iterator[tuple[str, AnyDefinition]]:
    """Yield all classes and functions in file order with their qualnames, also those inside blocks."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, AnyDefinition):
            yield f"{above}{node.name}", node
            yield from definitions(node, f"{above}{node.name}.")
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from definitions(node, above)


def visible(tree: ast.AST) -> Iterator[tuple[str, AnyDefinition]]:
    """The definitions without those that another hides: an ``@overload``, a property's setter or deleter."""
    for qualname, node in definitions(tree):
        hidden = {(node.name, "setter"), (node.name, "deleter")}
        names = [(last_name(getattr(one, "value", one)), last_name(one)) for one in node.decorator_list]
        if hidden.isdisjoint(names) and not any(last == "overload" for _, last in names):
            yield qualname, node


def docstring_node(node: AnyDefinition) -> ast.Constant | None:
    """The docstring's literal; None if it is absent, or an f-string or bytes, which Python does not show."""
    value = getattr(node.body[0], "value", None) if isinstance(node.body[0], ast.Expr) else None
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def parse_python(path: Path) -> ast.Module | None:
    """Parse a file; None if it is not readable Python."""
    with suppress(UnprovenError):
        return parse_source(read_source(path)).tree
    return None


def read_source(path: Path) -> bytes:
    """Return the source; empty if the file is unreadable or too large to be hand-written."""
    try:
        # A pipe would block.
        return path.read_bytes() if path.is_file() and path.stat().st_size <= _MAX_SOURCE_BYTES else b""
    except OSError:
        return b""
