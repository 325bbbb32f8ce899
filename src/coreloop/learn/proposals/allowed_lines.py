"""Which lines may be appended to a docstring: their form, and the names in them.

Proposed lines are built from a closed vocabulary (`Vocabulary`): only names that coreloop.yaml or the source
declares are written, all others become placeholders. `promote` before its edit, and the guard when it checks,
ask a second time what the base declares (`Words`).
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from coreloop.base.git.repository import Repository
from coreloop.base.git.slug import KOREAN_AXIS_SLUG
from coreloop.base.project.definitions import definitions, visible
from coreloop.base.project.imports import Imports
from coreloop.base.project.python_source import UnprovenError, parse_source
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import Tool, Unresolved, is_tool_name, make_tool, with_words
from coreloop.base.records import DEFAULT_SELECTORS
from coreloop.base.text import FILLERS, printable
from coreloop.descriptions.find_tools import described_tool
from coreloop.descriptions.texts import ToolText, find_texts
from coreloop.learn.line import ELIDED, SIGNS, AdvisedCall, Named, Step, parse_advice, parse_line

MAX_LINE_CHARS: Final = 400


def is_form(line: str) -> bool:
    """Whether a bullet has a form that coreloop writes, or wrote in an earlier version."""
    return parse_advice(line) is not None or parse_line(line) is not None


def refuse_line(line: str, *, private: bool = True) -> str | None:
    """Why a line may not be appended to a docstring.

    Parameters
    ----------
    line : str
        Without indentation.
    private : bool
        Whether the detectors of `coreloop.sanitize` look for private data, too; not needed if every word is
        checked against a closed vocabulary.

    Returns
    -------
    str or None
        The reason, one clause. None for a line of one of coreloop's forms, of at most 400 visible characters,
        in which no detector finds private data.
    """
    if not line.isprintable() or not FILLERS.isdisjoint(line) or not is_form(line):
        return "it is no line that coreloop writes"
    if len(line) > MAX_LINE_CHARS:
        return f"it is longer than {MAX_LINE_CHARS} characters"
    if not private:
        return None
    from coreloop.sanitize.find_in_text import find_hits  # importing compiles its rules

    findings = find_hits(line)
    return f"it may contain private data: {findings[0].kind}" if findings else None


# --- The names in a line.

MAX_FIELD_CHARS: Final = 40  # chosen: longer names of fields are sentences
MAX_FIELDS: Final = 3
"""The deepest path that a trial on four logs found useful; a longer one can be a sentence."""
_SOURCES: Final = ("*.py", "*.json", "*.toml", "*.yaml", "*.yml")
"""Files that may have a result's field: code, and schemas."""
_CODE: Final = ("*.py", ":!tests/", ":!*/tests/")


def named(line: str) -> tuple[Named, ...]:
    """The names in a line of coreloop's."""
    value = parse_advice(line) or parse_line(line)
    return tuple(value.names()) if value is not None else ()


