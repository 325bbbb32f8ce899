"""What tools' source compares values with, read without importing: the only texts that ``saw`` may hold.

Read once a process and tool: the file that defines the tool, and what it uses of the project's other files.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import islice, permutations
from pathlib import Path
from typing import Final

from coreloop.base.project.allowed_values import enum_members, last_name
from coreloop.base.project.imports import Parse, with_imported
from coreloop.base.project.tools import bare_name, parse_python, source_files
from coreloop.observe.shown_states import LITERAL_CHARS, Compared

MAX_FILES: Final = 3_000  # of a project: reading so many takes about a second
_MAX_DEFINITIONS: Final = 3  # files that define a name; more of them are not about one tool
_MAX_SOURCE_BYTES: Final = 2_000_000
_DEFINED: Final = re.compile(rb"\bdef\s+(\w+)\s*[(\[]")
_WORD: Final = re.compile(r"[^\W\d]\w{0,39}")

# Takes a tool's name as it is recorded; None if the project does not define the tool or compares nothing.
Reader = Callable[[str], Compared | None]


@lru_cache(maxsize=8)
def reader_of(root: Path, targets: tuple[tuple[str, str | None], ...] = ()) -> Reader:
    """Return the function that reads a project's tools.

    Parameters
    ----------
    root : Path
        The project's folder. Tests, environments and build output are not read.
    targets : tuple of (str, str or None)
        Tools and their ``file::definition`` of coreloop.yaml.
    """
    named = {tool: [root / target.partition("::")[0]] for tool, target in targets if target}
    defined = _definitions(root)

    compared = lru_cache(maxsize=1024)(partial(_compared, root=root, parse=lru_cache(512)(parse_python)))

    @lru_cache(maxsize=1024)
    def read(tool: str) -> Compared | None:
        files = named.get(tool) or defined.get(tool) or defined.get(bare_name(tool)) or []
        return compared(tuple(files)) if 0 < len(files) <= _MAX_DEFINITIONS else None

    return read


def _definitions(root: Path) -> dict[str, list[Path]]:
    """The files that define each function."""
    files: dict[str, list[Path]] = {}
    for path in islice(source_files(root), MAX_FILES):
        for name in set(_DEFINED.findall(_source(path))):
            files.setdefault(name.decode("utf-8", "replace"), []).append(path)
    return files


def _source(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.stat().st_size <= _MAX_SOURCE_BYTES else b""
    except OSError:
        return b""


def _compared(files: tuple[Path, ...], *, root: Path, parse: Parse) -> Compared | None:
    """What files, and what they use of others, compare with."""
    trees = [with_imported(tree, path, root, parse) for path in files if (tree := parse(path)) is not None]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    constants = _constants(nodes)
    operands = [operand for node in nodes for operand in _operands(node)]
    literals = {text for operand in operands for text in _texts(operand)}
    literals |= {text for operand in operands for text in constants.get(last_name(operand), ())}
    tested = {name for node in nodes for test in _tests(node) if (name := _field(test)) is not None}
    if not literals and not tested:
        return None
    names = {name for node in nodes if (name := _name(node)) is not None}
    fields = {name for node in nodes for name, other in _fields(node) if not other or other in constants}
    by_hash = {hash(text): text for text in literals}
    return Compared(by_hash, frozenset(tested), frozenset(names), frozenset(fields))


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
    texts = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    yield from (text for text in texts if 0 < len(text) <= LITERAL_CHARS)


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
