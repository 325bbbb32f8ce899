"""The drafts of a nightly run: every candidate with text is promoted, and each outcome has its reason."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from coreloop.base.errors import CoreloopError, HumanDecidesError, RefusedError
from coreloop.base.github.connect import connect_forge
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import escape_markdown, linked_markdown
from coreloop.learn.effect.run import read_effects
from coreloop.learn.proposals.candidates import Candidate
from coreloop.learn.proposals.proposal_files import read_candidates
from coreloop.learn.proposals.statements import Statement
from coreloop.learn.verdicts.closed import LOOK_BACK
from coreloop.promote.commits import WritableRepository
from coreloop.promote.revert import branch_of, confirm_revert
from coreloop.promote.run import PromoteRequest, PromoteResult, confirm_promotion

_SHOWN: Final = 200


class DraftState(StrEnum):
    """What became of a candidate."""

    OPENED = "opened"
    IN_REVIEW = "with a human"
    REFUSED = "refused"
    NO_TEXT = "no text"


@dataclass(frozen=True, slots=True)
class DraftOutcome:
    """A candidate, what became of it, and the pull request or the reason."""

    id: str
    state: DraftState
    text: str


def open_drafts(
    workspace: Workspace,
    path: Path,
    *,
    environ: Mapping[str, str],
    now: datetime,
    warn: Callable[[str], None],
) -> Iterator[DraftOutcome]:
    """Open a draft for each entry of a candidates file; an entry that is refused does not stop the others.

    Parameters
    ----------
    path : Path
        A candidates file that is not sanitized.
    environ : mapping
        Holds the token, see `coreloop.base.github.github_forge.connect_forge`.
    warn : callable
        As for `coreloop.promote.run.confirm_promotion`.

    Raises
    ------
    WorkspaceError
        The file is absent or unreadable.
    """
    for entry in read_candidates(path).entries:
        if not entry.suggested_append or not entry.suggested_append.target_file:
            yield DraftOutcome(entry.id, DraftState.NO_TEXT, _why_no_text(entry))
            continue
        request = PromoteRequest(path=path, wanted=entry.id)
        try:
            result = confirm_promotion(workspace, request, environ=environ, now=now, warn=warn)
        except CoreloopError as error:
            state = DraftState.IN_REVIEW if isinstance(error, HumanDecidesError) else DraftState.REFUSED
            reason = "; ".join([str(error), *getattr(error, "__notes__", [])])
            yield DraftOutcome(entry.id, state, reason)
            continue
        yield _outcome(entry.id, result)


def open_retirements(
    workspace: Workspace, *, environ: Mapping[str, str], now: datetime
) -> Iterator[DraftOutcome]:
    """Open a draft for each promoted line that should go, once; one that a person closed stays closed.

    Parameters
    ----------
    workspace, environ, now
        As for `open_drafts`.
    """
    due = [effect for effect in read_effects(workspace, now=now).effects if effect.why_retire]
    closed = _closed_branches(workspace, environ, now) if due else frozenset[str]()
    closed_by_hand = "a person closed the draft that retires it"
    for effect in due:
        id = " ".join(effect.change.ids)
        if branch_of(effect.change) in closed:
            yield DraftOutcome(id, DraftState.IN_REVIEW, closed_by_hand)
            continue
        try:
            done = confirm_revert(workspace, effect, environ=environ)
        except RefusedError as error:  # only by hand
            reason = f"should go, since {effect.why_retire}; {error}"
            yield DraftOutcome(id, DraftState.IN_REVIEW, reason)
            continue
        except CoreloopError as error:
            yield DraftOutcome(id, DraftState.REFUSED, str(error))
            continue
        pull = done.pull_request
        where = pull.url if pull is not None else f"branch {done.branch}"
        state = DraftState.OPENED if done.fresh else DraftState.IN_REVIEW
        reason = f"retires it, since {effect.why_retire}: {where}"
        yield DraftOutcome(id, state, reason)


def _closed_branches(workspace: Workspace, environ: Mapping[str, str], now: datetime) -> frozenset[str]:
    """The branches whose pull request was closed without a merge."""
    with (
        WritableRepository(workspace.root) as repository,
        connect_forge(repository, workspace.settings.forge, environ) as forge,
    ):
        pulls = forge.closed_pull_requests(since=now - LOOK_BACK) if forge is not None else ()
        return frozenset(pull.branch for pull in pulls)


def is_empty(outcomes: Sequence[DraftOutcome]) -> bool:
    """Whether no draft was opened although a candidate has text and is not with a human."""
    states = {outcome.state for outcome in outcomes}
    return DraftState.OPENED not in states and DraftState.REFUSED in states


def drafts_summary(outcomes: Sequence[DraftOutcome]) -> str:
    """The outcomes as Markdown for a workflow's job summary: a line per candidate, its reason included."""
    opened = sum(outcome.state is DraftState.OPENED for outcome in outcomes)
    lines = [f"### {number_of(opened, 'draft')} opened\n"]
    if not outcomes:
        lines.append("There was no proposal.")
    for outcome in outcomes[:_SHOWN]:
        id, text = escape_markdown(outcome.id), linked_markdown(outcome.text)
        lines.append(f"- **{id}** {outcome.state.value}: {text}")
    if len(outcomes) > _SHOWN:
        lines.append(f"- and {len(outcomes) - _SHOWN} more")
    return "\n".join([*lines, ""])


def _outcome(id: str, result: PromoteResult) -> DraftOutcome:
    pull = result.done.pull_request
    if pull is None:
        reason = (
            "branch {branch} is pushed, but there is no token or no GitHub repository"
            if result.remote is not None
            else "branch {branch} is only in this clone, but there is no token or no GitHub repository"
        ).format(branch=result.done.branch)
        return DraftOutcome(id, DraftState.REFUSED, reason)
    return DraftOutcome(id, DraftState.OPENED if result.done.fresh else DraftState.IN_REVIEW, pull.url)


def _why_no_text(entry: Statement | Candidate) -> str:
    """The reason if it names no recorded value, since the summary leaves the runner."""
    refused = entry.refused or ""
    if refused.startswith(("weak: ", "redundant: ")):
        return refused
    if entry.suggested_append is not None:
        return "its tool has no target; name it under tools: in coreloop.yaml"
    return "withheld here, since it may name recorded values; the local candidates file has it (refused)"
