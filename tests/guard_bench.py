"""A repository with a protected branch, its pull requests and its merge queue, for tests of the guard."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coreloop.descriptions.edit import Edited
from coreloop.guard.change import CheckInputs
from coreloop.guard.check import Decision, check_event
from coreloop.learn.line import statement_key
from coreloop.promote.pull_request_text import commit_message
from editing import put_lines
from guarding import (
    MAKER,
    NOT_APPLICABLE,
    REVIEWER,
    Actor,
    Happened,
    Payload,
    commit_json,
    edit,
    ordinary_event,
    push_json,
    review_json,
    statement_proposal,
)
from promoting import FILE, SOURCE, Project

LINE = "- company: from show().code"
BRANCH = "skill/docstring-analysis-general-20260425"
MESSAGE = commit_message([statement_proposal()], NOT_APPLICABLE, section=None)
TITLE, _, BODY = MESSAGE.partition("\n\n")
TRAILERS = BODY.partition("\n\n")[2].strip()
PROMOTED = edit(proposal=statement_proposal())
GITHUB = {"GIT_COMMITTER_NAME": "GitHub", "GIT_COMMITTER_EMAIL": "noreply@github.com"}


@dataclass
class Bench:
    """A repository whose branch main is protected, and the pull request that a test makes in it.

    `pushes` are its branch's activity, `accounts` the authors' by name.
    """

    project: Project
    words: dict[str, Any] = field(default_factory=dict)
    base: str = "main"
    reviews: list[dict[str, Any]] = field(default_factory=list)
    pushes: list[dict[str, Any]] | None = None
    accounts: dict[str, Actor] = field(default_factory=dict)
    pusher: Actor = MAKER
    folder: Path | None = None

    def git(self, *words: str, stdin: bytes | None = None, **environ: str) -> str:
        return self.project.git(*words, stdin=stdin, **environ)

    def start(self, name: str, at: str = "main") -> None:
        self.git("switch", "--quiet", "--create", name, at)

    def write(self, source: bytes, message: str, path: str = FILE, **environ: str) -> str:
        return self.project.commit({path: source}, message, **environ)

    def promote(
        self,
        source: bytes = PROMOTED,
        message: str = MESSAGE,
        at: str = "main",
        author: Actor = MAKER,
        **environ: str,
    ) -> str:
        """The commit and the branch that promote pushes, and the words of its pull request."""
        self.start(BRANCH, at)
        title, _, body = message.partition("\n\n")
        words = {"title": title, "body": body, "branch": BRANCH, "labels": ("coreloop",)}
        self.words = {**words, "author": author}
        self.pusher = author
        return self.write(source, message, **environ)

    def update(self, branch: str = BRANCH, **environ: str) -> None:
        """The button "Update branch", after the base moved."""
        self.git("switch", "--quiet", "main")
        self.write(b"x = 1\n", "fix: x", "other.py")
        self.git("switch", "--quiet", branch)
        self.git("merge", "--quiet", "--no-edit", "main", **{**environ, **GITHUB})

    def land(self, source: bytes = PROMOTED, message: str = MESSAGE) -> str:
        """A promotion that humans merged into main by a squash; main stays checked out."""
        self.git("switch", "--quiet", "main")
        subject, _, rest = message.partition("\n")
        sha = self.write(source, f"{subject} (#7)\n{rest}")
        self.push()
        return sha

    def push(self, branch: str = "main") -> None:
        self.git("push", "--quiet", "origin", branch)
        self.git("fetch", "--quiet", "origin")

    def event(self, action: str = "synchronize", **more: Any) -> Happened:
        shas = {"head_sha": self.git("rev-parse", "HEAD"), "base_sha": self.git("rev-parse", self.base)}
        return ordinary_event(**{"action": action, **shas, "base": self.base, **self.words, **more})

    def review(self, reviewer: Actor = REVIEWER, state: str = "APPROVED", sha: str = "", **more: Any) -> None:
        """Somebody has reviewed the promotion."""
        self.reviews.append(review_json(reviewer, state, sha or self.git("rev-parse", "HEAD"), **more))

    def shown(self, base: str, head: str, number: int = 7) -> list[dict[str, Any]]:
        """The commits of a pull request as GitHub shows them: it has verified those that it made itself."""
        log = self.git("log", "-z", "--format=%H%x1f%an%x1f%ae%x1f%cn%x1f%ce%x1f%B", f"{base}..{head}")
        commits = [part.split("\x1f") for part in log.split("\0") if part]
        return [
            commit_json(
                sha,
                message,
                people=tuple(people),
                verified=people[3] == GITHUB["GIT_COMMITTER_EMAIL"],
                author=self.accounts.get(people[0]),
                number=number,
            )
            for sha, *people, message in commits
        ]

    def decide(self, happened: Happened) -> Decision:
        """The decision on the pull request, with what gather would read."""
        self.git("switch", "--quiet", happened.pull.base)
        shown = self.shown(happened.pull.base_sha, happened.pull.head_sha)
        own = [commit["sha"] for commit in shown if not commit["commit"]["verification"]["verified"]]
        pushes = [push_json(sha, self.pusher, f"{sha}^") for sha in own]
        activity = self.pushes if self.pushes is not None else pushes
        pulls = [{**happened.pull.as_json(), "activity": activity}]
        return self.check("pull_request", Payload(happened).as_json(), pulls, shown)

    def check(
        self, name: str, payload: dict[str, Any], pulls: Any, commits: Any, base: str | None = None
    ) -> Decision:
        folder = self.project.candidates.parent
        contents = {"event": payload, "reviews": self.reviews, "pulls": pulls, "commits": commits}
        paths = {kind: folder / f"{kind}.json" for kind in contents}
        for kind, content in contents.items():
            paths[kind].write_text(json.dumps(content), encoding="utf-8")
        project = self.folder or self.project.root
        return check_event(CheckInputs(event_name=name, folder=project, base=base, **paths))


@dataclass
class Queue:
    """A merge group on top of main, and its pull requests."""

    bench: Bench
    entries: list[Happened] = field(default_factory=list)

    def add(self, number: int, head: str, way: str, *, approved: bool = False, **words: Any) -> None:
        """Queue a pull request, merged as GitHub does: a merge, a squash or a rebase."""
        git = self.bench.git
        sha = git("rev-parse", head)
        happened = ordinary_event(head_sha=sha, number=number, **words)
        self.entries.append(happened)
        if approved:
            self.bench.reviews.append(review_json(sha=sha, number=number))
        title, body = happened.pull.title, happened.pull.body
        if way == "rebase":
            git("cherry-pick", f"main..{head}")
        elif way == "squash":
            git("merge", "--quiet", "--squash", head)
            git("commit", "--quiet", "-m", f"{title} (#{number})\n\n{body}", **GITHUB)
        else:
            subject = f"Merge pull request #{number} from octo/{happened.pull.branch}"
            git("merge", "--quiet", "--no-ff", "-m", f"{subject}\n\n{title}\n\n{body}", head, **GITHUB)

    def payload(self) -> dict[str, Any]:
        git, base = self.bench.git, self.bench.git("rev-parse", "main")
        ref = f"refs/heads/gh-readonly-queue/main/pr-{self.entries[-1].pull.number}-{base}"
        group = {"head_sha": git("rev-parse", "HEAD"), "head_ref": ref, "base_sha": git("rev-parse", "HEAD^")}
        return {"action": "checks_requested", "merge_group": group}

    def decide(self, base: str | None = "main") -> Decision:
        """The decision on the group, with what gather would read."""
        payload = self.payload()
        base = self.bench.git("rev-parse", base) if base is not None else None
        self.bench.git("switch", "--quiet", "main")
        pulls, commits = list[dict[str, Any]](), list[dict[str, Any]]()
        for entry in self.entries:
            shown = self.bench.shown("main", entry.pull.head_sha, entry.pull.number)
            commits += shown
            pulls.append({**entry.pull.as_json(), "activity": [push_json(commit["sha"]) for commit in shown]})
        return self.bench.check("merge_group", payload, pulls, commits, base)


def put(line: str, *replaced: str, source: bytes = SOURCE) -> bytes:
    """The file with a line in the first block, as promote writes it there."""
    edited = put_lines(source, "analysis", [line], is_ours=lambda _: True, replaced=replaced)
    assert isinstance(edited, Edited)
    return edited.source


def message_of(line: str) -> str:
    """The message of a promotion's commit, with the key of a line."""
    keys = (statement_key("analysis", text, "Guide") for text in (LINE, line))
    return MESSAGE.replace(*keys)
