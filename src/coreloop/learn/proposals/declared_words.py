"""The words that the base declares in its coreloop.yaml, in the edited file and in the tool's signature."""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from coreloop.base.git.repository import Repository
from coreloop.base.git.slug import KOREAN_AXIS_SLUG
from coreloop.base.project.imports import with_imported
from coreloop.base.project.settings import Settings
from coreloop.base.records import DEFAULT_SELECTORS
from coreloop.descriptions.source import Definition, definitions, parse
from coreloop.learn.proposals.sequence_lines import ELIDED, AdvisedCalls, parse_line
from coreloop.learn.proposals.statement_lines import parse_advice

_SOURCES: Final = ("*.py", "*.json", "*.toml", "*.yaml", "*.yml")
"""Files that may have a result's field: code, and schemas."""
_Found = tuple[Definition, str, str]
"""A definition, and the path and the text of its file."""
_NAME: Final = re.compile(r'([^(=]*)(\(|="|)(.*)', re.DOTALL)  # show, show(company, show="billing


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
    names : collection of str
        What other files of the base have, of what lines name: ``show`` (a tool), ``show(company`` (an
        argument), ``show="billing`` (a value), ``="open`` (a value of the docstring's own tool), ``.code`` (a
        field).
    """

    settings: Settings
    source: str
    tool: str = ""
    definition: Definition | None = None
    names: Collection[str] = frozenset()

    def is_declared(self, value: str) -> bool:
        """Whether a value is a string in the file, escapes resolved, in what that imports, or an axis."""
        declared = value in self.settings.axis_slugs or value in KOREAN_AXIS_SLUG
        return declared or value in _strings(self.source) or f'="{value}' in self.names

    def may_give(self, tool: str, value: str) -> bool:
        """Whether a value is declared for the calls of a tool: as above, or in the tool's own file."""
        return self.is_declared(value) or f'{tool}="{value}' in self.names

    def has_category(self, label: str) -> bool:
        """Whether coreloop.yaml has a category."""
        return any(rule.label == label for rule in self.settings.categories)

    def has_tool(self, name: str) -> bool:
        """Whether the base has a tool: under ``tools:``, or defined in this or another file."""
        return name in self.settings.tools or name in self.names or name in _defined(self.source)

    def has_field(self, name: str) -> bool:
        """Whether code or a schema of the base has a result's field."""
        return f".{name}" in self.names or re.search(rf"\b{re.escape(name)}\b", self.source) is not None

    def takes(self, argument: str) -> bool:
        """Whether the tool takes an argument."""
        return self.definition is not None and takes(self.definition, argument)

    def may_pass(self, tool: str, argument: str) -> bool:
        """Whether a call of a tool may have an argument: a selector, or one of its signature."""
        known = self.settings.tools.get(tool)
        if argument in (DEFAULT_SELECTORS if known is None else known.selectors):
            return True
        if tool == self.tool and self.takes(argument):
            return True
        return f"{tool}({argument}" in self.names


@dataclass(frozen=True)
class BaseNames:
    """What the base has of the names in lines; git searches for the files of each."""

    repository: Repository
    base: str
    settings: Settings

    def among(self, lines: Iterable[str], paths: Collection[str]) -> frozenset[str]:
        """The names that `Words.names` may have, of some lines for docstrings in these files."""
        definitions = cache(self._definitions)  # a search of git for each tool, not for each of its names
        texts = {path: self._text(path) for path in paths}
        names = {name for line in lines for name in names_in(line)}
        return frozenset(name for name in names if self._has(name, definitions, texts))

    def _has(self, name: str, definitions: Callable[[str], list[_Found]], texts: Mapping[str, str]) -> bool:
        if name.startswith("."):
            return name.isascii() and bool(self.repository.files_with(self.base, name[1:], _SOURCES))
        if name.startswith('="'):
            return any(self._has_value(name[2:], *file) for file in texts.items())
        tool, sign, rest = _NAME.fullmatch(name).groups()  # type: ignore[union-attr]  # matches any text
        found = definitions(tool)
        if sign == "(":
            return any(takes(definition, rest) for definition, *_ in found)
        return any(self._has_value(rest, *file) for _, *file in found) if sign else bool(found)

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

    def _definitions(self, tool: str) -> list[_Found]:
        """The definitions of a tool, by the name of its target or its own."""
        known = self.settings.tools.get(tool)
        name = tool
        if known is not None and known.target is not None:
            name = known.target.partition("::")[2].partition(":")[0].rpartition(".")[2]
        return list(self._find(name)) if name.isidentifier() else []

    def _find(self, name: str) -> Iterator[_Found]:
        for path in self.repository.files_with(self.base, f"(def|class)[[:space:]]+{name}", ("*.py",)):
            source = self._text(path)
            yield from ((definition, path, source) for definition in _defined(source).get(name, ()))

    def _text(self, path: str) -> str:
        return (self.repository.read(self.base, path) or b"").decode("utf-8", "replace")


def names_in(line: str) -> Iterator[str]:
    """The names in a line of coreloop's, as in `Words.names`."""
    statement, value = parse_advice(line), parse_line(line)
    if statement is not None:
        named = statement.named()
        yield from named.tools
        yield from (f".{field}" for path in named.fields for field in path)
        yield from (f'="{value}' for value in named.values)
    for call in value.calls if isinstance(value, AdvisedCalls) else ():
        yield call.name
        for argument, given in call.arguments:
            if argument != ELIDED:
                yield f"{call.name}({argument}"
            if given is not None and given.startswith('"'):
                yield f"{call.name}={given[:-1]}"


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


def takes(definition: Definition, name: str) -> bool:
    """Whether a function's signature names an argument; what ``**kwargs`` takes has no name there."""
    node = definition.node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    arguments = node.args
    named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return name not in _OWN and any(argument.arg == name for argument in named)
