"""A tool's definition in the source, which gives the closed vocabulary of the proposed text."""

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypedDict

from coreloop.base.project.allowed_values import (
    declared_arguments,
    declared_choices,
    listed_values,
    schema_of,
)
from coreloop.base.project.definitions import (
    FUNCTION,
    METHOD,
    MOUNTS,
    REGISTERED,
    AnyDefinition,
    Definition,
    Source,
    read_source,
    text_of,
)
from coreloop.base.project.workspace import Workspace

_MAX_NUMBER: Final = 1e12
_MAX_SETS: Final = 100  # chosen: enough to see how the usual tools were described
_TOOL_NAME: Final = re.compile(r"[^\W\d][\w.:/-]{0,99}")
SENT_FOLDER: Final = "descriptions"
"""In the audit folder: what models were sent for tools."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's definition.

    Attributes
    ----------
    name : str
        The name that the model sees.
    file : str
        Path below the project's folder, with ``/``.
    qualname : str
        ``Class.method`` or ``function``.
    parameters : tuple of str
        Names in the order of the signature, without ``self`` and ``cls``; last ``**kwargs``, if it has it.
    literals : frozenset of str
        String constants of the file, and of what it uses of the project's other files, without docstrings.
    docstring : str
        What models read of the tool itself, usually the docstring of the definition; empty if absent.
    choices : mapping of str to tuple of str
        Argument -> the values that its annotation allows, see `coreloop.base.project.allowed_values`.
    declared : mapping of str to str
        Argument -> its annotation and default, or its schema, as written; behind ``=`` if it may be left out.
    listed : frozenset of frozenset of str
        Sets of texts that these list together.
    numbers : frozenset of float
        Their number constants.
    line : int
        Of the definition in its file.
    words : frozenset of str
        What a field of an object may be: these literals, the words of the docstrings, members of enums.
    described : mapping of str to str
        Argument -> its own description, if that can be edited.
    unclear : str
        Why it is not known which of several descriptions models read; empty if it is.
    """

    name: str
    file: str
    qualname: str
    parameters: tuple[str, ...]
    literals: frozenset[str]
    docstring: str = ""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    declared: Mapping[str, str] = field(default_factory=dict, hash=False)
    listed: frozenset[frozenset[str]] = frozenset()
    numbers: frozenset[float] = frozenset()
    line: int = 0
    words: frozenset[str] = frozenset()
    described: Mapping[str, str] = field(default_factory=dict, hash=False)
    unclear: str = ""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A tool whose definition is unknown, with the reason; ``is_defined`` if it has several."""

    name: str
    reason: str
    is_defined: bool = False

    @property
    def unclear(self) -> str:
        """As of `Tool`."""
        return self.reason if self.is_defined else ""


def is_tool_name(name: str) -> bool:
    """Whether a recorded tool name may be written into a docstring.

    It must look like an identifier; dots, colons, dashes and slashes are allowed.
    """
    return _TOOL_NAME.fullmatch(name) is not None


Passed = Callable[[str], Collection[str]]
"""The arguments that a tool's calls passed, where calls are known."""


class Choices(TypedDict, total=False):
    """The choices of `resolve_tools`."""

    only_places: bool
    and_registered: bool
    passed: Passed


def resolve_tools(
    names: Iterable[str],
    workspace: Workspace,
    *,
    only_places: bool = False,
    and_registered: bool = False,
    passed: Passed = lambda _: (),
) -> dict[str, Tool | Unresolved]:
    """Find the definitions of tools without importing anything.

    Parameters
    ----------
    names : iterable of str
        Tool names.
    workspace : Workspace
        A ``target`` of coreloop.yaml is used as given; a tool without a target is searched by name. Hidden
        folders, environments, build output and tests are not searched.
    only_places : bool
        Whether to leave out the values that a tool's file, and what it imports, compare with.
    and_registered : bool
        Whether to return all tools that the source registers, too.
    passed : callable, optional
        Decides between definitions that nothing else does.

    Returns
    -------
    dict of str to Tool or Unresolved
        An entry for every name. Of several definitions, the one is meant that was sent to models, else the
        one that is registered as a tool; where two remain, the reason says what speaks for each.
    """
    names = set(names)
    found = _Found(workspace, names, passed)
    names |= found.registered() if and_registered else set()
    return {name: found.tool(name, only_places) for name in sorted(names)}


def bare_name(name: str) -> str:
    """The tool in a name as clients log it: ``mcp__rooms__book_room``, ``rooms.book_room``."""
    if name.startswith("mcp__"):
        return name.removeprefix("mcp__").partition("__")[2]
    return name.rpartition(".")[2]


