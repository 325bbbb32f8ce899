"""Where tools are defined: as functions and classes in Python, or by what describes them to models."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from inspect import cleandoc
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias, Unpack

from coreloop.base.errors import MissingExtraError
from coreloop.base.project import allowed_values
from coreloop.base.project import tools as defined
from coreloop.base.project.definitions import read_source, source_files
from coreloop.base.project.python_source import UnprovenError
from coreloop.base.project.tools import Choices, Tool, Unresolved, bare_name, is_tool_name, resolve_tools
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.descriptions.schemas import leaves, plain, schema_of
from coreloop.descriptions.texts import DICTIONARY, SUFFIXES, ToolText, find_texts

_DESCRIBES: Final = re.compile(rb"descri|tool", re.IGNORECASE)
_Place: TypeAlias = tuple[str, Sequence[ToolText]]
_Places: TypeAlias = dict[str, list[_Place]]


def find_tools(
    names: Iterable[str], workspace: Workspace, **choices: Unpack[Choices]
) -> dict[str, Tool | Unresolved]:
    """Find the definitions of tools, as `resolve_tools` does, also of those that only a description defines.

    Models read a description, so a function that its file does not register as a tool gives way to the only
    description of that name.

    Parameters
    ----------
    names : iterable of str
        Tool names.
    workspace : Workspace
        The project.
    choices
        As in `resolve_tools`.
    """
    found = resolve_tools(names, workspace, **choices)
    configured = workspace.settings.tools
    targets = {name: its.target for name, its in configured.items() if name in found and its.target}
    outside = {name for name, target in targets.items() if ".py::" not in target}
    anywhere = replace(workspace, settings=replace(workspace.settings, tools={}))
    by_name = resolve_tools(outside, anywhere, **choices) if outside else {}
    codes = {name: tool for name, tool in (found | by_name).items() if isinstance(tool, Tool)}
    own = {name: (f"{tool.file}::{tool.qualname}", False) for name, tool in codes.items()}
    own |= {name: (target, True) for name, target in targets.items()}
    places = {name: [_at(workspace.root, *place)] for name, place in own.items()}
    literal = {name for name, [place] in places.items() if place[1] and place[1][0].what == DICTIONARY}
    documented = {name for name, tool in codes.items() if tool.docstring and places[name][0][1]}
    known = targets.keys() | documented - literal
    every = _search(found.keys() - known, workspace, choices.get("and_registered", False))
    for name in sorted(every.keys() - known):
        others = [place for place in every[name] if name not in codes or not _is_copy(place, codes[name])]
        places[name] = others or places.get(name, [])
        if len(others) > 1:
            where = [f"{file}::{name}" for file, _ in others[:3]]
            choice = f'name one under tools: in coreloop.yaml, as {name}: {{target: "{where[0]}"}}'
            reason = f"described {len(others)} times ({', '.join(where)}); {choice}"
            unclear = replace(codes[name], unclear=reason) if name in codes else None
            found[name] = unclear or Unresolved(name, reason, True)
    for name, described in places.items():
        if len(described) == 1 and described[0][1]:
            tool, target = described_tool(name, *described[0], codes.get(name)), targets.get(name, "")
            found[name] = replace(tool, qualname=target.partition("::")[2] or tool.qualname)
    return found


def _is_copy(place: _Place, code: Tool) -> bool:
    """Whether a description is of a function's docstring, as in a list of schemas that a program printed."""
    first = code.docstring.strip().partition("\n")[0]
    return bool(first) and any(first in " ".join(text.value.split()) for text in place[1])


def logged_names(names: Iterable[str], workspace: Workspace) -> dict[str, str]:
    """Map names as clients log them to the tools that `find_tools` finds."""
    known = defined.logged_names(names, workspace)
    bare = {name: bare_name(name) for name in set(names) - workspace.settings.tools.keys()}
    servers = Counter(tool for name, tool in bare.items() if tool != name)
    rest = {name: tool for name, tool in bare.items() if servers[tool] == 1 and name not in known}
    tools = find_tools({*rest, *rest.values()}, workspace, only_places=True)
    own = {name: tool for name, tool in rest.items() if not isinstance(tools[name], Tool)}
    return known | {name: tool for name, tool in own.items() if isinstance(tools[tool], Tool)}


