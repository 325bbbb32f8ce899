"""A tool's definition in the source, which gives the closed vocabulary of the proposed text."""

import ast
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from coreloop.base.project.allowed_values import declared_choices, listed_values
from coreloop.base.project.argument_limits import SchemaLimits, declared_limits
from coreloop.base.project.imports import with_imported
from coreloop.base.project.settings import ToolSettings

_SKIPPED_FOLDERS: Final = frozenset(
    {"__pycache__", "build", "dist", "env", "node_modules", "site-packages", "test", "tests", "venv"}
)
_MAX_NUMBER: Final = 1e12
_MAX_SOURCE_BYTES: Final = 2_000_000
_TOOL_NAME: Final = re.compile(r"[^\W\d][\w.:/-]{0,99}")

DECORATORS: Final = frozenset(
    {"tool", "tool_plain", "function_tool", "beta_tool", "beta_async_tool", "observed_tool", "add_tool"}
)
"""Last parts of decorator names: ``@tool``, ``@mcp.tool()``, ``@agent.tool_plain``, ``server.add_tool`` …"""
_MOUNT: Final = re.compile(rb"\.(?:mount|import_server)\(")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's definition.

    Attributes
    ----------
    name : str
        The name that the model sees.
    file : str
        Path below the project's folder, with ``/``.
    qualname : str
        ``Class.method`` or ``function``.
    parameters : tuple of str
        Names in the order of the signature, without ``self`` and ``cls``.
    literals : frozenset of str
        String constants of the file, and of what it uses of the project's other files, without docstrings.
    docstring : str
        What models read of the tool itself, usually the docstring of the definition; empty if absent.
    choices : mapping of str to tuple of str
        Argument -> the values that its annotation allows, see `coreloop.base.project.allowed_values`.
    limits : mapping of str to SchemaLimits
        Argument -> what the schema says of it besides its type.
    listed : frozenset of frozenset of str
        Sets of texts that these list together.
    numbers : frozenset of float
        Their number constants.
    line : int
        Of the definition in its file.
    described : mapping of str to str
        Argument -> its own description, if that can be edited.
    """

    name: str
    file: str
    qualname: str
    parameters: tuple[str, ...]
    literals: frozenset[str]
    docstring: str = ""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    limits: Mapping[str, SchemaLimits] = field(default_factory=dict, hash=False)
    listed: frozenset[frozenset[str]] = frozenset()
    numbers: frozenset[float] = frozenset()
    line: int = 0
    described: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A tool whose definition is unknown, with the reason."""

    name: str
    reason: str


Resolve = Callable[[Iterable[str]], Mapping[str, Tool | Unresolved]]


def is_tool_name(name: str) -> bool:
    """Whether a recorded tool name may be written into a docstring.

    It must look like an identifier; dots, colons, dashes and slashes are allowed.
    """
    return _TOOL_NAME.fullmatch(name) is not None


def resolve_tools(
    names: Iterable[str], *, root: Path, configured: Mapping[str, ToolSettings], only_places: bool = False
) -> dict[str, Tool | Unresolved]:
    """Find the definitions of tools without importing anything.

    Parameters
    ----------
    names : iterable of str
        Tool names.
    root : Path
        The project's folder. Hidden folders, environments, build output and tests are not searched.
    configured : mapping of tool name to ToolSettings
        A ``target`` is used as given; a tool without a target is searched by name.
    only_places : bool
        Whether to leave out the values that a tool's file, and what it imports, compare with.

    Returns
    -------
    dict of str to Tool or Unresolved
        An entry for every name. Of several definitions, the one that is a tool by its decorator or stands in
        a list of tools is meant; a name of which two remain is unresolved.
    """
    names = sorted(set(names))
    targets = {name: configured[name].target for name in names if name in configured}
    searched = [name for name in names if not targets.get(name) and is_tool_name(name)]
    source = _Source(root, only_places)
    matches = _search(searched, source) if searched else {}
    found = {name: _unique(name, matches.get(name, [])) for name in names}
    return found | {name: _from_target(name, target, source) for name, target in targets.items() if target}


def bare_name(name: str) -> str:
    """The tool in a name as clients log it: ``mcp__rooms__book_room``, ``rooms.book_room``."""
    if name.startswith("mcp__"):
        return name.removeprefix("mcp__").partition("__")[2]
    return name.rpartition(".")[2]


