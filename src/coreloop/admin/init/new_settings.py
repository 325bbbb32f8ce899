"""What coreloop.yaml lacks: rows of the tools whose names do not find their definitions."""

import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Final

import yaml

from coreloop.admin.init.decorated import possible_tools
from coreloop.base.project.tools import Tool, Unresolved, is_tool_name
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.find_tools import find_tools, logged_names
from coreloop.observe.descriptions_in_force import FOLDER
from coreloop.observe.reading.decode import RecordLine, read_lines

_MOST_RECORDS: Final = 20_000  # chosen: enough to see the usual tools
_MOST_SETS: Final = 100  # chosen: enough to see how the usual tools were described
_TOOLS: Final = re.compile(rb"(?m)^tools:[ \t]*(?:#.*)?\r?\n")
_INDENT: Final = re.compile(rb"(?m)^( +)[^\s#]")


@dataclass(frozen=True, slots=True)
class SettingsProposals:
    """What coreloop.yaml lacks.

    Attributes
    ----------
    targets : mapping of str to str
        Tool -> ``path.py::qualname``, of those that the search by name does not find.
    found : frozenset of str
        Tools that it finds, which need no row.
    unclear : mapping of str to tuple of str
        Tool -> its definitions, if it is not known which is meant.
    """

    targets: Mapping[str, str] = field(default_factory=dict)
    found: frozenset[str] = frozenset()
    unclear: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def propose_settings(workspace: Workspace) -> SettingsProposals:
    """Derive what coreloop.yaml lacks from the records, what models were sent, and the source.

    Names in records are untrusted: only those of definitions are proposed.
    """
    root, configured = workspace.root, workspace.settings.tools
    sent = sent_descriptions(workspace.audit_dir / FOLDER)
    seen = {*used_tools(workspace.records_dir), *sent}
    names = {name: name for name in seen} | logged_names(seen, workspace)
    texts = {names[name]: descriptions for name, descriptions in sent.items()}
    declared = possible_tools(root)
    wanted = set(filter(is_tool_name, {*names.values(), *declared} - configured.keys()))
    resolved = find_tools(wanted, workspace, configured={}, only_places=True)
    unfound = {name for name in wanted - declared.keys() if isinstance(resolved[name], Unresolved)}
    possible = declared | (possible_tools(root, unfound) if unfound else {})
    found = {name for name in wanted if _is_found(resolved[name], possible.get(name, []))}
    choices = {name: possible[name] for name in sorted(wanted - found) if name in possible}
    meant = {name: _meant(tools, texts.get(name, set()) - {""}) for name, tools in choices.items()}
    return SettingsProposals(
        targets={name: places[0] for name, places in meant.items() if len(places) == 1},
        found=frozenset(found),
        unclear={name: places for name, places in meant.items() if len(places) > 1},
    )


def used_tools(folder: Path) -> set[str]:
    """Return the tools of the newest 20,000 records; their names are untrusted."""
    files = filter(Path.is_file, sorted(folder.glob("*.jsonl"), reverse=True))
    lines = chain.from_iterable(map(read_lines, files))
    records = islice((line for line in lines if isinstance(line, RecordLine)), _MOST_RECORDS)
    return {call.name for record in records for call in record.calls}


def sent_descriptions(folder: Path) -> dict[str, set[str]]:
    """Return the descriptions of each tool that models were sent; an unreadable file is passed over."""
    sent: dict[str, set[str]] = {}
    for path in islice(sorted(folder.glob("*.json")), _MOST_SETS):
        with suppress(OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
            for tool in json.loads(path.read_bytes())["tools"]:
                sent.setdefault(str(tool["name"]), set()).add(" ".join(tool["description"].split()))
    return sent


def add_rows(old: bytes, targets: Mapping[str, str]) -> tuple[bytes, tuple[str, ...]]:
    """Return the content of coreloop.yaml with rows of ``tools:``, and the new lines; nothing else changes.

    The content stays as it is where the lines cannot be added so.
    """
    rows = {name: {"target": target} for name, target in targets.items()}
    if not rows:
        return old, ()
    block = _TOOLS.search(old)
    place = block.end() if block else len(old)
    indent = _INDENT.search(old, place)
    margin = indent[1].decode() if indent else "  "
    text = yaml.safe_dump(rows, default_flow_style=None, allow_unicode=True, width=1_000)
    lines = [*([] if block else ["tools:"]), *(f"{margin}{row}" for row in text.splitlines())]
    end = b"\r\n" if b"\r\n" in old else b"\n"
    gap = b"" if old[:place].endswith(b"\n") else end
    new = old[:place] + gap + b"".join(line.encode() + end for line in lines) + old[place:]
    return (new if _only_adds(old, new, rows) else old), tuple(lines)


def _only_adds(old: bytes, new: bytes, rows: Mapping[str, object]) -> bool:
    """Whether a YAML reader sees the rows, and all else as it was."""
    try:
        before, after = yaml.safe_load(old) or {}, yaml.safe_load(new)
    except (yaml.YAMLError, RecursionError):
        return False
    is_twice = "tools" in before and _TOOLS.search(old) is None
    return not is_twice and bool(after == before | {"tools": {**(before.get("tools") or {}), **rows}})


def _is_found(tool: Tool | Unresolved, possible: Collection[Tool]) -> bool:
    """Whether the search by name finds a tool, and none that the project declares is another."""
    return isinstance(tool, Tool) and {_target(tool)}.issuperset(map(_target, possible))


def _meant(tools: Collection[Tool], texts: Collection[str]) -> tuple[str, ...]:
    """The places of a tool; where there are several, of those whose docstring was sent, if any was."""
    sent = [tool for tool in tools if " ".join(tool.docstring.split()).startswith(tuple(texts))]
    return tuple(filter(str.isprintable, dict.fromkeys(map(_target, sent or tools))))


def _target(tool: Tool) -> str:
    return f"{tool.file}::{tool.qualname}"
