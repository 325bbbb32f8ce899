"""The guard's decision as a commit status, which the branch rules require.

Every event writes the same status, so that the last decision replaces the ones before it. A job's own result
would stay beside those of other events: an old red next to a new green.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import read_file
from coreloop.base.github.github_api import GithubApi
from coreloop.base.github.github_errors import wrong_answer
from coreloop.base.validation import ShapeError, decode
from coreloop.guard.check import decide_event
from coreloop.guard.decision import CONTEXT, GuardDecision
from coreloop.guard.event import MergeGroupEvent, PullRequestEvent, shaped_pulls
from coreloop.guard.github import connected
from coreloop.guard.inputs import Answers, CheckInputs, read_live

_MOST_CHARS: Final = 140  # GitHub refuses longer descriptions
_RUN: Final = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")


@dataclass(frozen=True, slots=True)
class _Stated:
    state: str


@dataclass(frozen=True, slots=True)
class PublishedVerdict:
    """A verdict, and the commit whose status says so.

    Attributes
    ----------
    sha : str, optional
        None if the event has no commit in this repository that could get a status: the token of a fork's pull
        request only reads, so the job itself must fail.
    """

    verdict: GuardDecision
    sha: str | None


def publish(inputs: CheckInputs, decision: Path, environ: Mapping[str, str]) -> PublishedVerdict:
    """Write a decision as the status of the head commit.

    A status belongs to a commit, not to a pull request: a green waits while another open pull request has the
    same head and either is a promotion, since it would count for both.

    Parameters
    ----------
    inputs : CheckInputs
        The event, and its pull request as `coreloop.guard.github.gather_to` wrote it.
    decision : Path
        The output of ``guard check --json``.
    environ : mapping
        As for `coreloop.guard.github.connected`, and GitHub's variables that name the run.

    Raises
    ------
    CoreloopError
        A file cannot be read, or GitHub refuses the status.
    """
    verdict = _read_verdict(decision)
    sha, own = _head(inputs)
    if sha is not None:
        with connected(inputs.folder, environ) as api:
            if verdict.state == "success" and own is not None:
                shared = tuple(_shared(api, inputs, verdict, sha, own=own))
                verdict = replace(verdict, waits=shared)
            body = _status(verdict, environ)
            api.post(f"/statuses/{sha}", body, doing=f"write the status of {sha[:12]}")
    return PublishedVerdict(verdict, sha)


def _read_verdict(path: Path) -> GuardDecision:
    raw = read_file(path)
    try:
        verdict, stated = decode(raw, GuardDecision), decode(raw, _Stated).state
    except ShapeError as error:
        raise WorkspaceError(f"is not the output of guard check --json ({error})", path=path) from error
    if stated != verdict.state:
        raise WorkspaceError(f"contradicts itself: {stated}, with other reasons", path=path)
    return verdict


def _head(inputs: CheckInputs) -> tuple[str | None, int | None]:
    """The commit that gets the status, and the number of the event's own pull request."""
    event, _ = read_live(inputs)
    if isinstance(event, MergeGroupEvent):
        return event.head_sha, None
    if isinstance(event, PullRequestEvent) and event.pull.same_repo:
        return event.pull.head_sha, event.pull.number
    return None, None


def _shared(
    api: GithubApi, inputs: CheckInputs, verdict: GuardDecision, sha: str, *, own: int
) -> Iterator[str]:
    """What a green waits for that another pull request with the same head would get, too."""
    doing = f"list the pull requests of {sha[:12]}"
    try:
        pulls = shaped_pulls(list(api.pages(f"/commits/{sha}/pulls", list[Any], doing=doing)))
    except ShapeError as error:
        raise wrong_answer(doing, str(error)) from error
    for pull in pulls:
        if not pull.is_open or pull.head_sha != sha or pull.number == own:
            continue
        other = PullRequestEvent(action="synchronize", pull=pull, sender=pull.author)
        if verdict.claims or decide_event(other, Answers(), replace(inputs, base=None)).claims:
            yield f"#{pull.number} has the same head commit; close one of the two, then re-run this job"


def _status(verdict: GuardDecision, environ: Mapping[str, str]) -> dict[str, str]:
    body = {"state": verdict.state, "context": CONTEXT, "description": _description(verdict)}
    if all(environ.get(name) for name in _RUN):
        server, repo, run = (environ[name] for name in _RUN)
        body["target_url"] = f"{server}/{repo}/actions/runs/{run}"
    return body


def _description(verdict: GuardDecision) -> str:
    if not verdict.reasons and not verdict.waits:
        passed = "a human approved exactly this" if verdict.claims else "not a coreloop pull request"
        warned = (f"passes, but {text}" for text in verdict.warnings)
        return _shortened(next(warned, passed), _MOST_CHARS)
    listed = verdict.reasons or verdict.waits
    more = f" (1 of {len(listed)})" if len(listed) > 1 else ""
    return _shortened(listed[0], _MOST_CHARS - len(more)) + more


def _shortened(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"
