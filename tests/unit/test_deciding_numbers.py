"""A number that decides something has its reason beside it: the figure, page or choice that it comes from."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from rows import each_row
from source_files import parsed

SOURCE = Path(__file__).parents[2] / "src" / "coreloop"
ROOMS = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
NOT_OURS = {"helpdesk", "templates"}
"""Folders of files that are copied into other projects."""
NAMES_ITSELF = re.compile(
    r"_?(MAX|MOST|LONGEST|LARGEST|DEEPEST)(_|$)|"  # a cap
    r".*(BYTES|CHARS|COLUMNS|DIGITS|WIDTH|ROW|LETTERS|LINES|SHOWN|LISTED|VERSION|BITS|US|CACHE_SIZE|AT_ONCE)$|"
    r".*_(POLL|TICK|PAUSE)_S$|"  # how often something is looked at
    r"_(SEE_OTHER|OTHERS)$"  # a status of HTTP, a mode of files
)
"""Caps, sizes of buffers and screens, and units say by their name all that there is to say."""


def is_number(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant(value=int() | float() as value):
            return not isinstance(value, bool)
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            return is_number(left) and is_number(right)
        case ast.Call(func=ast.Name(id="timedelta")):
            return True
    return False


def numbers(tree: ast.Module) -> Iterator[tuple[str, ast.stmt, ast.stmt | None]]:
    """The constants of a file that are numbers, each with the statement behind it."""
    for node, behind in zip(tree.body, [*tree.body[1:], None], strict=True):
        match node:
            case (
                ast.AnnAssign(target=ast.Name(id=name), value=value)
                | ast.Assign(targets=[ast.Name(id=name)], value=value)
            ):
                if name.isupper() and is_number(value):
                    yield name, node, behind


def has_reason(node: ast.stmt, behind: ast.stmt | None, lines: list[str]) -> bool:
    """Whether a comment beside or above a constant, or a text below it, says why."""
    match behind:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    beside = lines[node.lineno - 1 : node.end_lineno]
    return any("# " in line for line in beside) or lines[node.lineno - 2].startswith("# ")


def without_reason(source: str, tree: ast.Module) -> list[str]:
    lines = source.splitlines()
    return [
        name
        for name, node, behind in numbers(tree)
        if not (NAMES_ITSELF.match(name) or has_reason(node, behind, lines))
    ]


@each_row("room", sorted(ROOMS))
def test_a_number_that_decides_has_its_reason(room: str):
    paths = [path for path in (SOURCE / room).rglob("*.py") if not NOT_OURS & set(path.parts)]
    found = {path.name: without_reason(path.read_text(encoding="utf-8"), parsed(path)) for path in paths}
    assert found
    assert {name: names for name, names in found.items() if names} == {}


def test_a_number_without_a_reason_is_found():
    source = """
A_S: Final = 2.0
B = 3  # chosen
C: Final = timedelta(days=2)
'Of a week.'
_MAX_D = 4
E = -1
"""
    assert without_reason(source, ast.parse(source)) == ["A_S", "E"]