def described_tool(name: str, file: str, texts: Sequence[ToolText], code: Tool | None = None) -> Tool:
    """The tool of its texts; what they do not say is as of its definition in Python.

    Parameters
    ----------
    name, file : str
        As in `Tool`.
    texts : collection of ToolText
        All of one tool; none if Python alone defines it.
    code : Tool, optional
        What is defined in Python.

    Raises
    ------
    UnprovenError
        There is neither.
    """
    if not texts and code is None:
        raise UnprovenError(f"nothing named {printable(name)} is defined or described here")
    if not texts and code is not None:
        return code
    first = texts[0]
    tool = replace(
        code or Tool(name, file, "", (), frozenset()),
        described={its.argument: its.value for its in texts if its.argument and its.takes_lines},
        docstring=next((cleandoc(its.value) for its in texts if not its.argument), ""),
    )
    if code is not None and (file, first.symbol) == (code.file, code.qualname):
        return tool
    literals = tool.literals.union(leaves(first.schema))
    tool = replace(tool, file=file, qualname=first.tool, line=first.line, literals=literals)
    properties, required = schema_of(first.schema)
    schema = {"properties": plain(properties), "required": list(required)}
    return replace(tool, **allowed_values.schema_of(schema)) if properties else tool


def _at(root: Path, target: str, is_known: bool) -> _Place:
    """The texts of a target, and their file; none if it is unreadable."""
    file, _, name = target.partition("::")
    with suppress(UnprovenError):
        texts = find_texts(file, read_source(root / file), [name] if is_known else ())
        return file, [text for text in texts if name in {text.tool, text.symbol}]
    return file, ()


def why_undefined(tools: Mapping[str, Tool | Unresolved], workspace: Workspace) -> list[str]:
    """What to do about tools without a known definition: install an extra, choose one, or name one."""
    if tools and (extra := extra_needed(tools, workspace)):
        return [extra]
    reasons = (its.reason if isinstance(its, Unresolved) else its.unclear for its in tools.values())
    return list(filter(None, dict.fromkeys(reasons)))


def extra_needed(tools: Mapping[str, Tool | Unresolved], workspace: Workspace) -> str:
    """How to install what reads the files that may describe those without a definition; of no tools, any."""
    names = [name for name, tool in tools.items() if isinstance(tool, Unresolved)]
    try:
        _search(names, workspace, not tools, is_strict=True)
    except MissingExtraError as error:
        return str(error)
    return ""


def _search(names: Collection[str], workspace: Workspace, is_wide: bool, is_strict: bool = False) -> _Places:
    """The files that describe each tool, with its texts; wide, of all that JSON and the like describe."""
    places: defaultdict[str, list[_Place]] = defaultdict(list)
    words = b"|".join(re.escape(name.encode()) for name in sorted(filter(is_tool_name, names))) or b"(?!)"
    mention, given = re.compile(rb"(?<!\w)(?:%s)(?!\w)" % words), re.compile(rb"[\"'(=](?:%s)[\"',)]" % words)
    registers = re.compile(rb"[tT]ool\(\s*[\"'](?:%s)[\"']" % words)
    for path in source_files(workspace.root, SUFFIXES) if names or is_wide else ():
        raw, file = read_source(path), path.relative_to(workspace.root).as_posix()
        is_python = path.suffix == ".py"
        pattern = given if is_python else _DESCRIBES if is_wide else mention
        if workspace.audit_dir.parent not in path.parents and _DESCRIBES.search(raw) and pattern.search(raw):
            is_sure = is_strict or registers.search(raw)  # another file may only have the same words
            with suppress(UnprovenError, *(() if is_sure else (MissingExtraError,))):
                found = find_texts(file, raw)
                for name in {its.tool for its in found if its.tool in names or (is_wide and not is_python)}:
                    places[name].append((file, [text for text in found if text.tool == name]))
    return places


def project_texts(
    workspace: Workspace, paths: Collection[Path] = ()
) -> tuple[dict[str, list[ToolText]], dict[str, str]]:
    """Find the texts of all tools of a project.

    Parameters
    ----------
    workspace : Workspace
        The project.
    paths : collection of Path
        Files and folders to read instead of the whole project.

    Returns
    -------
    texts : dict of str to list of ToolText
        By file, in file order; without tests, build output and what coreloop wrote.
    unread : dict of str to str
        The files that could not be read, and why.
    """
    known = defaultdict[str, set[str]](set)
    tools = resolve_tools(workspace.settings.tools, workspace, only_places=True, and_registered=True)
    for tool in tools.values():
        if isinstance(tool, Tool):
            known[tool.file].add(tool.qualname)
    texts, unread = dict[str, list[ToolText]](), dict[str, str]()
    for path in chain.from_iterable(map(_files, paths or [workspace.root])):
        file = (path.relative_to(workspace.root) if path.is_relative_to(workspace.root) else path).as_posix()
        raw, symbols = read_source(path), known[file]
        if not raw and path.stat().st_size:
            unread[file] = "it is not readable, or larger than 2 MB"
        if workspace.audit_dir.parent not in path.parents and (symbols or _DESCRIBES.search(raw)):
            try:
                texts[file] = find_texts(path.name, raw, symbols)
            except (UnprovenError, MissingExtraError) as error:
                unread[file] = str(error)
    return {file: found for file, found in texts.items() if found}, unread


def _files(path: Path) -> Iterable[Path]:
    return [path.resolve()] if path.is_file() else source_files(path.resolve(), SUFFIXES)