def logged_names(names: Iterable[str], workspace: Workspace) -> dict[str, str]:
    """Map names as clients log them to the project's tools.

    Returns
    -------
    dict of str to str
        Logged name -> tool. Left out are names that the project or coreloop.yaml has as they are, and those
        of several servers with a tool of that name: ``tools:`` says which is meant.
    """
    unknown = set(names) - workspace.settings.tools.keys()
    bare = {name: bare_name(name) or name for name in unknown}
    found = _Found(workspace, {*unknown, *bare.values()}, lambda _: ())
    if set(bare.values()) == unknown and not (unknown and found.source.mentions(MOUNTS)):
        return {}
    servers = Counter(tool for name, tool in bare.items() if tool != name)
    own = {name: name if found.has(name) or servers[tool] > 1 else tool for name, tool in bare.items()}
    known = {name: found.own_name(tool) for name, tool in own.items() if found.has(tool)}
    return {name: tool for name, tool in known.items() if tool != name}


_Sent = tuple[str, frozenset[str]]
"""A tool as models were sent it: its description with single spaces, and its parameters."""


def sent_tools(audit_dir: Path) -> dict[str, set[_Sent]]:
    """What models were sent for each tool; an unreadable or huge file is passed over."""
    sent: dict[str, set[_Sent]] = {}
    for path in islice(sorted(audit_dir.joinpath(SENT_FOLDER).glob("*.json")), _MAX_SETS):
        with suppress(ValueError, RecursionError, KeyError, TypeError, AttributeError):
            for tool in json.loads(read_source(path))["tools"]:
                parameters = frozenset((tool.get("schema") or {}).get("properties") or ())
                sent.setdefault(str(tool["name"]), set()).add((_flat(tool["description"]), parameters))
    return sent


class _Found:
    """The definitions of tools in a project's source, and what was recorded of them."""

    def __init__(self, workspace: Workspace, names: Collection[str], passed: Passed) -> None:
        self._workspace, self._configured, self._passed = workspace, workspace.settings.tools, passed
        self.source = Source(workspace.root, list(filter(is_tool_name, names)))
        self._by_name, self.tool = cache(self.source.search), cache(self._tool)
        self._sent = cache(partial(sent_tools, workspace.audit_dir))

    def registered(self) -> set[str]:
        """The names of all tools that the source registers; of several of a name, those of their mounts."""
        registered = {one.name for ones in self._by_name().values() for one in ones if one.rank == REGISTERED}
        names = set[str]()
        for name in filter(is_tool_name, registered):
            mounted = [f"{mount}_{name}" for mount in self.source.mounts] if not self.has(name) else []
            names.update(filter(self.has, mounted) if any(map(self.has, mounted)) else [name])
        return names

    def has(self, name: str) -> bool:
        """Whether a tool has a definition."""
        return isinstance(self.tool(name), Tool)

    def own_name(self, name: str) -> str:
        """The name of a tool without those under which its server is mounted, if that says which it is."""
        ones = [] if name in self._configured else self._possible(name)
        own = ones[0].name if len(ones) == 1 else name
        places = [(tool.file, tool.line) for tool in map(self.tool, (name, own)) if isinstance(tool, Tool)]
        return own if places[1:] == places[:1] else name

    def _tool(self, name: str, only_places: bool = True) -> Tool | Unresolved:
        target = self._configured[name].target if name in self._configured else None
        if target:
            file, _, qualname = target.partition("::")
            path = self._workspace.root / file
            if self.source.tree(path) is None:
                return Unresolved(name, f"{file} is not readable Python")
            one = self.source.at(path, qualname, name)
            if one is None:
                return Unresolved(name, f"{file} has no {qualname}")
            return self._made(name, one, only_places)
        ones = self._possible(name)
        if len(ones) == 1:
            return self._made(name, ones[0], only_places)
        if not ones:
            return Unresolved(name, "no definition of that name; name it under tools: in coreloop.yaml")
        places = "; ".join(self._evidence(name, one) for one in ones)
        choice = f'{name}: {{target: "{self._place(ones[0])}"}}'
        reason = f"defined {len(ones)} times: {places}; choose one under tools: in coreloop.yaml, as {choice}"
        return Unresolved(name, reason, is_defined=True)

    def _possible(self, name: str) -> list[Definition]:
        """The definitions that may be a tool: one if it is known which, else those that are as likely."""
        ones = self._candidates(name)
        functions = [one for one in ones if one.rank > METHOD]
        ones = functions or ones  # a service's method is no tool beside one
        for score in (self._as_sent, self._fits, lambda _, one: one.rank, self._takes):
            if len(ones) > 1:
                scores = [score(name, one) for one in ones]
                ones = [one for one, its in zip(ones, scores, strict=True) if its == max(scores)]
        return ones

    def _candidates(self, name: str) -> list[Definition]:
        ones = self._by_name().get(name, [])
        if not any(one.rank == REGISTERED for one in ones):
            for mount in self.source.mounts:
                if name.startswith(f"{mount}_") and (below := self._candidates(name[len(mount) + 1 :])):
                    return self.source.of_mount(below, mount)
        return ones

    def _as_sent(self, name: str, one: Definition) -> int:
        """How well its text is what models were sent, from which a framework may cut sections."""
        text = _flat(_text(one))
        sent = [sent for sent, _ in self._sent_as(name) if sent]
        return 3 * (text in sent) or 2 * text.startswith(tuple(sent)) or any(its in text for its in sent)

    def _fits(self, name: str, one: Definition) -> int:
        """Whether it has the parameters that models were sent."""
        sent = [parameters for _, parameters in self._sent_as(name) if parameters]
        return any(map(self._parameters(one).issuperset, sent))

    def _takes(self, name: str, one: Definition) -> int:
        """Whether it has all passed arguments."""
        return self._parameters(one).issuperset(self._passed(name))

    def _sent_as(self, name: str) -> list[_Sent]:
        ends = (f"_{name}", f".{name}")  # of a server that is mounted
        names = [sent for sent in self._sent() if sent == name or sent.endswith(ends)]
        return [its for sent in names for its in self._sent()[sent]]

    def _evidence(self, name: str, one: Definition) -> str:
        passed = set(self._passed(name))
        words = ["registered"] if one.rank == REGISTERED else []
        words += ["described as sent"] if self._as_sent(name, one) else []
        n_taken = len(passed & self._parameters(one))
        words += [f"{n_taken} of {len(passed)} passed arguments"] if passed else []
        return f"{self._place(one)}, line {one.line} ({', '.join(words) or 'its name'})"

    def _place(self, one: Definition) -> str:
        return f"{one.path.relative_to(self._workspace.root).as_posix()}::{one.qualname}"

    def _parameters(self, one: Definition) -> frozenset[str]:
        return frozenset(self._made(one.name, one).parameters)

    def _made(self, name: str, one: Definition, only_places: bool = True) -> Tool:
        """The tool of a definition; what a call says of its schema stands for its signature."""
        tree = None if only_places else self.source.used(one.path)
        file = one.path.relative_to(self._workspace.root).as_posix()
        tool = make_tool(name, file, one.qualname, one.node, tree)
        if one.schema is not None:
            tool = replace(tool, **schema_of(self.source.plain(one.path, one.schema)))
        if tree is not None and one.node is None:
            functions = [its for its in self._candidates(name) if its.rank == FUNCTION]
            tool = with_words(tool, *(self._made(name, its, only_places) for its in functions[:1]))
        return replace(tool, line=one.line)


