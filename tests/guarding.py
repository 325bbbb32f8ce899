"""Pull requests for the guard: promote's, as values and as GitHub's payloads, and how to spoil it."""

import json
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from coreloop.docstrings.edit import Edited, append_to_section
from coreloop.guard.change import FileChange
from coreloop.guard.event import Account, PullRequestEvent, ReportedPull, Review
from coreloop.guard.policy import Decision, Facts, decide
from coreloop.history.repository import Commit
from coreloop.project.settings import Settings
from coreloop.promote.proposal import Proposal, read_proposal
from coreloop.promote.pull_request import branch_name, commit_message, pull_request_title, trailers
from coreloop.promote.replay import Replay, ReplayVerdict
from promoting import FILE, ID, SOURCE, statement, write_candidates

REPO = "octo/tools"
NUMBER = 7
HEAD, BASE = "a" * 40, "b" * 40
REPLAY = Replay(ReplayVerdict.REPRODUCED, ())
APPLIES_NOT = Replay(ReplayVerdict.NOT_APPLICABLE, ())
MAKER, REVIEWER = Account("promoter", human=True), Account("maintainer", human=True)
BOT = Account("merger[bot]", human=False)
PEOPLE = ("A Tester", "tester@example.org") * 2


@cache
def candidate_proposal() -> Proposal:
    """The candidate of `promoting`, read as promote reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_candidates(Path(folder) / "2026-04-25-candidates.json")
        return read_proposal(path, ID, Settings())


def statement_proposal(**changes: Any) -> Proposal:
    """The statement of `promoting`, read as promote reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_candidates(Path(folder) / "2026-04-25-candidates.json", statement(**changes))
        return read_proposal(path, ID, Settings())


def edit(source: bytes = SOURCE, *, proposal: Proposal | None = None) -> bytes:
    """The file as promote would write it."""
    one = proposal or candidate_proposal()
    edited = append_to_section(source, one.symbol, one.section, one.lines)
    assert isinstance(edited, Edited), edited
    return edited.source


def replay_of(proposal: Proposal) -> Replay:
    """What a replay says of it; a statement has nothing to repeat."""
    return REPLAY if proposal.steps else APPLIES_NOT


def commit(message: str | None = None, *, proposal: Proposal | None = None, **changes: Any) -> Commit:
    """The one commit of a promotion."""
    one = proposal or candidate_proposal()
    written = commit_message([one], replay_of(one), section=None) if message is None else message
    return replace(Commit(HEAD, 0, written, (BASE,), PEOPLE), **changes)


def file(old: bytes = SOURCE, new: bytes | None = None, **changes: Any) -> FileChange:
    """The one file of a promotion."""
    edited = edit(old) if new is None else new
    return replace(FileChange(FILE, ("100644", "100644"), old, edited), **changes)


def pull(*, proposal: Proposal | None = None, **changes: Any) -> ReportedPull:
    """The pull request of a promotion."""
    one = proposal or candidate_proposal()
    good = ReportedPull(
        number=NUMBER,
        title=pull_request_title([one]),
        body=f"Text.\n\n{trailers([one], replay_of(one))}\n",
        draft=True,
        author=MAKER,
        branch=branch_name(one, {}),
        head_sha=HEAD,
        base="main",
        base_sha=BASE,
        same_repo=True,
        labels=("coreloop",),
        auto_merge=False,
    )
    return replace(good, **changes)


def event(action: str = "synchronize", sender: Account = MAKER, **changes: Any) -> PullRequestEvent:
    """What happened to it; what is no field of the event is one of the pull request."""
    own = {name: changes.pop(name) for name in ("former_title", "label") if name in changes}
    return PullRequestEvent(action=action, sender=sender, pull=pull(**changes), **own)


def facts(**changes: Any) -> Facts:
    """What git says of it."""
    good = Facts(commits=(commit(),), files={HEAD: (file(),)}, settings=Settings())
    return replace(good, **changes)


def approval(reviewer: Account = REVIEWER, state: str = "APPROVED", sha: str = HEAD, **more: Any) -> Review:
    """A review."""
    return Review(reviewer, state, sha, more.get("pull", NUMBER))


def judged(happened: PullRequestEvent | None = None, **changes: Any) -> Decision:
    """The decision on a promotion of which some facts are others."""
    return decide(happened or event(), facts(**changes))


def ordinary_event(action: str = "synchronize", **changes: Any) -> PullRequestEvent:
    """Somebody's own work."""
    plain = {"title": "fix: a typo", "branch": "fix-typo", "body": "", "labels": ()}
    return event(action, **{**plain, **changes})


@dataclass(frozen=True, slots=True)
class Payload:
    """A pull request's payload as GitHub sends it, as far as it matters."""

    happened: PullRequestEvent

    def as_json(self) -> dict[str, Any]:
        one = self.happened.pull
        there = REPO if one.same_repo else "mallory/tools"
        wrapped: dict[str, Any] = {
            "action": self.happened.action,
            "number": one.number,
            "pull_request": pull_json(one, there),
            "sender": account_json(self.happened.sender),
            "repository": {"full_name": REPO},
        }
        if self.happened.label is not None:
            wrapped["label"] = {"name": self.happened.label}
        if self.happened.former_title is not None:
            wrapped["changes"] = {"title": {"from": self.happened.former_title}}
        return wrapped

    def write(self, path: Path) -> Path:
        path.write_text(json.dumps(self.as_json()), encoding="utf-8")
        return path


def pull_json(one: ReportedPull, there: str = REPO) -> dict[str, Any]:
    """A pull request as the API shows it."""
    return {
        "number": one.number,
        "title": one.title,
        "body": one.body,
        "draft": one.draft,
        "user": account_json(one.author),
        "head": {"ref": one.branch, "sha": one.head_sha, "repo": {"full_name": there}},
        "base": {"ref": one.base, "sha": one.base_sha, "repo": {"full_name": REPO}},
        "labels": [{"name": label} for label in one.labels],
        "auto_merge": {"merge_method": "squash"} if one.auto_merge else None,
    }


def review_json(one: Review) -> dict[str, Any]:
    """A review as the API lists it."""
    url = f"https://api.github.com/repos/{REPO}/pulls/{one.pull}"
    return {
        "user": account_json(one.reviewer),
        "state": one.state,
        "commit_id": one.commit,
        "pull_request_url": url,
    }


def account_json(account: Account) -> dict[str, str]:
    return {"login": account.login, "type": "User" if account.human else "Bot"}
