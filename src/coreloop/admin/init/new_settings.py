"""What coreloop.yaml lacks: rows of the project's tools."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Final

import yaml

from coreloop.base.project.tools import (
    Tool,
    Unresolved,
    is_tool_name,
    logged_names,
    resolve_tools,
    sent_tools,
)
from coreloop.base.project.workspace import Workspace
from coreloop.observe.reading.decode import RecordLine, read_lines

_MOST_RECORDS: Final = 20_000  # chosen: enough to see the usual tools
_TOOLS: Final = re.compile(rb"(?m)^tools:[ \t]*(?:#.*)?\r?\n")
_INDENT: Final = re.compile(rb"(?m)^( +)[^\s#]")


@dataclass(frozen=True, slots=True)
class SettingsProposals:
    """What coreloop.yaml lacks.

    Attributes
    ----------
    targets : mapping of str to str
        Tool -> ``path.py::qualname``.
    unclear : mapping of str to str
        Tool -> its definitions, and what speaks for each, if it is not known which is meant.
    """

    targets: Mapping[str, str] = field(default_factory=dict)
    unclear: Mapping[str, str] = field(default_factory=dict)


def propose_settings(workspace: Workspace) -> SettingsProposals:
    """Derive what coreloop.yaml lacks from the records, what models were sent, and the source.

    Names in records are untrusted: only those of definitions are proposed.
    """
    seen = {*used_tools(workspace.records_dir), *sent_tools(workspace.audit_dir)}
    names = {name: name for name in seen} | logged_names(seen, workspace)
    tools = resolve_tools(
        filter(is_tool_name, names.values()), workspace, only_places=True, and_registered=True
    )
    new = [tool for name, tool in tools.items() if name not in workspace.settings.tools]
    targets = {tool.name: f"{tool.file}::{tool.qualname}" for tool in new if isinstance(tool, Tool)}
    return SettingsProposals(
        targets={name: target for name, target in targets.items() if target.isprintable()},
        unclear={tool.name: tool.reason for tool in new if isinstance(tool, Unresolved) and tool.is_defined},
    )


def used_tools(folder: Path) -> set[str]:
    """Return the tools of the newest 20,000 records; their names are untrusted."""
    files = filter(Path.is_file, sorted(folder.glob("*.jsonl"), reverse=True))
    lines = chain.from_iterable(map(read_lines, files))
    records = islice((line for line in lines if isinstance(line, RecordLine)), _MOST_RECORDS)
    return {call.name for record in records for call in record.calls}


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