def logged_names(
    names: Iterable[str], *, root: Path, configured: Mapping[str, ToolSettings], resolve: Resolve
) -> dict[str, str]:
    """Map names as clients log them to the project's tools, which ``resolve`` finds; see `resolve_tools`.

    Returns
    -------
    dict of str to str
        Logged name -> tool. Left out are names that the project or coreloop.yaml has as they are, and those
        of several servers with a tool of that name: ``tools:`` says which is meant.
    """
    unknown = set(names) - configured.keys()
    bare = {name: bare_name(name) for name in unknown if bare_name(name) not in {"", name}}
    found = _known(bare, resolve)
    mounts = _mounts(root) if unknown - found.keys() else ()
    mounted = {
        name: tool.removeprefix(f"{mount}_")
        for name, tool in ((name, bare.get(name, name)) for name in unknown - found.keys())
        for mount in mounts
        if tool.startswith(f"{mount}_")
    }
    return found | _known(mounted, resolve)


def _known(bare: Mapping[str, str], resolve: Resolve) -> dict[str, str]:
    """The names whose bare form is a tool, of one server, and that are no tool themselves."""
    if not bare:
        return {}
    tools = resolve({*bare, *bare.values()})
    servers = Counter(bare.values())
    return {
        name: tool
        for name, tool in bare.items()
        if servers[tool] == 1 and not isinstance(tools[name], Tool) and isinstance(tools[tool], Tool)
    }


def _mounts(root: Path) -> set[str]:
    """The names under which servers of tools are mounted: ``main.mount(board, namespace="board")``."""
    mounts = set[str]()
    for path in source_files(root):
        tree = parse_python(path, mention=_MOUNT)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".mount", ".import_server")):
                values = [*node.args, *(keyword.value for keyword in node.keywords)]
                texts = (value.value for value in values if isinstance(value, ast.Constant))
                mounts.update(text for text in texts if text and isinstance(text, str))
    return mounts


class _Source:
    """The project's files, each read once."""

    def __init__(self, root: Path, only_places: bool) -> None:
        self.root = root
        self.only_places = only_places
        self.tree = cache(parse_python)
        self.used = cache(self._used)

    def _used(self, path: Path) -> ast.AST | None:
        """A file with what it uses of others, see `with_imported`."""
        tree = self.tree(path)
        return None if tree is None or self.only_places else with_imported(tree, path, self.root, self.tree)


def _from_target(name: str, target: str, source: _Source) -> Tool | Unresolved:
    file, _, qualname = target.partition("::")
    tree = source.tree(source.root / file)
    if tree is None:
        return Unresolved(name, f"{file} is not readable Python")
    nodes = [node for defined, node in definitions(tree) if defined == qualname]
    if not nodes:
        return Unresolved(name, f"{file} has no {qualname}")
    return make_tool(name, file, qualname, nodes[0], source.used(source.root / file))


def _unique(name: str, tools: list[Tool]) -> Tool | Unresolved:
    if len(tools) == 1:
        return tools[0]
    if not tools:
        return Unresolved(name, "no definition of that name; name it under tools: in coreloop.yaml")
    places = ", ".join(f"{tool.file}::{tool.qualname}" for tool in tools[:3])
    return Unresolved(name, f"defined {len(tools)} times ({places}); name one under tools: in coreloop.yaml")


def _search(names: list[str], source: _Source) -> dict[str, list[Tool]]:
    """The definitions of each name: those that are registered as tools, else all."""
    mention = re.compile(
        rb"\bdef\s+(?:" + b"|".join(re.escape(name.encode()) for name in names) + rb")\s*[(\[]|tools?\s*[=(]"
    )
    tools: dict[str, list[Tool]] = {name: [] for name in names}
    decorated, listed = set[tuple[str, int]](), set[str]()
    for path in source_files(source.root):
        tree = source.tree(path) if mention.search(read_source_bytes(path)) else None
        listed.update(_listed(tree) if tree is not None else ())
        for qualname, node in definitions(tree) if tree is not None else ():
            if node.name in tools and not isinstance(node, ast.ClassDef):
                file = path.relative_to(source.root).as_posix()
                tools[node.name].append(make_tool(node.name, file, qualname, node, source.used(path)))
                if any(map(is_tool_decorator, node.decorator_list)):
                    decorated.add((file, node.lineno))
    registered = {
        name: [its for its in found if (its.file, its.line) in decorated or its.qualname in listed]
        for name, found in tools.items()
    }
    return {name: registered[name] or found for name, found in tools.items()}