_WORDLESS: Final = Tool("", "", "", (), frozenset())


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that may be written to a docstring.

    Attributes
    ----------
    tools : dict of str to Tool or Unresolved
        Definitions of the tools concerned.
    settings : Settings
        Declared tools, axes and keywords.
    """

    tools: Mapping[str, Tool | Unresolved]
    settings: Settings

    def _words(self, name: str) -> Tool:
        """A tool's definition, or one without words."""
        return self.tool(name) or _WORDLESS

    def tool(self, name: str) -> Tool | None:
        """A tool's definition, or None if it is not known."""
        tool = self.tools.get(name)
        return tool if isinstance(tool, Tool) else None

    def is_known(self, name: str) -> bool:
        """Whether a tool is defined in the source or named in coreloop.yaml, rather than only in a log."""
        return name in self.settings.tools or self.tool(name) is not None

    def declares(self, value: str, tool: str) -> bool:
        """Whether coreloop.yaml or the tool's source declares a selector's value."""
        return value in self.settings.axis_slugs or value in self._words(tool).literals

    def declares_state(self, state: str, tool: str) -> bool:
        """Whether a value of a field is declared, or stands in a docstring of what the tool uses."""
        return self.declares(state, tool) or state in self._words(tool).words

    def knows_line(self, tool: str, line: str) -> bool:
        """Whether every name in a line is declared; a field of a result, a short ASCII name."""
        return (
            parse_advice(line) is not None
            and self.is_known(tool)
            and all(self._has(tool, one) for one in named(line))
        )

    def _has(self, tool: str, one: Named) -> bool:
        match one.kind:
            case "argument":
                return one.name in self.parameters(tool)
            case "value":
                return self.declares(one.name, tool)
            case "state":
                return self.declares_state(one.name, tool)
            case "tool":
                return self.is_known(one.name)
            case "field":
                return one.name.isascii() and len(one.name) <= MAX_FIELD_CHARS
        return True

    def values_by_hash(self, tool: str) -> Mapping[int, str]:
        """Values that coreloop.yaml or the tool's source declares, by the hash that mining stores."""
        return _by_hash(self._words(tool).literals, tuple(self.settings.axis_slugs))

    def listed(self, tool: str, argument: str) -> frozenset[frozenset[str]]:
        """Sets of values that may be all that an argument takes: its annotation's, or a list of the file."""
        known = self.tool(tool)
        if known is None:
            return frozenset()
        if argument in known.choices:
            return frozenset({frozenset(known.choices[argument])})
        return known.listed | {frozenset(self.settings.axis_slugs)}

    def parameters(self, tool: str) -> tuple[str, ...]:
        """Argument names of the tool's signature; empty if it is not known."""
        return self._words(tool).parameters

    def call(self, step: Step) -> AdvisedCall:
        """A call with the arguments of its signature, in that order; ``…`` for all others."""
        shown = [name for name in self.parameters(step.name) if name in {*step.arg_keys, *step.selectors}]
        shown += [name for name in step.selectors if name not in shown]
        arguments = [(name, self._value(name, step)) for name in shown]
        if len(shown) < len({*step.arg_keys, *step.selectors}):
            arguments.append((ELIDED, None))
        return AdvisedCall(step.name, tuple(arguments))

    def _value(self, name: str, step: Step) -> str | None:
        value = step.selectors.get(name)
        if value is None:
            return None
        return f'"{value}"' if self.declares(value, step.name) else f"<{name}>"

    def knows_step(self, step: Step) -> bool:
        """Whether a step's tool, arguments and values are declared."""
        arguments = {*self.parameters(step.name), *step.selectors}
        are_declared = all(self.declares(value, step.name) for value in step.selectors.values())
        return self.is_known(step.name) and are_declared and arguments >= {*step.arg_keys}

    def refuse(self, names: Collection[str], *, target: str) -> str | None:
        """Why some tools may not be named, or None.

        A tool that only a log names is refused if the text has a target; a draft without a target cannot be
        promoted and may show it.
        """
        if not all(map(is_tool_name, names)):
            return "a tool's name is not a valid name"
        if all(map(self.is_known, names)) or self.tool(target) is None:
            return None
        return "it names a tool that is not defined here; name it under tools: in coreloop.yaml"


@lru_cache(maxsize=4)  # most tools are of few files
def _by_hash(literals: frozenset[str], slugs: tuple[str, ...]) -> Mapping[int, str]:
    from coreloop.learn.statements.values import hash_of

    return {hash_of(text): text for text in (*literals, *slugs, *SIGNS, "true", "false")}


