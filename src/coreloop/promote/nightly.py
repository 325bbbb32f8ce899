"""The drafts of a nightly run: every candidate with text is promoted, and each outcome has its reason.

The job's token can only read: branches are pushed, pull requests written into a folder, and another job opens
them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path

from coreloop.base.errors import (
    CoreloopError,
    HumanDecidesError,
    PullRequestExistsError,
    RefusedError,
    UsageError,
)
from coreloop.base.files import write_private
from coreloop.base.git.repository import Repository
from coreloop.base.github.connect import connect_forge
from coreloop.base.github.protocol import Forge, PullRequest
from coreloop.base.messages import number_of
from coreloop.base.project.promotion_settings import ForgeSettings
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import escape_markdown, linked_markdown
from coreloop.learn.effect.run import read_effects
from coreloop.learn.proposals.entry import Entry
from coreloop.learn.proposals.proposal_files import CandidatesFile, read_night
from coreloop.learn.verdicts.judge import LOOK_BACK
from coreloop.promote.commits import WritableRepository
from coreloop.promote.revert import branch_of, confirm_revert
from coreloop.promote.run import PromoteRequest, confirm_promotion


class DraftState(StrEnum):
    """What became of a candidate."""

    PREPARED = "prepared"
    IN_REVIEW = "with a human"
    REFUSED = "refused"
    NO_TEXT = "no text"


@dataclass(frozen=True, slots=True)
class DraftOutcome:
    """A candidate, what became of it, and the pull request or the reason."""

    id: str
    state: DraftState
    text: str


def prepare_drafts(
    workspace: Workspace,
    path: Path,
    folder: Path,
    *,
    environ: Mapping[str, str],
    now: datetime,
    warn: Callable[[str], None],
) -> Iterator[DraftOutcome]:
    """Prepare a draft for each entry of a candidates file; one that is refused does not stop the others.

    Parameters
    ----------
    path : Path
        A candidates file that is not sanitized.
    folder : Path
        For the drafts, see `PreparedDrafts`.
    environ : mapping
        Holds the token, see `coreloop.base.github.connect.connect_forge`.
    warn : callable
        As for `coreloop.promote.run.confirm_promotion`.

    Raises
    ------
    WorkspaceError
        The file is absent or unreadable.
    """
    connect = partial(connect_prepared, folder)
    confirm = partial(confirm_promotion, environ=environ, now=now, warn=warn, connect=connect)
    for entry in read_night(path, CandidatesFile).entries:
        if not entry.suggested_append or not entry.suggested_append.target_file:
            yield DraftOutcome(entry.id, DraftState.NO_TEXT, _why_no_text(entry))
            continue
        try:
            done = confirm(workspace, PromoteRequest(path=path, wanted=entry.id)).done
        except CoreloopError as error:
            reason = "; ".join([str(error), *getattr(error, "__notes__", [])])
            state = DraftState.IN_REVIEW if isinstance(error, HumanDecidesError) else DraftState.REFUSED
            yield DraftOutcome(entry.id, state, reason)
        else:
            pull = done.pull_request
            yield DraftOutcome(entry.id, _state(done.fresh), pull.url if pull is not None else done.branch)


def prepare_retirements(
    workspace: Workspace, folder: Path, *, environ: Mapping[str, str], now: datetime
) -> Iterator[DraftOutcome]:
    """Prepare a draft for each promoted line that should go, once; one that a person closed stays closed.

    Parameters
    ----------
    workspace, folder, environ, now
        As for `prepare_drafts`.
    """
    connect = partial(connect_prepared, folder)
    due = [effect for effect in read_effects(workspace, now=now).effects if effect.why_retire]
    forge = connect(WritableRepository(workspace.root), workspace.settings.forge, environ) if due else None
    pulls = forge.closed_pull_requests(since=now - LOOK_BACK) if forge is not None else ()
    closed = {pull.branch for pull in pulls}
    for effect in due:
        id, why = " ".join(effect.change.ids), effect.why_retire
        if branch_of(effect.change) in closed:
            yield DraftOutcome(id, DraftState.IN_REVIEW, "a person closed the draft that retires it")
            continue
        try:
            done = confirm_revert(workspace, effect, environ=environ, connect=connect)
        except CoreloopError as error:
            state = DraftState.IN_REVIEW if isinstance(error, RefusedError) else DraftState.REFUSED
            yield DraftOutcome(id, state, f"should go, since {why}; {error}")
        else:
            is_new = done.pull_request is not None
            yield DraftOutcome(id, _state(is_new), f"retires it, since {why}: branch {done.branch}")


def _state(is_new: bool) -> DraftState:
    return DraftState.PREPARED if is_new else DraftState.IN_REVIEW


def is_empty(outcomes: Sequence[DraftOutcome]) -> bool:
    """Whether no draft was prepared although a candidate has text and is not with a human."""
    states = {outcome.state for outcome in outcomes}
    return DraftState.PREPARED not in states and DraftState.REFUSED in states


def drafts_summary(outcomes: Sequence[DraftOutcome]) -> str:
    """The outcomes as Markdown for a workflow's job summary: a line per candidate, its reason included."""
    n_prepared = sum(outcome.state is DraftState.PREPARED for outcome in outcomes)
    lines = [f"### {number_of(n_prepared, 'draft')} prepared\n"]
    if not outcomes:
        lines.append("There was no proposal.")
    for outcome in outcomes:
        id, text = escape_markdown(outcome.id), linked_markdown(outcome.text)
        lines.append(f"- **{id}** {outcome.state.value}: {text}")
    return "\n".join([*lines, ""])


