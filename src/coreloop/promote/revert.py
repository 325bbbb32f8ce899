"""Take back one change of a description: a draft that removes the lines which it added, and nothing else."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from coreloop.base.errors import PullRequestExistsError, RefusedError
from coreloop.base.files import locked
from coreloop.base.git.trailers import REVERT_PREFIX
from coreloop.base.github.connect import Connect, connect_forge
from coreloop.base.project.python_source import UnprovenError
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.own_lines import text_with
from coreloop.descriptions.texts import remove_lines
from coreloop.learn.effect.description_changes import Change
from coreloop.learn.effect.effect import Effect
from coreloop.promote.commits import WritableRepository
from coreloop.promote.docstring_edit import repository_path
from coreloop.promote.draft_pull_request import Done
from coreloop.promote.plan import base_commit


@dataclass(frozen=True, slots=True)
class Revert:
    """A planned revert.

    Attributes
    ----------
    path : str
        The file below the repository's root.
    source : bytes
        Its new content.
    message : str
        The commit's message.
    remote : str or None
        Where the branch is pushed; None if it stays here.
    """

    effect: Effect
    path: str
    source: bytes
    message: str
    remote: str | None

    @property
    def branch(self) -> str:
        """Name of the branch."""
        return branch_of(self.effect.change)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that it removes."""
        return self.effect.change.added


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
    file = change.target.partition("::")[0]
    repository = WritableRepository(workspace.root)
    base = base_sha or repository.base(workspace.settings.forge.base)
    path = repository_path(repository, workspace.root, file)
    content = repository.read(base, path)
    if content is None:
        raise RefusedError(f"{path} is not in the base branch any more")
    try:
        edited = remove_lines(path, content, text_with(content, change.target, change.added), change.added)
    except UnprovenError as reason:
        raise RefusedError(
            f"the lines cannot be removed with proof: {reason}; edit the description by hand"
        ) from reason
    return Revert(effect, path, edited.source, _message(effect), repository.remote())


def confirm_revert(
    workspace: Workspace, effect: Effect, *, environ: Mapping[str, str], connect: Connect = connect_forge
) -> Done:
    """Push the branch and open the draft, or finish an earlier run; only a human can merge it.

    Raises
    ------
    CoreloopError
        As for `plan_revert`; or git or GitHub failed.
    """
    settings = workspace.settings.forge
    repository = WritableRepository(workspace.root)
    with locked(workspace.candidates_dir):
        forge = connect(repository, settings, environ)
        base_sha = base_commit(repository, settings.base, fetch=True)
        plan, remote = plan_revert(workspace, effect, base_sha=base_sha), repository.remote()
        fresh = plan.branch not in repository.heads(remote)
        if fresh:
            sha = repository.commit_file(base_sha, plan.path, plan.source, plan.message)
            repository.publish(sha, plan.branch, remote=remote)
        title, _, body = plan.message.partition("\n")
        pull = None
        if forge is not None:
            with suppress(PullRequestExistsError):  # of an earlier run
                pull = forge.open_draft(
                    branch=plan.branch, base=settings.base, title=title, body=body.strip()
                )
        return Done(plan.branch, pull, fresh)


def _message(effect: Effect) -> str:
    change, lines = effect.change, "\n".join(effect.change.added)
    verdict = ". ".join((effect.title, *effect.sentences))
    return (
        f'Revert "{change.subject}"\n\nThis reverts commit {change.sha}.\n\n'
        f"It changed {change.target}: {verdict}.\n\nRemoves:\n\n{lines}\n"
    )
