"""A new coreloop.yaml: the template with its examples replaced by commented proposals for the project."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Final

from coreloop.admin.init.decorated import decorated_tools
from coreloop.base.project.frameworks import find_framework
from coreloop.base.project.tools import Tool, is_tool_name, resolve_tools
from coreloop.base.text import fitted, printable
from coreloop.observe.reading.decode import RecordLine, read_lines

_MOST_VALUES: Final = 12  # chosen: an argument with more values is rather an identifier than a choice
_MOST_RECORDS: Final = 20_000  # chosen: enough to see the usual tools
MOST_TOOLS: Final = 40  # chosen: more than a reader of a new coreloop.yaml looks through
_COLUMNS: Final = 118
_TOOLS: Final = re.compile(rb"(?m)(^#  \w+: \{target: .*\n)+")
_REACH: Final = re.compile(rb"(?m)^# reach: \{.*$")
_PLAIN: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


@dataclass(frozen=True, slots=True)
class ToolProposal:
    """An entry of ``tools:``.

    Attributes
    ----------
    target : str or None
        ``path.py::qualname``; None if the path cannot be printed.
    selectors : mapping of str to tuple of str
        Argument -> values that occur in the project's source; no other value is ever shown.
    """

    name: str
    target: str | None
    selectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettingsProposals:
    """The proposals in a new coreloop.yaml: tools and the agent framework."""

    tools: tuple[ToolProposal, ...] = ()
    framework: str | None = None


def propose_settings(records: Path, root: Path) -> SettingsProposals:
    """Derive proposals from the records and the source.

    Parameters
    ----------
    records : Path
        Folder of records; it may be absent.
    root : Path
        The project's folder.
    """
    return SettingsProposals(
        tools=propose_tools(used_tools(records), root),
        framework=find_framework(root),
    )


def used_tools(folder: Path) -> list[str]:
    """Return the tools of the newest 20,000 records, the most used first; their names are untrusted."""
    files = filter(Path.is_file, sorted(folder.glob("*.jsonl"), reverse=True))
    lines = chain.from_iterable(map(read_lines, files))
    records = islice((line for line in lines if isinstance(line, RecordLine)), _MOST_RECORDS)
    used = Counter(name for record in records for name in {call.name for call in record.calls})
    return [name for name, _ in used.most_common()]


def propose_tools(usage: Iterable[str], root: Path) -> tuple[ToolProposal, ...]:
    """Return at most 40 tools: the used tools by frequency, then other tools that the source declares."""
    declared = decorated_tools(root)
    unknown = [name for name in usage if name not in declared]
    resolved = resolve_tools(unknown, root=root, configured={})
    tools = {**{name: tool for name, tool in resolved.items() if isinstance(tool, Tool)}, **declared}
    used = [name for name in usage if name in tools]  # another name may be anything that a user wrote
    names = [name for name in dict.fromkeys((*used, *declared)) if is_tool_name(name)]
    return tuple(_proposed(name, tools[name]) for name in names[:MOST_TOOLS])


def write_settings(template: bytes, proposals: SettingsProposals) -> bytes:
    """Return the template with the proposals; an example without a proposal stays."""
    text = _replaced(template, _TOOLS, [_tool_line(tool) for tool in proposals.tools])
    if proposals.framework is not None:
        reach = f'# reach: {{framework: {proposals.framework}, tools: "package.module:TOOLS"}}'
        text = _REACH.sub(reach.encode(), text, count=1)
    return text


def _replaced(text: bytes, example: re.Pattern[bytes], lines: Sequence[str]) -> bytes:
    proposed = "".join(f"{line}\n" for line in lines).encode()
    return example.sub(lambda _: proposed, text, count=1) if lines else text


def _proposed(name: str, tool: Tool) -> ToolProposal:
    declared = {key: values for key, values in tool.choices.items() if 2 <= len(values) <= _MOST_VALUES}
    target = f"{tool.file}::{tool.qualname}"
    return ToolProposal(name, target if target.isprintable() else None, declared)


def _tool_line(tool: ToolProposal) -> str:
    entries = [f"target: {_quoted(tool.target)}"] if tool.target is not None else []
    if tool.selectors:
        entries.append(f"selectors: [{', '.join(map(_key, tool.selectors))}]")
    note = "; ".join(f"{name}: {', '.join(values)}" for name, values in tool.selectors.items() if values)
    line = f"#  {_key(tool.name)}: {{{', '.join(entries)}}}"
    return f"{line}{fitted(f'  # {printable(note)}', max(_COLUMNS - len(line), 24))}" if note else line


def _key(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name.lower() not in _WORDS else _quoted(name)


def _quoted(text: str) -> str:
    """Quote a YAML string on one line; JSON is valid YAML."""
    return json.dumps(text, ensure_ascii=False)