def is_tool_decorator(decorator: ast.expr) -> bool:
    """Whether a decorator makes a tool: ``@tool``, ``@mcp.tool()``, ``@function_tool``."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in DECORATORS


def _listed(tree: ast.AST) -> Iterator[str]:
    """The functions in ``Agent(tools=[book, Tool(cancel)])`` and ``server.add_tool(book)``; no method is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "tools" and isinstance(node.value, ast.List):
            yield from (name.id for name in ast.walk(node.value) if isinstance(name, ast.Name))
        if isinstance(node, ast.Call) and is_tool_decorator(node):
            yield from (name.id for name in node.args if isinstance(name, ast.Name))


def source_files(root: Path, suffixes: tuple[str, ...] = (".py",)) -> Iterator[Path]:
    """Yield the files with some suffixes below a folder, without tests, environments and build output."""
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if not is_skipped(name))
        for name in sorted(files):
            if name.endswith(suffixes) and not name.startswith("test_"):
                yield Path(folder, name)


def is_skipped(folder: str) -> bool:
    """Whether a folder has no tools of the project's own: tests, environments, build output."""
    return folder.startswith(".") or folder in _SKIPPED_FOLDERS


def definitions(tree: ast.AST, above: str = "") -> Iterator[tuple[str, _Definition]]:
    """Yield the definitions in modules and classes with their qualnames, without overloads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If | ast.Try | ast.ExceptHandler):
            yield from definitions(node, above)
        elif isinstance(node, _Definition) and not _is_overload(node):
            yield f"{above}{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from definitions(node, f"{above}{node.name}.")


def _is_overload(node: _Definition) -> bool:
    return any(ast.unparse(decorator).endswith("overload") for decorator in node.decorator_list)


def make_tool(name: str, file: str, qualname: str, node: _Definition, tree: ast.AST | None) -> Tool:
    """Make the tool of a definition; ``tree`` is its file, and may have what it imports."""
    docstring = ast.get_docstring(node) or ""
    tool = Tool(name, file, qualname, _parameters(node), frozenset(), docstring, line=node.lineno)
    if tree is None:
        return tool
    tool = replace(tool, literals=_literals(tree), listed=listed_values(tree), numbers=_numbers(tree))
    if isinstance(node, ast.ClassDef):
        return tool
    return replace(tool, choices=declared_choices(node, tree), limits=declared_limits(node, tree))


def _parameters(node: _Definition) -> tuple[str, ...]:
    if isinstance(node, ast.ClassDef):
        return ()
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return tuple(argument.arg for argument in arguments if argument.arg not in {"self", "cls"})


@lru_cache(maxsize=4)  # fifty tools of one file have the same
def _numbers(tree: ast.AST) -> frozenset[float]:
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    numbers = (value for value in constants if isinstance(value, int | float) and type(value) is not bool)
    return frozenset(float(number) for number in numbers if abs(number) < _MAX_NUMBER)


@lru_cache(maxsize=4)
def _literals(tree: ast.AST) -> frozenset[str]:
    nodes = list(ast.walk(tree))
    expressions = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings too
    constants = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in expressions)
    return frozenset(node.value for node in constants if isinstance(node.value, str))


def parse_python(path: Path, *, mention: re.Pattern[bytes] | None = None) -> ast.AST | None:
    """Parse a file; None if it is not readable Python or does not match ``mention``."""
    source = read_source_bytes(path)
    return _parse_bytes(source) if mention is None or mention.search(source) else None


def _parse_bytes(source: bytes) -> ast.AST | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in the project's source are not our concern
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # MemoryError: too deeply nested
            return None


def read_source_bytes(path: Path) -> bytes:
    """Return the source; empty if the file is unreadable or too large to be hand-written."""
    try:
        return path.read_bytes() if path.stat().st_size <= _MAX_SOURCE_BYTES else b""
    except OSError:
        return b""
