"""Every regular expression of the package, and texts that could make it slow, made from its own parts."""

import ast
import importlib
import pkgutil
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import FunctionType
from typing import Any, Final

import coreloop
from source_files import nodes

METHODS: Final = frozenset({"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
_ANCHORED: Final = frozenset({"match", "fullmatch"})
_CHARS: Final = [*string.printable, "가", "é", "一", "\u200b", "\xa0"]
_MANY: Final = 1_000
"""From this many repetitions on, a repeat counts as one without end."""
_NEVER: Final = "\0"
"""Follows each text: few expressions match it."""


@dataclass(frozen=True)
class Expression:
    """A compiled pattern and how it is used."""

    place: str
    pattern: "re.Pattern[Any]"
    is_anchored: bool
    """Whether it only looks at the start of a text."""


@cache
def expressions() -> tuple[Expression, ...]:
    """Each pattern that a module of the package names or writes in place, once."""
    found: dict[tuple[Any, int, bool], Expression] = {}
    for info in pkgutil.walk_packages(coreloop.__path__, "coreloop."):
        path = Path(importlib.util.find_spec(info.name).origin or "")  # type: ignore[attr-defined,union-attr]
        if info.name.endswith("__main__") or "helpdesk" in path.parts or not path.is_file():
            continue
        for each in _of_module(info.name, path):
            found.setdefault((each.pattern.pattern, each.pattern.flags, each.is_anchored), each)
    return tuple(found.values())


def _of_module(name: str, path: Path) -> Iterator[Expression]:
    for call in (node for node in nodes(path) if isinstance(node, ast.Call)):
        match call.func:
            case ast.Attribute(ast.Name("re"), method) if method in METHODS:
                if isinstance(call.args[0], ast.Constant):
                    pattern = re.compile(call.args[0].value)
                    yield Expression(f"{name}: {call.args[0].value}", pattern, method in _ANCHORED)
    try:
        module = importlib.import_module(name)
    except ImportError:  # of an extra that is not installed
        return
    for attribute, value in vars(module).items():
        for pattern in _patterns(value):
            where = path if attribute.startswith("_") else Path(coreloop.__path__[0])
            yield Expression(f"{name}.{attribute}", pattern, _methods(attribute, where) <= _ANCHORED)


def _patterns(value: Any) -> Iterator["re.Pattern[Any]"]:
    """Patterns in a value and in what it holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _patterns(each)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _patterns(each)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _patterns(getattr(value, field.name))
    elif isinstance(value, FunctionType):  # built at run time
        for cell in value.__closure__ or ():
            if isinstance(cell.cell_contents, re.Pattern):
                yield cell.cell_contents


@cache
def _source(where: Path) -> str:
    files = [where] if where.is_file() else where.rglob("*.py")
    return "\n".join(path.read_text("utf-8") for path in files)


@cache
def _methods(name: str, where: Path) -> frozenset[str]:
    """How a name is used in a file or a folder; with no use of its own, as in a table, as a search."""
    used = frozenset(re.findall(rf"\b{name}\)?\.(\w+)\b", _source(where))) & METHODS
    return used or frozenset({"search"})


def units(expression: Expression) -> list[tuple[str, str]]:
    """Pairs of a start and of what follows it again and again."""
    tree = _parser.parse(expression.pattern.pattern, expression.pattern.flags & ~re.DEBUG)
    if isinstance(expression.pattern.pattern, bytes):
        tree = _parser.parse(
            expression.pattern.pattern.decode("latin-1"), expression.pattern.flags & ~re.DEBUG
        )
    found = dict.fromkeys([("", " "), ("", "a"), ("", "1")])
    for start, unit in _repeats(tree, ""):
        if unit:
            found |= dict.fromkeys([(start, unit), ("", unit)])
            found |= dict.fromkeys([("", start + unit)])
    return [*found]


def _repeats(tree: Sequence[Any], start: str) -> Iterator[tuple[str, str]]:
    """What stands before each repeat without end, and a text that it repeats."""
    for code, argument in tree:
        if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            least, most, inner = argument
            yield from _repeats(inner, start)
            if most is codes.MAXREPEAT or most >= _MANY:
                for unit in _examples(inner):
                    yield start, unit
            start += _example(inner) * least
            continue
        for part in _parts(code, argument):
            yield from _repeats(part, start)
        start += _example([(code, argument)])


def _parts(code: Any, argument: Any) -> list[Any]:
    if code is codes.SUBPATTERN:
        return [argument[-1]]
    if code is codes.BRANCH:
        return list(argument[1])
    if code in {codes.ASSERT, codes.ASSERT_NOT}:
        return [argument[1]]
    if code is codes.ATOMIC_GROUP:
        return [argument]
    return []


def _examples(tree: Sequence[Any]) -> list[str]:
    """Texts that a part matches: two for a set of characters, one for each branch, one otherwise."""
    if len(tree) == 1:
        ((code, argument),) = tree
        if code is codes.IN:
            return _in(argument)[:1] + _in(argument)[-1:]
        if code is codes.BRANCH:
            return [_example(branch) for branch in argument[1]]
        if code is codes.SUBPATTERN:
            return _examples(argument[-1])
    return [_example(tree)]


def _example(tree: Sequence[Any]) -> str:
    return "".join(_of(code, argument) for code, argument in tree)


def _of(code: Any, argument: Any) -> str:
    if code is codes.LITERAL:
        return chr(argument)
    if code is codes.NOT_LITERAL:
        return "a" if argument != ord("a") else "b"
    if code is codes.ANY:
        return "a"
    if code is codes.IN:
        return next(iter(_in(argument)), "")
    if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
        return _example(argument[2]) * argument[0]
    parts = [] if code in {codes.ASSERT, codes.ASSERT_NOT} else _parts(code, argument)
    return _example(parts[0]) if parts else ""


def _in(items: Any) -> list[str]:
    """The characters of a set that are tried, of those that are usual."""
    return [char for char in _CHARS if _is_in(items, char)] or [
        chr(value if code is codes.LITERAL else value[0])
        for code, value in items
        if code in {codes.LITERAL, codes.RANGE}
    ][:1]


def _is_in(items: Any, char: str) -> bool:
    negated = items[0][0] is codes.NEGATE
    return any(_matches(code, value, char) for code, value in items[negated:]) != negated


def _matches(code: Any, value: Any, char: str) -> bool:
    if code is codes.LITERAL:
        return ord(char) == value
    if code is codes.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    escape = {
        codes.CATEGORY_DIGIT: r"\d",
        codes.CATEGORY_NOT_DIGIT: r"\D",
        codes.CATEGORY_SPACE: r"\s",
        codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_WORD: r"\W",
    }[value]
    return re.fullmatch(escape, char) is not None


def build(expression: Expression, start: str, unit: str, size: int) -> Any:
    """A text, or bytes, of about a size."""
    text = start + unit * (size // len(unit.encode())) + _NEVER
    return text.encode("utf-8", "replace") if isinstance(expression.pattern.pattern, bytes) else text


def run(expression: Expression, text: Any) -> None:
    """Apply an expression to a whole text, as its module does."""
    if expression.is_anchored:
        expression.pattern.match(text)
    else:
        for _ in expression.pattern.finditer(text):
            pass
