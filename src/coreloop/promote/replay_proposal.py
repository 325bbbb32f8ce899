"""Replaying a proposal against the endpoint of coreloop.yaml, and recording the requests' ids."""

from functools import partial
from pathlib import Path

from coreloop.base.files import append_private
from coreloop.base.project.workspace import Workspace
from coreloop.promote.proposal_entry import Proposal, read_proposal
from coreloop.promote.replay import (
    AuditLog,
    HttpEndpoint,
    Replay,
    ReplayRun,
    ReplayVerdict,
    is_loopback,
    replay,
)


def verify(
    workspace: Workspace, path: Path, candidate_id: str, *, runs: int | None, confirmed: bool
) -> Replay:
    """Replay one entry of a proposals file; the parameters are those of `ask_again`.

    Raises
    ------
    WorkspaceError, UsageError, RefusedError
        As `coreloop.promote.proposal_entry.read_proposal` does.
    """
    proposal = read_proposal(path, candidate_id, workspace.settings, is_configured=workspace.is_configured)
    return ask_again(proposal, workspace, runs=runs, confirmed=confirmed)


def ask_again(proposal: Proposal, workspace: Workspace, *, runs: int | None, confirmed: bool) -> Replay:
    """Replay a proposal.

    Parameters
    ----------
    proposal : Proposal
        Its questions are asked in turn.
    workspace : Workspace
        Endpoint, selectors, audit log. The ids of the requests are appended to its replays file, in a dry run
        too: the server records them, and they must never be mined.
    runs : int, optional
        Number of requests; by default coreloop.yaml's.
    confirmed : bool
        If false, only a loopback address is asked, since questions are private.

    Returns
    -------
    Replay
        ``not-applicable`` for a caveat or a statement, ``unavailable`` if the endpoint may not or cannot be
        asked.
    """
    settings = workspace.settings.replay
    if not proposal.steps:
        return Replay(ReplayVerdict.NOT_APPLICABLE, ())
    reason = _refusal(settings.url, confirmed=confirmed)
    if settings.url is None or reason is not None:
        return Replay(ReplayVerdict.UNAVAILABLE, (ReplayRun(None, reason or ""),))
    with HttpEndpoint(settings.url, timeout_s=settings.timeout_s) as endpoint:
        return replay(
            endpoint,
            proposal.steps,
            [text for text in proposal.questions if not text.startswith("[REDACTED ")],
            runs=runs or settings.runs,
            selectors=workspace.settings.selectors(),
            audit_log=AuditLog(workspace.records_dir, settings.timeout_s),
            on_request=partial(_record, workspace),
        )


def ask_nobody(proposal: Proposal) -> Replay:
    """The replay of a dry run, which asks no questions, since the agent's tools would really run."""
    return Replay(ReplayVerdict.NOT_ASKED if proposal.steps else ReplayVerdict.NOT_APPLICABLE, ())


def _record(workspace: Workspace, request_id: str) -> None:
    append_private(workspace.replays_file, [" ".join(request_id.split())])


def _refusal(url: str | None, *, confirmed: bool) -> str | None:
    if url is None:
        return "no replay: url is set in coreloop.yaml"
    if not confirmed and not is_loopback(url):
        return "without --confirm only a loopback address is asked"
    return None
