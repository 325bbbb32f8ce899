"""The drafts of a nightly run: every candidate with text is promoted, and each outcome has its reason."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final

from coreloop.base.errors import CoreloopError, HumanDecidesError, RefusedError
from coreloop.base.github.connect import Connect
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import escape_markdown, linked_markdown
from coreloop.learn.effect.run import read_effects
from coreloop.learn.proposals.entry import Candidate, Statement
from coreloop.learn.proposals.proposal_files import read_candidates
from coreloop.learn.verdicts.judge import LOOK_BACK
from coreloop.promote.commits import WritableRepository
from coreloop.promote.prepared_drafts import connect_prepared
from coreloop.promote.revert import branch_of, confirm_revert
from coreloop.promote.run import PromoteRequest, PromoteResult, confirm_promotion

_SHOWN: Final = 200


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
        For the drafts, see `coreloop.promote.prepared_drafts.PreparedDrafts`.
    environ : mapping
        Holds the token, see `coreloop.base.github.github_forge.connect_forge`.
    warn : callable
        As for `coreloop.promote.run.confirm_promotion`.

    Raises
    ------
    WorkspaceError
        The file is absent or unreadable.
    """
    connect = partial(connect_prepared, folder)
    for entry in read_candidates(path).entries:
        if not entry.suggested_append or not entry.suggested_append.target_file:
            yield DraftOutcome(entry.id, DraftState.NO_TEXT, _why_no_text(entry))
            continue
        request = PromoteRequest(path=path, wanted=entry.id)
        try:
            result = confirm_promotion(
                workspace, request, environ=environ, now=now, warn=warn, connect=connect
            )
        except CoreloopError as error:
            state = DraftState.IN_REVIEW if isinstance(error, HumanDecidesError) else DraftState.REFUSED
            reason = "; ".join([str(error), *getattr(error, "__notes__", [])])
            yield DraftOutcome(entry.id, state, reason)
            continue
        yield _outcome(entry.id, result)


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
    closed = _closed_branches(workspace, connect, environ, now) if due else frozenset[str]()
    closed_by_hand = "a person closed the draft that retires it"
    for effect in due:
        id = " ".join(effect.change.ids)
        if branch_of(effect.change) in closed:
            yield DraftOutcome(id, DraftState.IN_REVIEW, closed_by_hand)
            continue
        try:
            done = confirm_revert(workspace, effect, environ=environ, connect=connect)
        except RefusedError as error:  # only by hand
            reason = f"should go, since {effect.why_retire}; {error}"
            yield DraftOutcome(id, DraftState.IN_REVIEW, reason)
            continue
        except CoreloopError as error:
            yield DraftOutcome(id, DraftState.REFUSED, str(error))
            continue
        state = DraftState.PREPARED if done.pull_request is not None else DraftState.IN_REVIEW
        why = effect.why_retire
        reason = f"retires it, since {why}: branch {done.branch}"
        yield DraftOutcome(id, state, reason)


def _closed_branches(
    workspace: Workspace, connect: Connect, environ: Mapping[str, str], now: datetime
) -> frozenset[str]:
    """The branches whose pull request was closed without a merge."""
    with (
        WritableRepository(workspace.root) as repository,
        connect(repository, workspace.settings.forge, environ) as forge,
    ):
        pulls = forge.closed_pull_requests(since=now - LOOK_BACK) if forge is not None else ()
        return frozenset(pull.branch for pull in pulls)


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
    for outcome in outcomes[:_SHOWN]:
        id, text = escape_markdown(outcome.id), linked_markdown(outcome.text)
        lines.append(f"- **{id}** {outcome.state.value}: {text}")
    if len(outcomes) > _SHOWN:
        lines.append(f"- and {len(outcomes) - _SHOWN} more")
    return "\n".join([*lines, ""])


def _outcome(id: str, result: PromoteResult) -> DraftOutcome:
    done = result.done
    url = done.pull_request.url if done.pull_request is not None else done.branch
    return DraftOutcome(id, DraftState.PREPARED if done.fresh else DraftState.IN_REVIEW, url)


def _why_no_text(entry: Statement | Candidate) -> str:
    """The reason if it names no recorded value, since the summary leaves the runner."""
    refused = entry.refused or ""
    if refused.startswith(("weak: ", "redundant: ")):
        return refused
    if entry.suggested_append is not None:
        return "its tool has no target; name it under tools: in coreloop.yaml"
    return "withheld here, since it may name recorded values; the local candidates file has it (refused)"
