"""Lines of a tool's description that are measured, and the tools as a model is sent them without and with.

The lines are proposed, or stand in the description since a promotion.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from coreloop.base.errors import RefusedError, UsageError
from coreloop.base.git.promotions import promotions
from coreloop.base.git.repository import Repository
from coreloop.base.project.tools import bare_name
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.own_lines import docstring_bullets, promoted_lines
from coreloop.learn.proposals.statement_lines import parse_advice
from coreloop.promote.commits import WritableRepository
from coreloop.promote.docstring_edit import edit_lines, repository_path
from coreloop.promote.plan import base_commit
from coreloop.promote.revert import without_lines
from coreloop.promote.run import PromoteRequest, select_proposals

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineEdit:
    """Lines of a tool's description, and its file without and with them.

    Attributes
    ----------
    keys : tuple of str
        The proposals'.
    base_sha, path : str
        The commit, and the file below the repository's root.
    file : str
        The same below the project's folder.
    """

    tool: str
    keys: tuple[str, ...]
    lines: tuple[str, ...]
    base_sha: str
    path: str
    file: str
    without: bytes
    with_lines: bytes


@dataclass(frozen=True, slots=True)
class ToolText:
    """A tool as a model is sent it; ``parameters`` is a JSON Schema, empty if there is none."""

    name: str
    description: str
    parameters: Mapping[str, Any]


def edits_to_measure(workspace: Workspace, request: PromoteRequest) -> list[LineEdit]:
    """The lines of a request, or those that stand in the base branch if it names none, a tool each.

    Raises
    ------
    UsageError
        The request names half of what it must.
    CoreloopError
        As `coreloop.promote.run.plan_promotion`; or an entry is not about one tool, or lines that stand
        cannot be removed with proof.
    """
    if request != PromoteRequest():
        if (request.tool is None) is (request.wanted is None) or (request.wanted and request.path is None):
            raise UsageError("nothing to measure; give --tool NAME, --candidate FILE with --id ID, or --all")
        return [_proposed(workspace, request)]
    with WritableRepository(workspace.root) as repository:
        base_sha = base_commit(repository, workspace.settings.forge.base, fetch=False)
        return list(_standing(workspace, repository, base_sha))


def _proposed(workspace: Workspace, request: PromoteRequest) -> LineEdit:
    proposals = select_proposals(workspace, request).proposals
    if any(proposal.subject is None for proposal in proposals):
        raise RefusedError("only lines about one tool can be measured; verify replays a sequence")
    settings, lead = workspace.settings, proposals[0]
    with WritableRepository(workspace.root) as repository:
        base_sha = base_commit(repository, settings.forge.base, fetch=False)
        path = repository_path(repository, workspace.root, lead.file)
        edited = edit_lines(repository, base_sha, path, proposals, settings)
    return LineEdit(
        tool=lead.engine,
        keys=tuple(proposal.key for proposal in proposals),
        lines=tuple(line for proposal in proposals for line in proposal.lines),
        base_sha=base_sha,
        path=path,
        file=lead.file,
        without=edited.old,
        with_lines=edited.source,
    )


def _standing(workspace: Workspace, repository: Repository, base_sha: str) -> Iterator[LineEdit]:
    in_effect = [item for item in promotions(repository, repository.log(base_sha)) if not item.reverted]
    tools = {tool.target: name for name, tool in workspace.settings.tools.items()}
    for target in sorted({item.target for item in in_effect}):
        file, _, symbol = target.partition("::")
        path = repository_path(repository, workspace.root, file)
        source, qualname = repository.read(base_sha, path), symbol.partition(":")[0]
        ours = promoted_lines(repository, base_sha, path=path, target=target, is_form=_is_about_one_tool)
        lines = tuple(sorted(ours & set(docstring_bullets(source, target))))
        if source is None or not lines:
            continue
        yield LineEdit(
            tool=tools.get(target, qualname.rpartition(".")[2]),
            keys=tuple(sorted(item.key for item in in_effect if item.target == target)),
            lines=lines,
            base_sha=base_sha,
            path=path,
            file=PurePosixPath(file).as_posix(),
            without=without_lines(source, qualname, lines).raw,
            with_lines=source,
        )


def _is_about_one_tool(line: str) -> bool:
    return parse_advice(line) is not None


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


def refuse_difference(before: Sequence[ToolText], after: Sequence[ToolText], edit: LineEdit) -> str | None:
    """Why the tools that two copies serve do not differ by exactly the edit; None if they do."""
    if [(item.name, item.parameters) for item in before] != [(item.name, item.parameters) for item in after]:
        return "the two copies of the project have different tools or parameters"
    pairs = zip(before, after, strict=True)
    changed = [(old, new) for old, new in pairs if old.description != new.description]
    if not changed:
        return "the edit does not change what the model is sent"
    if len(changed) > 1 or changed[0][0].name not in {edit.tool, bare_name(edit.tool)}:
        names = ", ".join(old.name for old, _ in changed)
        return f"the edit also changes what the model is sent for {names}"
    old, new = (item.description for item in changed[0])
    files = [content.decode("utf-8", "replace") for content in (edit.without, edit.with_lines)]
    is_exact = _added(old, new) == _added(*files) and _added(new, old) == _added(*reversed(files))
    return None if is_exact else "the two descriptions differ by more than the edit"


def _added(old: str, new: str) -> Counter[str]:
    """The words that a text has more than another; frameworks wrap lines and drop dashes, but no words."""
    return Counter(_WORD.findall(new)) - Counter(_WORD.findall(old))
