"""Whether a line names only what the base declares: in its coreloop.yaml, the edited file or a signature.

`promote` asks before, the guard when it checks.
"""

import ast
import re
from collections.abc import Iterator
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


@dataclass(frozen=True)
class Words:
    """What a base commit declares: in its coreloop.yaml, in the edited file, and in others that git finds.

    Attributes
    ----------
    repository, base : Repository, str
        The commit.
    settings : Settings
        Its coreloop.yaml.
    path, source : str
        The edited file and its text.
    tool : str
        The docstring's tool; "" if unknown.
    definition : Definition, optional
        The tool's definition.
    """

    repository: Repository
    base: str
    settings: Settings
    path: str
    source: str
    tool: str = ""
    definition: Definition | None = None

    def has(self, one: Named) -> bool:
        """Whether the base declares a name."""
        match one.kind:
            case "tool":
                return one.name in self.settings.tools or bool(self._definitions(one.name))
            case "argument":
                return self._takes(one)
            case "value":  # a string in a file, escapes resolved, or an axis
                if one.name in self.settings.axis_slugs or one.name in KOREAN_AXIS_SLUG:
                    return True
                files = ((self.path, self.source), *(file for _, *file in self._definitions(one.tool)))
                return any(self._has_value(one.name, *file) for file in files)
            case "field":
                is_here = re.search(rf"\b{re.escape(one.name)}\b", self.source) is not None
                return is_here or bool(self.repository.files_with(self.base, one.name, _SOURCES))
        return any(rule.label == one.name for rule in self.settings.categories)

    def _takes(self, one: Named) -> bool:
        """Whether a call may have an argument: a selector, or one of its signature."""
        known = self.settings.tools.get(one.tool)
        if one.tool and one.name in (DEFAULT_SELECTORS if known is None else known.selectors):
            return True
        definitions = [definition for definition, *_ in self._definitions(one.tool)]
        if one.tool in {"", self.tool} and self.definition is not None:
            definitions.append(self.definition)
        return any(_takes(definition, one.name) for definition in definitions)

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
            name = known.target.partition("::")[2].rpartition(".")[2]
        pattern = f"(def|class)[[:space:]]+{name}"
        files = self.repository.files_with(self.base, pattern, ("*.py",)) if name.isidentifier() else ()
        texts = (
            (path, (self.repository.read(self.base, path) or b"").decode("utf-8", "replace"))
            for path in files
        )
        return [
            (definition, path, source)
            for path, source in texts
            for definition in _defined(source).get(name, ())
        ]


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
