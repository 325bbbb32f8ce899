"""What tools' source compares values with, read without importing: the only texts that ``saw`` may hold.

Read once a process and tool: the file that defines the tool, and the project's files that it imports.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import permutations
from pathlib import Path
from typing import Final, NamedTuple

from coreloop.base.project.allowed_values import enum_members, last_name
from coreloop.base.project.imports import imported_files
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import bare_name, parse_python, python_files
from coreloop.observe.shown_states import LITERAL_CHARS, Compared

MAX_FILES: Final = 3_000  # of a project: reading so many takes about a second
MAX_IMPORTED: Final = 30  # files of a tool: parsing one takes up to 10 ms
_MAX_DEFINITIONS: Final = 3  # files that define a name; more of them are not about one tool
_MAX_SOURCE_BYTES: Final = 2_000_000
_DEFINED: Final = re.compile(rb"\bdef\s+(\w+)\s*[(\[]")
_WORD: Final = re.compile(r"[^\W\d]\w{0,39}")

Reader = Callable[[str], Compared | None]
"""Takes a tool's name as it is recorded; None if the project does not define the tool or compares nothing."""


class _Found(NamedTuple):
    """What a file compares with; ``operands`` are names, which may be those of another file's constants.

    ``fields`` are those that are compared, with the name of what they are compared with; empty for a text.
    """

    literals: frozenset[str] = frozenset()
    tested: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    fields: frozenset[tuple[str, str]] = frozenset()
    operands: frozenset[str] = frozenset()
    constants: Mapping[str, frozenset[str]] = {}


def reader_for(root: Path, settings: Settings) -> Reader:
    """Return the reader of a project's tools, see `reader_of`."""
    return reader_of(root, tuple((name, tool.target or "") for name, tool in settings.tools.items()))


@lru_cache(maxsize=8)
def reader_of(root: Path, targets: tuple[tuple[str, str], ...] = ()) -> Reader:
    """Return the function that reads a project's tools.

    Parameters
    ----------
    root : Path
        The project's folder. Tests, environments and build output are not read.
    targets : tuple of (str, str)
        Tools and their ``file::definition`` of coreloop.yaml.
    """
    named = {tool: [root / target.partition("::")[0]] for tool, target in targets if target}
    defined = _definitions(root)

    @lru_cache(maxsize=1024)
    def read(tool: str) -> Compared | None:
        files = named.get(tool) or defined.get(tool) or defined.get(bare_name(tool)) or []
        return _compared(files, root) if 0 < len(files) <= _MAX_DEFINITIONS else None

    return read


def _definitions(root: Path) -> dict[str, list[Path]]:
    """The files that define each function."""
    files: dict[str, list[Path]] = {}
    for count, path in enumerate(python_files(root)):
        if count == MAX_FILES:
            break
        for name in set(_DEFINED.findall(_source(path))):
            files.setdefault(name.decode("utf-8", "replace"), []).append(path)
    return files


