"""Whether a line names only what the base declares: in its coreloop.yaml, the edited file or a signature.

`promote` asks before, the guard when it checks.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from coreloop.base.git.repository import Repository
from coreloop.base.git.slug import KOREAN_AXIS_SLUG
from coreloop.base.project.imports import with_imported
from coreloop.base.project.settings import Settings
from coreloop.base.records import DEFAULT_SELECTORS
from coreloop.base.text import printable
from coreloop.descriptions.source import Definition, definitions, parse
from coreloop.learn.line import Named, parse_advice, parse_line

MAX_FIELDS: Final = 3
"""The deepest path that a trial on four logs found useful; a longer one can be a sentence."""
_SOURCES: Final = ("*.py", "*.json", "*.toml", "*.yaml", "*.yml")
"""Files that may have a result's field: code, and schemas."""
_REFUSALS: Final = {
    "tool": "{name} is not a tool of coreloop.yaml or the base; name it under tools: in coreloop.yaml",
    "argument": "{name} is not an argument of {tool}",
    "value": "{name} is not a value that coreloop.yaml or the source declares",
    "field": "{name} is not a field that code or a schema of the base has",
    "category": "{name} is not declared under categories: in coreloop.yaml",
}


def named(line: str) -> tuple[Named, ...]:
    """The names in a line of coreloop's."""
    value = parse_advice(line) or parse_line(line)
    return tuple(value.names()) if value is not None else ()


@dataclass(frozen=True, slots=True)
class Words:
    """The base's declarations.

    Attributes
    ----------
    settings : Settings
        The base's coreloop.yaml.
    source : str
        The text of the edited file.
    tool : str
        The docstring's tool; "" if unknown.
    definition : Definition, optional
        The tool's definition.
    names : collection of Named
        What other files of the base have.
    """

    settings: Settings
    source: str
    tool: str = ""
    definition: Definition | None = None
    names: Collection[Named] = frozenset()

    def has(self, one: Named) -> bool:
        """Whether the base declares a name."""
        if one in self.names:
            return True
        match one.kind:
            case "tool":
                return one.name in self.settings.tools or one.name in _defined(self.source)
            case "argument":
                return self._takes(one)
            case "value":  # a string in the file, escapes resolved, or an axis
                known = one.name in self.settings.axis_slugs or one.name in KOREAN_AXIS_SLUG
                return known or one.name in _strings(self.source) or Named("value", one.name) in self.names
            case "field":
                return re.search(rf"\b{re.escape(one.name)}\b", self.source) is not None
        return any(rule.label == one.name for rule in self.settings.categories)

    def _takes(self, one: Named) -> bool:
        """Whether a call may have an argument: a selector, or one of its signature."""
        known = self.settings.tools.get(one.tool)
        if one.tool and one.name in (DEFAULT_SELECTORS if known is None else known.selectors):
            return True
        is_own = one.tool in {"", self.tool}
        return is_own and self.definition is not None and _takes(self.definition, one.name)


def refuse_words(line: str, words: Words) -> Iterator[str]:
    """Why a line has names or values that the base does not have, whatever its evidence."""
    statement = parse_advice(line)
    for one in named(line):
        is_field = one.kind == "field"  # from records, where a name may be anybody's text
        if (is_field and not one.name.isascii()) or not words.has(one):
            tool = printable(one.tool or words.tool)
            yield _REFUSALS[one.kind].format(name=printable(one.name), tool=tool)
    for path in statement.paths if statement is not None else ():
        if len(path) > MAX_FIELDS:
            yield f"the path {printable('.'.join(path))} has more than {MAX_FIELDS} fields"
    if statement is not None and words.tool in statement.items("tool"):
        yield f"the line refers {printable(words.tool)} to itself"


@dataclass(frozen=True)
class BaseNames:
    """What the base has of the names in lines; git searches for the files of each."""

    repository: Repository
    base: str
    settings: Settings

    def among(self, lines: Iterable[str], paths: Collection[str]) -> frozenset[Named]:
        """The names of some lines for docstrings in these files that the base's other files have."""
        find = cache(self._definitions)  # a search of git for each tool, not for each of its names
        files = [(path, self._text(path)) for path in paths]

        def has(one: Named) -> bool:
            match one.kind:
                case "tool":
                    return bool(find(one.name))
                case "argument":
                    return any(_takes(definition, one.name) for definition, *_ in find(one.tool))
                case "value":
                    found = [file for _, *file in find(one.tool)] if one.tool else files
                    return any(self._has_value(one.name, *file) for file in found)
                case "field":
                    is_there = self.repository.files_with(self.base, one.name, _SOURCES)
                    return one.name.isascii() and bool(is_there)
            return False

        return frozenset(filter(has, {one for line in lines for one in named(line)}))

    def _has_value(self, value: str, path: str, source: str) -> bool:
        """Whether a file has a text, or what it uses of the base's other files."""
        if value in _strings(source) or not self.repository.files_with(
            self.base, re.sub(r"\W", ".", value), ("*.py",)
        ):
            return value in _strings(source)
        read = cache(lambda file: self.repository.read(self.base, file.as_posix()))
        tree = with_imported(
            _parsed(source.encode("utf-8", "replace")),
            Path(path),
            Path(),
            lambda file: _parsed(read(file) or b""),
            lambda file: read(file) is not None,
        )
        return value in _texts(tree)

    def _definitions(self, tool: str) -> list[tuple[Definition, str, str]]:
        """The definitions of a tool by the name of its target or its own, each with its file and the text."""
        known = self.settings.tools.get(tool)
        name = tool
        if known is not None and known.target is not None:
            name = known.target.partition("::")[2].partition(":")[0].rpartition(".")[2]
        return list(self._find(name)) if name.isidentifier() else []

    def _find(self, name: str) -> Iterator[tuple[Definition, str, str]]:
        for path in self.repository.files_with(self.base, f"(def|class)[[:space:]]+{name}", ("*.py",)):
            source = self._text(path)
            yield from ((definition, path, source) for definition in _defined(source).get(name, ()))

    def _text(self, path: str) -> str:
        return (self.repository.read(self.base, path) or b"").decode("utf-8", "replace")


@lru_cache(maxsize=64)
def _defined(source: str) -> dict[str, list[Definition]]:
    """The functions and classes of a file by name."""
    found: dict[str, list[Definition]] = {}
    for definition in definitions(_parsed(source.encode("utf-8", "replace"))):
        found.setdefault(definition.qualname.rpartition(".")[2], []).append(definition)
    return found


@lru_cache(maxsize=8)
def _strings(source: str) -> frozenset[str]:
    """The strings in a file; not comments, nor the text between two strings."""
    return _texts(_parsed(source.encode("utf-8", "replace")))


def _parsed(source: bytes) -> ast.Module:
    """A file; nothing if it is not readable Python."""
    try:
        return parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _texts(tree: ast.AST) -> frozenset[str]:
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return frozenset(value for value in constants if isinstance(value, str))


_OWN = frozenset({"self", "cls"})


def _takes(definition: Definition, name: str) -> bool:
    """Whether a function's signature names an argument; what ``**kwargs`` takes has no name there."""
    node = definition.node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    arguments = node.args
    named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return name not in _OWN and any(argument.arg == name for argument in named)
