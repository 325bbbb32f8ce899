"""Promotions' pull requests for tests of the guard, as GitHub's payloads and answers have them."""

import json
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from coreloop.base.git.repository import Commit
from coreloop.base.git.trailers import write_groups
from coreloop.base.project.settings import Settings
from coreloop.descriptions.edit import Edited
from coreloop.promote.proposal_entry import Proposal, read_proposal
from coreloop.promote.pull_request_text import branch_name, commit_message, groups_of, pull_request_title
from coreloop.promote.replay import Replay, ReplayVerdict
from editing import put_lines
from promoting import ID, SOURCE, statement, write_candidates

REPO = "octo/tools"
NUMBER = 7
HEAD, BASE = "a" * 40, "b" * 40
REPLAY = Replay(ReplayVerdict.REPRODUCED, ())
NOT_APPLICABLE = Replay(ReplayVerdict.NOT_APPLICABLE, ())
PEOPLE = ("A Tester", "tester@example.org") * 2


@dataclass(frozen=True, slots=True)
class Actor:
    """An account of GitHub's."""

    login: str
    human: bool = True
    number: int = 0

    def as_json(self) -> dict[str, Any]:
        return {"login": self.login, "id": self.number, "type": "User" if self.human else "Bot"}


MAKER, REVIEWER, KIM = Actor("promoter"), Actor("maintainer", number=1), Actor("kim", number=2)
BOT, APP = Actor("merger[bot]", human=False), Actor("coreloop-app[bot]", human=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A pull request on GitHub."""

    number: int = NUMBER
    title: str
    body: str
    draft: bool = True
    author: Actor = MAKER
    branch: str
    head_sha: str = HEAD
    base: str = "main"
    base_sha: str = BASE
    same_repo: bool = True
    labels: tuple[str, ...] = ("coreloop",)
    auto_merge: bool = False

    def as_json(self, repo: str | None = None) -> dict[str, Any]:
        """As the API shows it."""
        repo = repo or (REPO if self.same_repo else "mallory/tools")
        return {
            "number": self.number,
            "title": self.title,
            "body": self.body,
            "draft": self.draft,
            "user": self.author.as_json(),
            "head": {"ref": self.branch, "sha": self.head_sha, "repo": {"full_name": repo}},
            "base": {"ref": self.base, "sha": self.base_sha, "repo": {"full_name": REPO}},
            "labels": [{"name": label} for label in self.labels],
            "auto_merge": {"merge_method": "squash"} if self.auto_merge else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """An event of a pull request."""

    action: str
    pull: Opened
    sender: Actor = MAKER
    label: str | None = None


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
    edited = put_lines(source, proposal.symbol, proposal.lines, section=proposal.section)
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


def pull(*, proposal: Proposal | None = None, **changes: Any) -> Opened:
    """The pull request of a promotion."""
    proposal = proposal or candidate_proposal()
    words = {
        "title": pull_request_title([proposal]),
        "body": f"Text.\n\n{write_groups(groups_of([proposal], replay_of(proposal)))}\n",
        "branch": branch_name(proposal, {}),
    }
    return Opened(**{**words, **changes})


def event(action: str = "synchronize", sender: Actor = MAKER, **changes: Any) -> Happened:
    """An event of the pull request; other changes are fields of the pull request."""
    label = changes.pop("label", None)
    return Happened(action=action, sender=sender, pull=pull(**changes), label=label)


def ordinary_event(action: str = "synchronize", **changes: Any) -> Happened:
    """An event of an ordinary pull request."""
    plain = {"title": "fix: a typo", "branch": "fix-typo", "body": "", "labels": ()}
    return event(action, **{**plain, **changes})


@dataclass(frozen=True, slots=True)
class Payload:
    """A pull request's payload as GitHub sends it, with the relevant fields."""

    happened: Happened

    def as_json(self) -> dict[str, Any]:
        pull = self.happened.pull
        wrapped: dict[str, Any] = {
            "action": self.happened.action,
            "number": pull.number,
            "pull_request": pull.as_json(),
            "sender": self.happened.sender.as_json(),
            "repository": {"full_name": REPO},
        }
        if self.happened.label is not None:
            wrapped["label"] = {"name": self.happened.label}
        return wrapped

    def write(self, path: Path) -> Path:
        path.write_text(json.dumps(self.as_json()), encoding="utf-8")
        return path


def review_json(
    reviewer: Actor = REVIEWER,
    state: str = "APPROVED",
    sha: str = HEAD,
    *,
    number: int = NUMBER,
    association: str = "COLLABORATOR",
) -> dict[str, Any]:
    """A review as the API lists it."""
    return {
        "user": reviewer.as_json(),
        "state": state,
        "commit_id": sha,
        "pull_request_url": f"https://api.github.com/repos/{REPO}/pulls/{number}",
        "author_association": association,
    }


def commit_json(
    sha: str = HEAD,
    message: str = "",
    *,
    people: tuple[str, ...] = PEOPLE,
    verified: bool = False,
    author: Actor | None = None,
    number: int = NUMBER,
) -> dict[str, Any]:
    """A commit of a pull request as the API lists it, with the number that `gather` adds."""
    persons = [{"name": name, "email": email} for name, email in zip(people[::2], people[1::2], strict=True)]
    return {
        "sha": sha,
        "author": author.as_json() if author is not None else None,
        "committer": None,
        "commit": {
            **dict(zip(("author", "committer"), persons, strict=True)),
            "message": message,
            "verification": {"verified": verified},
        },
        "pull": number,
    }


def push_json(after: str, actor: Actor | None = MAKER, before: str = "0" * 40) -> dict[str, Any]:
    """A movement of a branch, as the API lists it."""
    return {"before": before, "after": after, "actor": actor.as_json() if actor is not None else None}
