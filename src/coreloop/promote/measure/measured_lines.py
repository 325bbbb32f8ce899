"""Lines of a tool's description that are measured: proposed, or standing in it since a promotion."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from coreloop.base.errors import RefusedError, UsageError
from coreloop.base.git.promotions import promotions
from coreloop.base.git.repository import Repository
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.own_lines import docstring_bullets, promoted_lines
from coreloop.learn.line import parse_advice, wordings_of
from coreloop.promote.commits import WritableRepository
from coreloop.promote.docstring_edit import edit_lines, repository_path
from coreloop.promote.plan import base_commit
from coreloop.promote.proposal_entry import Proposal
from coreloop.promote.revert import without_lines
from coreloop.promote.run import PromoteRequest, select_proposals


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
    others : tuple of LineEdit
        The line in other wordings.
    """

    tool: str
    keys: tuple[str, ...]
    lines: tuple[str, ...]
    base_sha: str
    path: str
    file: str
    without: bytes
    with_lines: bytes
    others: tuple["LineEdit", ...] = ()


def edits_to_measure(
    workspace: Workspace, request: PromoteRequest, *, wordings: bool = False
) -> list[LineEdit]:
    """The lines of a request, or those that stand in the base branch if it names none.

    Parameters
    ----------
    workspace, request
        The project, and which lines.
    wordings : bool
        Whether to add other wordings of the one line.

    Raises
    ------
    UsageError
        The request names half of what it must.
    CoreloopError
        As `proposed_lines` and `standing_lines`.
    """
    if wordings and request.wanted is None:
        raise UsageError("--wordings is for one line; give --candidate FILE with --id ID")
    if request == PromoteRequest():
        return standing_lines(workspace)
    if (request.tool is None) is (request.wanted is None) or (request.wanted and request.path is None):
        raise UsageError("nothing to measure; give --tool NAME, --candidate FILE with --id ID, or --all")
    return [proposed_lines(workspace, request, wordings=wordings)]


def proposed_lines(workspace: Workspace, request: PromoteRequest, *, wordings: bool = False) -> LineEdit:
    """The lines of proposals that a promotion would add; with ``wordings``, also in other words.

    Raises
    ------
    CoreloopError
        As `coreloop.promote.run.plan_promotion`; or an entry is not about one tool.
    """
    proposals = select_proposals(workspace, request, as_proposed=wordings).proposals
    lines = tuple(line for proposal in proposals for line in proposal.lines)
    if any(parse_advice(line) is None for line in lines):
        raise RefusedError("only lines about one tool can be measured; verify replays a sequence")
    with WritableRepository(workspace.root) as repository:
        edit = _edit(workspace, repository, proposals)
        if not wordings:
            return edit
        (lead,) = proposals
        worded = [replace(lead, lines=(line,)) for line in wordings_of(lines[0])[1:] if len(lines) == 1]
        return replace(edit, others=tuple(_edit(workspace, repository, [other]) for other in worded))


def _edit(workspace: Workspace, repository: WritableRepository, proposals: Sequence[Proposal]) -> LineEdit:
    settings, lead = workspace.settings, proposals[0]
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


def standing_lines(workspace: Workspace) -> list[LineEdit]:
    """The promoted lines that stand in the base branch, a tool each.

    Raises
    ------
    GitError
        There is no base branch.
    RefusedError
        Lines cannot be removed with proof.
    """
    with WritableRepository(workspace.root) as repository:
        base_sha = base_commit(repository, workspace.settings.forge.base, fetch=False)
        return list(_standing(workspace, repository, base_sha))


def _standing(workspace: Workspace, repository: Repository, base_sha: str) -> Iterator[LineEdit]:
    in_effect = [item for item in promotions(repository, repository.log(base_sha)) if not item.reverted]
    for target in sorted({item.target for item in in_effect}):
        file, _, symbol = target.partition("::")
        path = repository_path(repository, workspace.root, file)
        source, qualname = repository.read(base_sha, path), symbol.partition(":")[0]
        ours = promoted_lines(repository, base_sha, path=path, target=target, is_form=_is_about_one_tool)
        lines = tuple(sorted(ours & set(docstring_bullets(source, target))))
        if source is None or not lines:
            continue
        yield LineEdit(
            tool=_tool(target, qualname, workspace.settings),
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


def _tool(target: str, qualname: str, settings: Settings) -> str:
    """The tool that coreloop.yaml gives this docstring; else its function's name."""
    named = (name for name, tool in settings.tools.items() if tool.target == target)
    return next(named, qualname.rpartition(".")[2])
