"""Promotions' pull requests for tests of the guard, as values and as GitHub's payloads."""

import json
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from coreloop.base.git.repository import Commit
from coreloop.base.project.settings import CategoryRule, Settings
from coreloop.descriptions.edit import Edited, append_to_section
from coreloop.guard.change import PathChange
from coreloop.guard.decision import GuardDecision
from coreloop.guard.event import Account, Authorship, PullRequestEvent, ReportedPull, Review
from coreloop.guard.markers import GuardFacts
from coreloop.guard.policy import decide
from coreloop.promote.proposal_entry import Proposal, read_proposal
from coreloop.promote.pull_request_text import branch_name, commit_message, pull_request_title, trailers
from coreloop.promote.replay import Replay, ReplayVerdict
from promoting import FILE, ID, SOURCE, statement, write_candidates

REPO = "octo/tools"
NUMBER = 7
HEAD, BASE = "a" * 40, "b" * 40
REPLAY = Replay(ReplayVerdict.REPRODUCED, ())
NOT_APPLICABLE = Replay(ReplayVerdict.NOT_APPLICABLE, ())
MAKER, REVIEWER = Account("promoter", human=True), Account("maintainer", human=True)
BOT = Account("merger[bot]", human=False)
NAMES = frozenset({"show", "search", "find", "show(company", ".code", ".name"})
"""What the base's other files have of the names in lines."""
SETTINGS = Settings(categories=(CategoryRule(label="FIN-profitability-KR", any=("수익성",)),))
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
    proposal = proposal or candidate_proposal()
    edited = append_to_section(source, proposal.symbol, proposal.section, proposal.lines)
    assert isinstance(edited, Edited), edited
    return edited.source


def replay_of(proposal: Proposal) -> Replay:
    """The replay of a proposal; a statement has no steps to repeat."""
    return REPLAY if proposal.steps else NOT_APPLICABLE


def commit(message: str | None = None, *, proposal: Proposal | None = None, **changes: Any) -> Commit:
    """The one commit of a promotion."""
    proposal = proposal or candidate_proposal()
    if message is None:
        message = commit_message([proposal], replay_of(proposal), section=None)
    return replace(Commit(HEAD, 0, message, (BASE,), PEOPLE), **changes)


def file(old: bytes = SOURCE, new: bytes | None = None, **changes: Any) -> PathChange:
    """The one file of a promotion."""
    edited = edit(old) if new is None else new
    return replace(PathChange(FILE, ("100644", "100644"), old, edited), **changes)


def pull(*, proposal: Proposal | None = None, **changes: Any) -> ReportedPull:
    """The pull request of a promotion."""
    proposal = proposal or candidate_proposal()
    good = ReportedPull(
        number=NUMBER,
        title=pull_request_title([proposal]),
        body=f"Text.\n\n{trailers([proposal], replay_of(proposal))}\n",
        draft=True,
        author=MAKER,
        branch=branch_name(proposal, {}),
        head_sha=HEAD,
        base="main",
        base_sha=BASE,
        same_repo=True,
        labels=("coreloop",),
        auto_merge=False,
    )
    return replace(good, **changes)


def event(action: str = "synchronize", sender: Account = MAKER, **changes: Any) -> PullRequestEvent:
    """An event of the pull request; other changes are fields of the pull request."""
    own = {name: changes.pop(name) for name in ("label", "live") if name in changes}
    return PullRequestEvent(action=action, sender=sender, pull=pull(**changes), **own)


def facts(**changes: Any) -> GuardFacts:
    """The facts of a promotion."""
    good = GuardFacts(
        commits=(commit(),),
        files={HEAD: (file(),)},
        settings=SETTINGS,
        names=NAMES,
        authorships=(Authorship(sha=HEAD, verified=True),),
    )
    return replace(good, **changes)


def approval(reviewer: Account = REVIEWER, state: str = "APPROVED", sha: str = HEAD, **more: Any) -> Review:
    """A review by somebody who may write; `more` are its other fields."""
    known = {"pull": NUMBER, "association": "COLLABORATOR", "permission": "write", **more}
    return Review(reviewer, state, sha, **known)


def judged(happened: PullRequestEvent | None = None, **changes: Any) -> GuardDecision:
    """The decision on a promotion with some facts changed."""
    return decide(happened or event(), facts(**changes))


def ordinary_event(action: str = "synchronize", **changes: Any) -> PullRequestEvent:
    """An event of an ordinary pull request."""
    plain = {"title": "fix: a typo", "branch": "fix-typo", "body": "", "labels": ()}
    return event(action, **{**plain, **changes})


@dataclass(frozen=True, slots=True)
class Payload:
    """A pull request's payload as GitHub sends it, with the relevant fields."""

    happened: PullRequestEvent

    def as_json(self) -> dict[str, Any]:
        pull = self.happened.pull
        repo = REPO if pull.same_repo else "mallory/tools"
        wrapped: dict[str, Any] = {
            "action": self.happened.action,
            "number": pull.number,
            "pull_request": pull_json(pull, repo),
            "sender": account_json(self.happened.sender),
            "repository": {"full_name": REPO},
        }
        if self.happened.label is not None:
            wrapped["label"] = {"name": self.happened.label}
        return wrapped

    def write(self, path: Path) -> Path:
        path.write_text(json.dumps(self.as_json()), encoding="utf-8")
        return path


def pull_json(pull: ReportedPull, repo: str = REPO) -> dict[str, Any]:
    """A pull request as the API shows it."""
    return {
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "draft": pull.draft,
        "user": account_json(pull.author),
        "head": {"ref": pull.branch, "sha": pull.head_sha, "repo": {"full_name": repo}},
        "base": {"ref": pull.base, "sha": pull.base_sha, "repo": {"full_name": REPO}},
        "labels": [{"name": label} for label in pull.labels],
        "auto_merge": {"merge_method": "squash"} if pull.auto_merge else None,
    }


def review_json(review: Review) -> dict[str, Any]:
    """A review as the API lists it, with the permission that `gather` adds."""
    url = f"https://api.github.com/repos/{REPO}/pulls/{review.pull}"
    return {
        "user": account_json(review.reviewer),
        "state": review.state,
        "commit_id": review.commit,
        "pull_request_url": url,
        "author_association": review.association,
        "permission": review.permission,
    }


def commit_json(
    sha: str,
    people: tuple[str, ...],
    message: str = "",
    *,
    verified: bool = False,
    author: Account | None = None,
    pull: int = NUMBER,
) -> dict[str, Any]:
    """A commit of a pull request as the API lists it, with the number that `gather` adds."""
    persons = ({"name": name, "email": email} for name, email in zip(people[::2], people[1::2], strict=True))
    return {
        "sha": sha,
        "author": account_json(author) if author is not None else None,
        "committer": None,
        "commit": {
            **dict(zip(("author", "committer"), persons, strict=True)),
            "message": message,
            "verification": {"verified": verified},
        },
        "pull": pull,
    }


def account_json(account: Account) -> dict[str, Any]:
    return {"login": account.login, "id": account.number, "type": "User" if account.human else "Bot"}