def _why_no_text(entry: Entry) -> str:
    """The reason if it names no recorded value, since the summary leaves the runner."""
    refused = entry.refused or ""
    if refused.startswith(("weak: ", "redundant: ")):
        return refused
    if entry.suggested_append is not None:
        return "its tool has no target; name it under tools: in coreloop.yaml"
    return "withheld here, since it may name recorded values; the local candidates file has it (refused)"


class PreparedDrafts:
    """A `Forge` that reads from another, and writes pull requests into a folder instead.

    The files are ``1.json``, ``2.json``, …, each the head, base, title and body of a pull request. One that
    is not opened yet has its file's number, negated, and its branch as address.

    Parameters
    ----------
    forge : Forge
        Which pull requests there are.
    folder : Path
        May hold drafts already; created with the first.
    """

    __slots__ = ("_folder", "_forge", "closed_pull_requests")

    def __init__(self, forge: Forge, folder: Path) -> None:
        self._forge, self._folder = forge, folder
        self.closed_pull_requests = forge.closed_pull_requests

    def open_pull_requests(self) -> tuple[PullRequest, ...]:
        """All open pull requests of coreloop, oldest first, and those that will be opened."""
        pulls = self._forge.open_pull_requests()
        branches = {pull.branch for pull in pulls}
        return (*pulls, *(pull for pull in self._prepared() if pull.branch not in branches))

    def find_pull_request(self, key: str, *, since: datetime | None = None) -> PullRequest | None:
        """As the other forge, or one that will be opened."""
        prepared = (pull for pull in self._prepared() if pull.has_key(key))
        return self._forge.find_pull_request(key, since=since) or next(prepared, None)

    def open_draft(self, *, branch: str, base: str, title: str, body: str) -> PullRequest:
        """Write the draft's file."""
        if any(pull.branch == branch for pull in self.open_pull_requests()):
            raise PullRequestExistsError(f"{branch} has a pull request already")
        return self._write(branch, base, title, body)

    def rewrite(self, number: int, *, title: str, body: str) -> None:
        """Write the file of a pull request that has other words or another commit."""
        pull = next(pull for pull in self.open_pull_requests() if pull.number == number)
        self._write(pull.branch, pull.base, title, body)

    def add_label(self, number: int) -> None:
        """Nothing: what opens a draft labels it."""

    def unreviewed(self, base: str) -> str:
        """A review is required: what opens the draft checks it, since only its token may read that."""
        return ""

    def _prepared(self) -> Iterator[PullRequest]:
        for path in sorted(self._folder.glob("*.json")):
            yield _draft(-int(path.stem), **json.loads(path.read_bytes()))

    def _write(self, branch: str, base: str, title: str, body: str) -> PullRequest:
        prepared = {pull.branch: -pull.number for pull in self._prepared()}
        number = prepared.get(branch, len(prepared) + 1)
        fields = {"head": branch, "base": base, "title": title, "body": body}
        write_private(self._folder / f"{number}.json", json.dumps(fields).encode())
        return _draft(-number, **fields)


def _draft(number: int, *, head: str, base: str, title: str, body: str) -> PullRequest:
    """A pull request that is not opened yet."""
    return PullRequest(
        number=number,
        url=head,
        title=title,
        state="open",
        draft=True,
        branch=head,
        base=base,
        head_sha="",
        repo="",
        head_repo="",
        created_at=datetime.max.replace(tzinfo=UTC),
        body=body,
    )


def connect_prepared(
    folder: Path, repository: Repository, settings: ForgeSettings, environ: Mapping[str, str]
) -> Forge:
    """The forge of a repository, with drafts as files in a folder.

    Raises
    ------
    UsageError
        There is no forge to read from.
    """
    forge = connect_forge(repository, settings, environ)
    if forge is None:
        raise UsageError("there is no token or no GitHub repository")
    return PreparedDrafts(forge, folder)