def _source(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.stat().st_size <= _MAX_SOURCE_BYTES else b""
    except OSError:
        return b""


def _compared(files: list[Path], root: Path) -> Compared | None:
    found = [_read_file(path, root)[0] for path in _with_imported(files, root)]
    constants = {name: texts for file in found for name, texts in file.constants.items()}
    literals = frozenset().union(*(file.literals for file in found))
    for name in frozenset().union(*(file.operands for file in found)):
        literals |= constants.get(name, frozenset())
    tested = frozenset().union(*(file.tested for file in found))
    if not literals and not tested:
        return None
    names = frozenset().union(*(file.names for file in found))
    fields = {field for file in found for field, other in file.fields if not other or other in constants}
    return Compared({hash(text): text for text in literals}, tested, names, frozenset(fields))


def _with_imported(files: list[Path], root: Path) -> list[Path]:
    """The files, and those that they import, breadth first."""
    reached = list(files)
    for path in reached:  # grows
        for other in _read_file(path, root)[1]:
            if other not in reached and len(reached) < MAX_IMPORTED:
                reached.append(other)
    return reached


@lru_cache(maxsize=512)
def _read_file(path: Path, root: Path) -> tuple[_Found, tuple[Path, ...]]:
    tree = parse_python(path)
    return (_Found(), ()) if tree is None else (_read_tree(tree), tuple(imported_files(tree, path, root)))


def _read_tree(tree: ast.AST) -> _Found:
    nodes = list(ast.walk(tree))
    operands = [operand for node in nodes for operand in _operands(node)]
    tests = [test for node in nodes for test in _tests(node)]
    return _Found(
        literals=frozenset(text for operand in operands for text in _texts(operand)),
        tested=frozenset(name for test in tests if (name := _field(test)) is not None),
        names=frozenset(name for node in nodes if (name := _name(node)) is not None),
        fields=frozenset(pair for node in nodes for pair in _fields(node)),
        operands=frozenset(map(last_name, operands)) - {""},
        constants=_constants(nodes),
    )


def _constants(nodes: Iterable[ast.AST]) -> dict[str, frozenset[str]]:
    """Texts by name, of a file, a class or a function: ``CLOSED = {"delivered", "cancelled"}``."""
    texts: dict[str, frozenset[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            values = frozenset(_texts(node.value))
            for target in targets:
                if isinstance(target, ast.Name) and values:
                    texts[target.id] = texts.get(target.id, frozenset()) | values
    return texts


def _operands(node: ast.AST) -> Iterator[ast.expr]:
    """What values are compared with: operands, cases, and the members of ``Literal`` and of an Enum."""
    if isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.MatchValue):
        yield node.value
    elif isinstance(node, ast.Subscript) and last_name(node.value) == "Literal":
        yield node.slice
    elif isinstance(node, ast.ClassDef):
        yield from map(ast.Constant, enum_members(node))


def _texts(node: ast.expr) -> Iterator[str]:
    """The short texts of an operand: a constant, or the items of a list."""
    if isinstance(node, ast.Call) and last_name(node.func) in {"frozenset", "set", "tuple"} and node.args:
        node = node.args[0]
    items: Iterable[ast.expr | None] = [node]
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        items = node.elts
    elif isinstance(node, ast.Dict):
        items = node.keys
    for item in items:
        if (
            isinstance(item, ast.Constant)
            and isinstance(item.value, str)
            and 0 < len(item.value) <= LITERAL_CHARS
        ):
            yield item.value


def _tests(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions whose truth is tested."""
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        yield node.test
    elif isinstance(node, ast.comprehension):
        yield from node.ifs
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        if any(isinstance(side, ast.Constant) and isinstance(side.value, bool) for side in sides):
            yield from sides


def _fields(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Fields that are compared, with the name of what they are compared with; empty for a text."""
    if isinstance(node, ast.Match):
        name = _field(_unwrapped(node.subject))
        yield from [(name, "")] if name else []
    elif isinstance(node, ast.Compare):
        for side, other in permutations([node.left, *node.comparators], 2):
            name = None if isinstance(side, ast.Constant) else _field(_unwrapped(side))
            if name:
                yield name, "" if any(_texts(other)) else last_name(other)


def _unwrapped(node: ast.expr) -> ast.expr:
    """``order["status"]`` of ``Status(order["status"])`` and ``order["status"].lower()``."""
    if isinstance(node, ast.Call) and last_name(node.func) != "get":
        if isinstance(node.func, ast.Attribute) and not node.args:
            return node.func.value
        return node.args[0] if len(node.args) == 1 else node
    return node


def _field(node: ast.expr) -> str | None:
    """The field that an expression reads: ``item["open"]``, ``item.open``, ``item.get("open")``, ``open``."""
    if isinstance(node, ast.Call) and last_name(node.func) == "get" and node.args:
        node = node.args[0]
    elif isinstance(node, ast.Subscript):
        node = node.slice
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    return last_name(node) or None


def _name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) and _WORD.fullmatch(node.value) else None
    if isinstance(node, ast.arg):
        return node.arg
    return last_name(node) or None