@dataclass(frozen=True)
class Words:
    """What a base commit declares: in its coreloop.yaml, in the edited file, and in others that git finds.

    Attributes
    ----------
    repository, base : Repository, str
        The commit.
    settings : Settings
        Its coreloop.yaml.
    path : str
        The edited file.
    tool, symbol : str
        The tool, and the part of its target after ``::``.
    """

    repository: Repository
    base: str
    settings: Settings
    path: str
    tool: str
    symbol: str

    def has(self, one: Named) -> bool:
        """Whether the base declares a name."""
        match one.kind:
            case "tool":
                return one.name in self.settings.tools or bool(self._defined(one.name))
            case "argument":
                known = self.settings.tools.get(one.tool)
                if one.tool and one.name in (DEFAULT_SELECTORS if known is None else known.selectors):
                    return True
                own = [self.own] if one.tool in {"", self.tool} else []
                return any(one.name in tool.parameters for tool in (*own, *self._defined(one.tool)))
            case "value":  # a string in a file, escapes resolved, or an axis
                if one.name in self.settings.axis_slugs or one.name in KOREAN_AXIS_SLUG:
                    return True
                return any(one.name in tool.literals for tool in (self.own, *self._defined(one.tool)))
            case "state":
                return one.name in self.own.words or one.name in self.settings.axis_slugs
            case "field":
                return bool(self.repository.files_with(self.base, one.name, _SOURCES))
        return any(rule.label == one.name for rule in self.settings.categories)

    @cached_property
    def own(self) -> Tool:
        """The tool that the base defines or describes; `UnprovenError` if it has none."""
        name = self.symbol.partition("[")[0]
        nodes = [node for qualname, node in visible(self._tree(self.path)) if qualname == name]
        texts = self._texts(name)
        code = self._made(self.path, nodes[0], name) if len(nodes) == 1 else self._named() if texts else None
        return described_tool(self.tool, self.path, texts, code)

    def _named(self) -> Tool:
        """What the files say that define or name a tool which a schema describes."""
        pattern = f"(def|class)[[:space:]]+{self.tool}|[\"']{self.tool}[\"']"
        files = self.repository.files_with(self.base, pattern, _CODE) if self.tool.isidentifier() else ()
        return with_words(_WORDLESS, *(self._made(file, None) for file in files))

    def _texts(self, name: str) -> list[ToolText]:
        """The texts of a tool in the edited file."""
        texts = find_texts(self.path, self.repository.read(self.base, self.path) or b"")
        return [text for text in texts if name in {text.tool, text.symbol}]

    def _defined(self, tool: str) -> list[Tool]:
        """The definitions of a tool by the name of its target or its own."""
        known = self.settings.tools.get(tool)
        name = tool
        if known is not None and known.target is not None:
            name = known.target.partition("::")[2].partition(":")[0].rpartition(".")[2]
        pattern = f"(def|class)[[:space:]]+{name}"
        files = self.repository.files_with(self.base, pattern, ("*.py",)) if name.isidentifier() else ()
        described = [described_tool(tool, self.path, texts)] if (texts := self._texts(tool)) else []
        return described + [
            self._made(file, node)
            for file in files
            for _, node in definitions(self._tree(file))
            if node.name == name
        ]

    def _made(self, path: str, node: Any, qualname: str = "") -> Tool:
        """The tool of a definition, with the strings of its file and of what that uses of others."""
        imports = Imports(
            Path(),
            lambda file: self._tree(file.as_posix()),
            lambda file: self.repository.read(self.base, file.as_posix()) is not None,
        )
        return make_tool(self.tool, path, qualname, node, imports.whole(Path(path)))

    def _tree(self, path: str) -> ast.Module:
        """A file; nothing if it is not readable Python."""
        try:
            return parse_source(self.repository.read(self.base, path) or b"").tree
        except UnprovenError:
            return ast.Module([], [])


def refuse_words(line: str, words: Words) -> Iterator[str]:
    """Why a line has names or values that the base does not have, whatever its evidence."""
    statement = parse_advice(line)
    for one in named(line):
        is_field = one.kind == "field"  # from records, where a name may be anybody's text
        if (is_field and not one.name.isascii()) or not words.has(one):
            yield f"the base declares no {one.kind} {printable(one.name)}"
    for path in statement.paths if statement is not None else ():
        if len(path) > MAX_FIELDS:
            yield f"the path {printable('.'.join(path))} has more than {MAX_FIELDS} fields"
    if statement is not None and words.tool in statement.items("tool"):
        yield f"the line refers {printable(words.tool)} to itself"
