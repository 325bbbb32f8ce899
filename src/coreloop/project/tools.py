"""Where a tool is defined, and what its definition says: the closed vocabulary of the proposed text."""

import ast
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from coreloop.project.choices import declared_choices
from coreloop.project.settings import ToolSettings

_SKIPPED_FOLDERS: Final = frozenset(
    {"__pycache__", "build", "dist", "env", "node_modules", "site-packages", "test", "tests", "venv"}
)
_MAX_SOURCE_BYTES: Final = 2_000_000
_TOOL_NAME: Final = re.compile(r"[^\W\d][\w.:/-]{0,99}")

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's definition.

    Attributes
    ----------
    name : str
        As the model knows it.
    file : str
        Path below the project's folder, with ``/``.
    qualname : str
        ``Class.method`` or ``function``; ``function:LINE`` where the target names a line.
    parameters : tuple of str
        Names in the order of the signature, without ``self`` and ``cls``.
    literals : frozenset of str
        Text constants of the file, docstrings left out.
    docstring : str
        Its own.
    choices : mapping of str to tuple of str
        Argument -> the values that its annotation allows, see `coreloop.project.choices`.
    """

    name: str
    file: str
    qualname: str
    parameters: tuple[str, ...]
    literals: frozenset[str]
    docstring: str = ""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A tool whose definition is not known, and why."""

    name: str
    reason: str


def is_tool_name(name: str) -> bool:
    """Whether a recorded tool name may stand in a docstring: an identifier, with dots, dashes or slashes."""
    return _TOOL_NAME.fullmatch(name) is not None


def resolve_tools(
    names: Iterable[str], *, root: Path, configured: Mapping[str, ToolSettings]
) -> dict[str, Tool | Unresolved]:
    """Find the definitions of tools without importing anything.

    Parameters
    ----------
    names : iterable of str
        Tool names.
    root : Path
        The project's folder. Hidden folders, environments, build output and tests are not searched.
    configured : mapping of tool name to ToolSettings
        A ``target`` there is taken at its word; without one the definition is looked for by name.

    Returns
    -------
    dict of str to Tool or Unresolved
        Every name. A name that is defined twice is unresolved.
    """
    wanted = sorted(set(names))
    targets = {name: configured[name].target for name in wanted if name in configured}
    searched = [name for name in wanted if not targets.get(name) and is_tool_name(name)]
    found = _search(searched, root) if searched else {}
    resolved: dict[str, Tool | Unresolved] = {}
    for name in wanted:
        target = targets.get(name)
        resolved[name] = _from_target(name, target, root) if target else _unique(name, found.get(name, []))
    return resolved


def _from_target(name: str, target: str, root: Path) -> Tool | Unresolved:
    file, _, qualname = target.partition("::")
    tree = parse_python(root / file)
    if tree is None:
        return Unresolved(name, f"{file} is no readable Python")
    bare, _, line = qualname.partition(":")
    found = [node for path, node in definitions(tree) if path == bare]
    if line:
        found = [node for node in found if line in map(str, _own_lines(node))]
    if not found:
        return Unresolved(name, f"{file} has no {qualname}")
    return make_tool(name, file, qualname, found[0], tree)


def _own_lines(node: _Definition) -> Iterator[int]:
    """The lines of a definition by which a target may name it: its ``def`` and its decorators."""
    yield node.lineno
    for decorator in node.decorator_list:
        yield decorator.lineno


def _unique(name: str, tools: list[Tool]) -> Tool | Unresolved:
    if len(tools) == 1:
        return tools[0]
    if not tools:
        return Unresolved(name, "no definition of that name; name it under tools: in coreloop.yaml")
    places = ", ".join(f"{tool.file}::{tool.qualname}" for tool in tools[:3])
    return Unresolved(name, f"defined {len(tools)} times ({places}); name one under tools: in coreloop.yaml")


def _search(names: list[str], root: Path) -> dict[str, list[Tool]]:
    mention = re.compile(
        rb"\bdef\s+(?:" + b"|".join(re.escape(name.encode()) for name in names) + rb")\s*[(\[]"
    )
    found: dict[str, list[Tool]] = {name: [] for name in names}
    for path in python_files(root):
        source = _read(path)
        if not mention.search(source):
            continue
        tree = _parse_bytes(source)
        for qualname, node in definitions(tree) if tree is not None else ():
            if node.name in found and not isinstance(node, ast.ClassDef):
                file = path.relative_to(root).as_posix()
                found[node.name].append(make_tool(node.name, file, qualname, node, tree))
    return found


def python_files(root: Path) -> Iterator[Path]:
    """The Python files below a folder that people wrote for use: no tests, environments, build output."""
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if not _is_skipped(name))
        for name in sorted(files):
            if name.endswith(".py") and not name.startswith("test_"):
                yield Path(folder, name)


def _is_skipped(folder: str) -> bool:
    return folder.startswith(".") or folder in _SKIPPED_FOLDERS


def definitions(tree: ast.AST, above: str = "") -> Iterator[tuple[str, _Definition]]:
    """Definitions of modules and classes with their qualnames; of overloads only the implementation."""
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
    """The tool of a definition in a file."""
    literals = _literals(tree) if tree is not None else frozenset()
    choices = declared_choices(node, tree) if tree is not None and not isinstance(node, ast.ClassDef) else {}
    return Tool(name, file, qualname, _parameters(node), literals, ast.get_docstring(node) or "", choices)


def _parameters(node: _Definition) -> tuple[str, ...]:
    if isinstance(node, ast.ClassDef):
        return ()
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return tuple(argument.arg for argument in arguments if argument.arg not in {"self", "cls"})


def _literals(tree: ast.AST) -> frozenset[str]:
    nodes = list(ast.walk(tree))
    bare = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings among them
    constants = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in bare)
    return frozenset(node.value for node in constants if isinstance(node.value, str))


def parse_python(path: Path, *, mention: re.Pattern[bytes] | None = None) -> ast.AST | None:
    """A file's tree; None if it is not readable Python, or does not mention what is looked for."""
    source = _read(path)
    return _parse_bytes(source) if mention is None or mention.search(source) else None


def _parse_bytes(source: bytes) -> ast.AST | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a doubtful escape in somebody's source is not this command's talk
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # MemoryError: too deeply nested
            return None


def _read(path: Path) -> bytes:
    """The source; nothing of a file that cannot be read or that no person wrote."""
    try:
        return path.read_bytes() if path.stat().st_size <= _MAX_SOURCE_BYTES else b""
    except OSError:
        return b""
