"""Which lines may be appended to a docstring: their form, and the names in them.

Proposed lines are built from closed vocabularies; this is a second, independent check, that `promote` makes
before and the guard when it checks. A line names only what the base declares: in its coreloop.yaml, the
edited file or a signature.
"""

import ast
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from coreloop.base.git.repository import Repository
from coreloop.base.git.slug import KOREAN_AXIS_SLUG
from coreloop.base.project.imports import with_imported
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import Tool, definitions, make_tool
from coreloop.base.records import DEFAULT_SELECTORS
from coreloop.base.text import FILLERS, printable
from coreloop.descriptions.source import Definition, parse
from coreloop.learn.line import Named, parse_advice, parse_line

MAX_LINE_CHARS: Final = 400
_SIGNS: Final = frozenset(' -.,:;()=%<>/+&·~…_"')
_QUOTED_VALUE: Final = re.compile(r'="[^"]*"')
_PLACEHOLDER: Final = re.compile(r"->|\b(\w{1,40})=<\1>")  # axis=<axis>; any other <name> is a tag
_PATH: Final = re.compile(  # get_product_details().variants.*.item_id, but not f().a[](x)
    r"(?<= )[^\W\d][\w.:/-]*\(\)(?:\.[^\W\d]\w*|\.\*|\[\])+(?= |$)"
)
_DATE: Final = re.compile(r"\b20[0-9]{2}-[01][0-9]-[0-3][0-9]\b", re.ASCII)
_FORBIDDEN: Final = (
    (">>>", "a doctest prompt"),
    (".. ", "a reStructuredText directive"),
    ("://", "a link"),
    ("www.", "a link"),
    ("~~", "a fence"),
    ("::", "a reStructuredText literal block"),
)


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
        The reason, one clause. None for a plain bullet of at most 400 characters: letters, digits and a few
        signs, quotes only around a selector's value, no markup, nothing that a detector takes for private
        data.
    """
    return _refuse_form(line) or (_refuse_private(line) if private else None)


def _refuse_form(line: str) -> str | None:
    if not line.startswith("- "):
        return "it is not a bullet"
    if len(line) > MAX_LINE_CHARS:
        return f"it is longer than {MAX_LINE_CHARS} characters"
    # [] and * are markup, except in the path of a result's field
    unwanted = next((char for char in _PATH.sub("", line) if not _is_plain(char)), None)
    if unwanted is not None:
        return f"it contains U+{ord(unwanted):04X}"
    lowered = line.lower()
    markup = next((name for sign, name in _FORBIDDEN if sign in lowered), None)
    if markup is not None:
        return f"it contains {markup}"
    if '"' in _QUOTED_VALUE.sub("", line):
        return "it contains quotes that are not around a selector's value"
    if set("<>") & set(_PLACEHOLDER.sub("", line)):
        return "it contains < or >"
    return None


def _refuse_private(line: str) -> str | None:
    from coreloop.sanitize.find_in_text import find_hits  # importing compiles its rules

    findings = find_hits(_DATE.sub("", line))  # the dates of the evidence are not private data
    if not findings:
        return None
    return f"it may contain private data: {findings[0].kind}"


def _is_plain(char: str) -> bool:
    return char in _SIGNS or (unicodedata.category(char)[0] in "LN" and char not in FILLERS)


# --- The names in a line.

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
    path : str
        The edited file.
    tool, definition : str, Definition
        The docstring's tool.
    """

    repository: Repository
    base: str
    settings: Settings
    path: str
    tool: str
    definition: Definition

    def has(self, one: Named) -> bool:
        """Whether the base declares a name."""
        match one.kind:
            case "tool":
                return one.name in self.settings.tools or bool(self._defined(one.name))
            case "argument":
                known = self.settings.tools.get(one.tool)
                if one.tool and one.name in (DEFAULT_SELECTORS if known is None else known.selectors):
                    return True
                own = [self._own] if one.tool in {"", self.tool} else []
                return any(one.name in tool.parameters for tool in (*own, *self._defined(one.tool)))
            case "value":  # a string in a file, escapes resolved, or an axis
                if one.name in self.settings.axis_slugs or one.name in KOREAN_AXIS_SLUG:
                    return True
                return any(one.name in tool.literals for tool in (self._own, *self._defined(one.tool)))
            case "field":
                return bool(self.repository.files_with(self.base, one.name, _SOURCES))
        return any(rule.label == one.name for rule in self.settings.categories)

    @cached_property
    def _own(self) -> Tool:
        return self._made(self.path, self.definition.node)

    def _defined(self, tool: str) -> list[Tool]:
        """The definitions of a tool by the name of its target or its own."""
        known = self.settings.tools.get(tool)
        name = tool
        if known is not None and known.target is not None:
            name = known.target.partition("::")[2].partition(":")[0].rpartition(".")[2]
        pattern = f"(def|class)[[:space:]]+{name}"
        files = self.repository.files_with(self.base, pattern, ("*.py",)) if name.isidentifier() else ()
        return [
            self._made(file, node)
            for file in files
            for _, node in definitions(self._tree(file))
            if node.name == name
        ]

    def _made(self, path: str, node: Any) -> Tool:
        """The tool of a definition, with the strings of its file and of what that uses of others."""
        tree = with_imported(
            self._tree(path),
            Path(path),
            Path(),
            lambda file: self._tree(file.as_posix()),
            lambda file: self.repository.read(self.base, file.as_posix()) is not None,
        )
        return make_tool(self.tool, path, "", node, tree)

    def _tree(self, path: str) -> ast.Module:
        """A file; nothing if it is not readable Python."""
        try:
            return parse(self.repository.read(self.base, path) or b"")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])


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