def with_words(tool: Tool, *others: Tool) -> Tool:
    """A tool that a schema describes, with what code declares: the function of its name, or its file."""
    for name in ("literals", "listed", "numbers", "words"):
        union = getattr(tool, name).union(*(getattr(other, name) for other in others))
        tool = replace(tool, **{name: union})
    return tool


def _text(one: Definition) -> str:
    """What models read of a definition."""
    if one.description is not None:
        return text_of(one.description)
    return (ast.get_docstring(one.node) if one.node is not None else None) or ""


def _flat(text: str) -> str:
    return " ".join(text.split())


def make_tool(name: str, file: str, qualname: str, node: AnyDefinition | None, tree: ast.AST | None) -> Tool:
    """Make the tool of a definition; ``tree`` is its file, and may have what it imports."""
    tool = Tool(name, file, qualname, (), frozenset())
    if tree is not None:
        tool = replace(tool, literals=_literals(tree), listed=listed_values(tree), numbers=_numbers(tree))
        tool = replace(tool, words=_words(tree))
    if node is None:
        return tool
    tool = replace(tool, docstring=ast.get_docstring(node) or "", line=node.lineno)
    if isinstance(node, ast.ClassDef):
        return tool
    declared = declared_arguments(node, tree)
    choices = declared_choices(node, tree) if tree is not None else {}
    return replace(tool, parameters=tuple(declared), declared=declared, choices=choices)


@lru_cache(maxsize=4)  # fifty tools of one file have the same
def _numbers(tree: ast.AST) -> frozenset[float]:
    values: Iterator[Any] = (getattr(node, "value", None) for node in ast.walk(tree))
    return frozenset(float(one) for one in values if type(one) in {int, float} and abs(one) < _MAX_NUMBER)


@lru_cache(maxsize=4)
def _literals(tree: ast.AST) -> frozenset[str]:
    nodes = list(ast.walk(tree))
    expressions = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings too
    constants = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in expressions)
    return frozenset(node.value for node in constants if isinstance(node.value, str))


@lru_cache(maxsize=4)
def _words(tree: ast.AST) -> frozenset[str]:
    expressions = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    texts = (node.value for node in expressions if isinstance(node, ast.Constant))
    text = "\n".join(text for text in texts if isinstance(text, str))
    return _literals(tree).union(("true", "false"), re.findall(r"[^\W\d][\w-]*", text), *listed_values(tree))
