"""Take back one change of a description: a draft that removes the lines which it added, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from coreloop.base.errors import PullRequestExistsError, RefusedError, UsageError
from coreloop.base.files import locked
from coreloop.base.git.trailers import REVERT_PREFIX, SECTIONS
from coreloop.base.github.connect import Connect, connect_forge
from coreloop.base.github.protocol import PullRequest
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.edit import remove_bullets
from coreloop.descriptions.located_docstring import DocstringPlace
from coreloop.descriptions.source import SourceText, UnprovenError, read_source
from coreloop.learn.effect.description_changes import Change
from coreloop.learn.effect.effect import Effect
from coreloop.promote.commits import WritableRepository


@dataclass(frozen=True, slots=True)
class Revert:
    """A planned revert.

    Attributes
    ----------
    path : str
        The file below the repository's root.
    source : bytes
        Its new content.
    base_sha, branch, message : str
        The commit to build on, the name of the branch, and the commit's message.
    """

    effect: Effect
    path: str
    source: bytes
    base_sha: str
    branch: str
    message: str

    @property
    def title(self) -> str:
        """Title of the pull request: the subject of the commit."""
        return self.message.partition("\n")[0]

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that it removes."""
        return self.effect.change.added


@dataclass(frozen=True, slots=True)
class RevertDone:
    """A pushed branch, its pull request if there is a forge, and whether this run made it."""

    branch: str
    pull_request: PullRequest | None
    fresh: bool


def branch_of(change: Change) -> str:
    """The branch of the draft that takes a change back."""
    return f"{REVERT_PREFIX}{change.sha[:12]}"


def plan_revert(workspace: Workspace, effect: Effect, *, base_sha: str | None = None) -> Revert:
    """Plan a revert without changing anything.

    Raises
    ------
    RefusedError
        The change is reverted already, changed more than lines, or its lines cannot be removed with proof.
    GitError
        There is no base branch.
    """
    change = effect.change
    if change.reverted or change.is_revert:
        raise RefusedError(f"{change.sha[:10]} is reverted already, or is a revert itself")
    if not change.added or change.removed:
        what = "replaced lines" if change.removed else "added no lines"
        raise RefusedError(f"{change.sha[:10]} {what}; take it back with git revert {change.sha[:10]}")
    with WritableRepository(workspace.root) as repository:
        base = base_sha or repository.base(workspace.settings.forge.base)
        folder = workspace.root.resolve().relative_to(repository.root.resolve())
        file, _, symbol = change.target.partition("::")
        path = (PurePosixPath(folder.as_posix()) / file).as_posix()
        content = repository.read(base, path)
    if content is None:
        raise RefusedError(f"{path} is not in the base branch any more")
    qualname = symbol.partition(":")[0]
    source = without_lines(content, qualname, change.added).raw
    return Revert(effect, path, source, base, branch_of(change), _message(effect))


def confirm_revert(
    workspace: Workspace, effect: Effect, *, environ: Mapping[str, str], connect: Connect = connect_forge
) -> RevertDone:
    """Push the branch and open the draft, or finish an earlier run; only a human can merge it.

    Raises
    ------
    CoreloopError
        As for `plan_revert`; or git or GitHub failed.
    """
    forge_settings = workspace.settings.forge
    with (
        WritableRepository(workspace.root) as repository,
        locked(workspace.candidates_dir),
        connect(repository, forge_settings, environ) as forge,
    ):
        remote = repository.remote()
        if remote is not None:
            repository.fetch(remote, forge_settings.base)
        base_sha = repository.heads(remote).get(forge_settings.base)
        if base_sha is None:
            raise UsageError(f"there is no branch {forge_settings.base}; set forge: base in coreloop.yaml")
        plan = plan_revert(workspace, effect, base_sha=base_sha)
        fresh = plan.branch not in repository.heads(remote)
        if fresh:
            sha = repository.commit_file(plan.base_sha, plan.path, plan.source, plan.message)
            repository.publish(sha, plan.branch, remote=remote)
        if forge is None:
            return RevertDone(plan.branch, None, fresh)
        body = plan.message.partition("\n")[2].strip()
        try:
            pull = forge.open_draft(branch=plan.branch, base=forge_settings.base, title=plan.title, body=body)
        except PullRequestExistsError:  # of an earlier run
            return RevertDone(plan.branch, None, fresh)
        return RevertDone(plan.branch, pull, fresh)


def without_lines(content: bytes, qualname: str, lines: tuple[str, ...]) -> SourceText:
    """The file without lines of a docstring, wherever in it they are.

    Raises
    ------
    RefusedError
        They cannot be removed with proof.
    """
    reason = ""
    for section in (None, *SECTIONS.values()):
        try:
            return remove_bullets(read_source(content), DocstringPlace(qualname), lines, section=section)
        except UnprovenError as error:
            reason = reason or str(error)
    raise RefusedError(f"the lines cannot be removed with proof: {reason}; edit the docstring by hand")


def _message(effect: Effect) -> str:
    change, look = effect.change, effect.look
    metrics = ""
    if look is not None:
        found = look.estimate
        metrics = (
            f" {found.before:.1%} of calls failed before, {found.after:.1%} after; without it "
            f"{found.expected:.1%} were expected."
        )
    lines = "\n".join(change.added)
    return (
        f'Revert "{change.subject}"\n\nThis reverts commit {change.sha}.\n\n'
        f"It changed {change.target}: {effect.title}.{metrics}\n\nRemoves:\n\n{lines}\n"
    )
