"""Lines of a tool's description that are measured, and the tools as a model is sent them without and with."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from coreloop.base.errors import RefusedError, UsageError
from coreloop.base.project.tools import bare_name
from coreloop.base.project.workspace import Workspace
from coreloop.base.tempfiles import temporary_folder
from coreloop.descriptions.edit import Edited
from coreloop.promote.commits import WritableRepository
from coreloop.promote.docstring_edit import edit_lines, repository_path
from coreloop.promote.measure.measurement import Measurement
from coreloop.promote.measure.verdict import MeasureVerdict
from coreloop.promote.plan import base_commit
from coreloop.promote.proposal_entry import Proposal
from coreloop.promote.reach import REACH_EXAMPLES
from coreloop.promote.tool_schemas import read_schema, schema_command

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class MeasuredLines:
    """What is measured, of which model."""

    tool: str
    keys: tuple[str, ...]
    lines: tuple[str, ...]
    model: str

    def measured(self, verdict: MeasureVerdict, now: datetime, **figures: Any) -> Measurement:
        """A measurement of them."""
        return Measurement(
            ts=now,
            tool=self.tool,
            keys=self.keys,
            lines=self.lines,
            model=self.model,
            verdict=verdict,
            **figures,
        )


@dataclass(frozen=True, slots=True)
class ToolText:
    """A tool as a model is sent it; ``parameters`` is a JSON Schema, empty if there is none."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Arms:
    """All tools without and with the lines; ``refused`` says why they do not differ by exactly these."""

    base: tuple[ToolText, ...]
    edited: tuple[ToolText, ...]
    refused: str | None


def read_arms(workspace: Workspace, proposals: Sequence[Proposal]) -> Arms:
    """Read the tools that two copies of the project serve, without and with the lines of proposals.

    Raises
    ------
    UsageError
        Coreloop.yaml does not say what a model is sent.
    CoreloopError
        The lines cannot be added, or what a model is sent cannot be read.
    """
    if any(proposal.subject is None for proposal in proposals):
        raise RefusedError("only lines about one tool can be measured; verify replays a sequence")
    settings, lead = workspace.settings, proposals[0]
    command = schema_command(settings.reach, workspace.root)
    if command is None:
        raise UsageError(f"measuring must know what the model is sent; set {REACH_EXAMPLES} in coreloop.yaml")
    arms = []
    with WritableRepository(workspace.root) as repository, temporary_folder("coreloop-measure-") as scratch:
        base_sha = base_commit(repository, settings.forge.base, fetch=False)
        path = repository_path(repository, workspace.root, lead.file)
        edited = edit_lines(workspace, repository, base_sha, proposals)
        for name, content in (("without", edited.old), ("with", edited.source)):
            root = Path(scratch, name)
            root.mkdir()
            repository.export(base_sha, root)
            (root / path).write_bytes(content)
            arms.append(tools_of(read_schema(command, root / path.removesuffix(lead.file))))
    base, with_lines = arms
    return Arms(base, with_lines, refuse_difference(base, with_lines, edited, lead.engine))


def tools_of(schema: object) -> tuple[ToolText, ...]:
    """The tools of a schema in OpenAI's, Anthropic's or MCP's format; the first of each name."""
    tools, waiting = dict[str, ToolText](), [schema]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, list):
            waiting[:0] = item
        elif isinstance(item, dict):
            name, text = item.get("name"), item.get("description")
            if isinstance(name, str) and isinstance(text, str):
                tools.setdefault(name, ToolText(name, text, _parameters(item)))
            else:
                waiting[:0] = item.values()
    return tuple(tools.values())


def _parameters(item: Mapping[str, Any]) -> Mapping[str, Any]:
    names = ("parameters", "input_schema", "inputSchema")
    return next((item[name] for name in names if isinstance(item.get(name), dict)), {})


def refuse_difference(
    base: Sequence[ToolText], edited: Sequence[ToolText], edit: Edited, tool: str
) -> str | None:
    """Why the tools that two copies serve do not differ by exactly the edit; None if they do."""
    if [(item.name, item.parameters) for item in base] != [(item.name, item.parameters) for item in edited]:
        return "the two copies of the project have different tools or parameters"
    pairs = zip(base, edited, strict=True)
    changed = [(old, new) for old, new in pairs if old.description != new.description]
    if not changed:
        return "the edit does not change what the model is sent"
    if len(changed) > 1 or changed[0][0].name not in {tool, bare_name(tool)}:
        names = ", ".join(old.name for old, _ in changed)
        return f"the edit also changes what the model is sent for {names}"
    old, new = (item.description for item in changed[0])
    files = [content.decode("utf-8", "replace") for content in (edit.old, edit.source)]
    is_exact = _added(old, new) == _added(*files) and _added(new, old) == _added(*reversed(files))
    return None if is_exact else "the two descriptions differ by more than the edit"


def _added(old: str, new: str) -> Counter[str]:
    """The words that a text has more than another; frameworks wrap lines and drop dashes, but no words."""
    return Counter(_WORD.findall(new)) - Counter(_WORD.findall(old))
