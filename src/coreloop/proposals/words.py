"""The words that the base declares in its coreloop.yaml, in the edited file and in the tool's signature."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from coreloop.docstrings.signature import takes
from coreloop.docstrings.source import Definition, parse
from coreloop.history.repository import Repository
from coreloop.project.settings import Settings
from coreloop.proposals.advice import parse_advice
from coreloop.proposals.grammar import ELIDED, Calls, FailsCall, FailsSequence, parse_line
from coreloop.records import DEFAULT_SELECTORS

_WORD: Final = re.compile(r"[\w-]{1,40}")
_SOURCES: Final = ("*.py", "*.json", "*.toml", "*.yaml", "*.yml")
"""Files that may declare a tool or an argument."""


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
        Names in lines that occur in other files of the base.
    """

    settings: Settings
    source: str
    tool: str = ""
    definition: Definition | None = None
    names: Collection[str] = frozenset()

    def may_name(self, value: str) -> bool:
        """Whether a line may contain a selector's value: declared, or a single word."""
        return self.is_declared(value) or _WORD.fullmatch(value) is not None

    def is_declared(self, value: str) -> bool:
        """Whether a value is a string in the file, escapes resolved, or an axis of coreloop.yaml."""
        return value in _strings(self.source) or value in self.settings.axis_slugs

    def has_keyword(self, keyword: str) -> bool:
        """Whether coreloop.yaml has a keyword, for any category."""
        return any(keyword in rule.any for rule in self.settings.categories)

    def has_tool(self, name: str) -> bool:
        """Whether the base has a tool: in coreloop.yaml, in the file or in another file."""
        return name in self.settings.tools or self._has_name(name)

    def takes(self, argument: str) -> bool:
        """Whether the tool takes an argument."""
        return self.definition is not None and takes(self.definition, argument)

    def may_pass(self, tool: str, argument: str) -> bool:
        """Whether a call of a tool may have an argument; for other tools, the base must have the name."""
        known = self.settings.tools.get(tool)
        if argument in (DEFAULT_SELECTORS if known is None else known.selectors):
            return True
        return self.takes(argument) if tool == self.tool else self._has_name(argument)

    def _has_name(self, name: str) -> bool:
        return name in self.names or has_name(self.source, name)


def has_name(source: str, name: str) -> bool:
    """Whether a file's text has a name as a whole word."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source) is not None


class BaseNames:
    """Names in lines that the base has in other files; git searches for each name once."""

    def __init__(self, repository: Repository, base: str) -> None:
        self._has = cache(lambda name: repository.has_word(base, name, _SOURCES))

    def among(self, lines: Iterable[tuple[str, bytes]]) -> frozenset[str]:
        """The names in lines that are not in the line's own file, given as bytes, but in another."""
        texts = ((line, source.decode("utf-8", "replace")) for line, source in lines)
        names = {name for line, text in texts for name in names_in(line) if not has_name(text, name)}
        return frozenset(filter(self._has, names))


def names_in(line: str) -> Iterator[str]:
    """The names of tools and arguments in a line of coreloop's."""
    statement, value = parse_advice(line), parse_line(line)
    if statement is not None:
        named = statement.named()
        yield from named.tools
        yield from (argument for _, argument, _ in named.given)
    calls = value.calls if isinstance(value, Calls | FailsSequence) else ()
    for call in (value.call,) if isinstance(value, FailsCall) else calls:
        yield call.name
        yield from (argument for argument, _ in call.arguments if argument != ELIDED)


@lru_cache(maxsize=8)
def _strings(source: str) -> frozenset[str]:
    """The strings in a file; not comments, nor the text between two strings."""
    try:
        tree = parse(source.encode())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return frozenset(value for value in constants if isinstance(value, str))
