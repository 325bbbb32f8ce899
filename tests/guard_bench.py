"""A repository with a protected branch, and its pull requests: the rows of guard-decisions.md."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coreloop.guard.check import check_event
from coreloop.guard.decision import GuardDecision
from coreloop.guard.event import Account, PullRequestEvent, Push, Review
from coreloop.guard.inputs import CheckInputs
from coreloop.learn.proposals.statement_lines import statement_key
from coreloop.promote.pull_request_text import commit_message
from guarding import (
    MAKER,
    NOT_APPLICABLE,
    REPO,
    Payload,
    account_json,
    approval,
    commit_json,
    edit,
    ordinary_event,
    pull_json,
    review_json,
    statement_proposal,
)
from promoting import FILE, SOURCE, Project

PAGE = Path(__file__).parents[1] / "docs/reference/guard-decisions.md"
LINE = "- First: show"
BRANCH = "skill/docstring-analysis-general-20260425"
MESSAGE = commit_message([statement_proposal()], NOT_APPLICABLE, section=None)
TITLE, _, BODY = MESSAGE.partition("\n\n")
TRAILERS = BODY.partition("\n\n")[2].strip()
QUOTED = "\n".join(f"> {line}" for line in TRAILERS.splitlines())
PROMOTED = edit(proposal=statement_proposal())
BETTER, WORSE = "- company: from show().code", "- company: from show().name"
GITHUB = {"GIT_COMMITTER_NAME": "GitHub", "GIT_COMMITTER_EMAIL": "noreply@github.com"}
HUMAN_EDIT = SOURCE.replace(b"Ratios of a company.", b"Ratios of a company.\n\n    - Fast, since cached.")


@dataclass
class Bench:
    """A repository whose branch main is protected, and the pull request that a row makes in it.

    `pushes` are its branch's activity, `accounts` the authors' by name, and a `forged` address of GitHub's is
    not verified.
    """

    project: Project
    words: dict[str, Any] = field(default_factory=dict)
    base: str = "main"
    reviews: tuple[Review, ...] = ()
    pushes: tuple[Push, ...] | None = None
    accounts: dict[str, Account] = field(default_factory=dict)
    forged: bool = False
    pusher: Account = MAKER

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
        author: Account = MAKER,
        **environ: str,
    ) -> str:
        """The commit and the branch that promote pushes, and the words of its pull request."""
        self.start(BRANCH, at)
        title, _, body = message.partition("\n\n")
        words = {"title": title, "body": body, "branch": BRANCH, "labels": ("coreloop",)}
        self.words = {**words, "author": author}
        self.pusher = author
        return self.write(source, message, **environ)

    def update(self, **environ: str) -> None:
        """The button "Update branch", after the base moved."""
        self.git("switch", "--quiet", "main")
        self.write(b"x = 1\n", "fix: x", "other.py")
        self.git("switch", "--quiet", BRANCH)
        self.git("merge", "--quiet", "--no-edit", "main", **{**environ, **GITHUB})

    def land(self, source: bytes = PROMOTED, message: str = MESSAGE) -> str:
        """A promotion that humans merged into main by a squash; main stays checked out."""
        self.git("switch", "--quiet", "main")
        subject, _, rest = message.partition("\n")
        sha = self.write(source, f"{subject} (#7)\n{rest}")
        self.push()
        return sha

    def pushed(self, actor: Account, before: str = "main", after: str = "HEAD") -> None:
        """Somebody pushed ``before..after`` at once; "" for a new branch."""
        old, new = (self.git("rev-parse", end) if end else "0" * 40 for end in (before, after))
        self.pushes = (*(self.pushes or ()), Push(new, actor, old))

    def call(self, **words: Any) -> None:
        self.words = words

    def event(self, action: str | None = None, **more: Any) -> PullRequestEvent:
        shas = {"head_sha": self.git("rev-parse", "HEAD"), "base_sha": self.git("rev-parse", self.base)}
        words = {"action": action or "synchronize", **shas, "base": self.base, **self.words, **more}
        return ordinary_event(**words)

    def review(self, *, sha: str | None = None, **more: Any) -> None:
        """The promotion is ready, and somebody has reviewed it."""
        self.words["draft"] = False
        self.reviews = (approval(sha=sha or self.git("rev-parse", "HEAD"), **more),)

    def push(self, branch: str = "main") -> None:
        self.git("push", "--quiet", "origin", branch)
        self.git("fetch", "--quiet", "origin")

    def shown(self, base: str, head: str) -> list[dict[str, Any]]:
        """The commits of a pull request as GitHub shows them: it has verified those that it made itself."""
        fields = "%H%x1f%an%x1f%ae%x1f%cn%x1f%ce%x1f%B"
        log = self.git("log", "-z", f"--format={fields}", f"{base}..{head}")
        commits = [part.split("\x1f") for part in log.split("\0") if part]
        return [
            commit_json(
                sha,
                tuple(people),
                message,
                verified=people[3] == GITHUB["GIT_COMMITTER_EMAIL"] and not self.forged,
                author=self.accounts.get(people[0]),
            )
            for sha, *people, message in commits
        ]

    def activity(self, shown: list[dict[str, Any]]) -> tuple[Push, ...]:
        """The pushes of the pull request's branch, each of one commit, unless the test has its own."""
        if self.pushes is not None:
            return self.pushes
        made = ((commit["sha"], commit["commit"]) for commit in shown)
        return tuple(
            Push(
                sha,
                self.pusher
                if not its["verification"]["verified"]
                else Account(its["author"]["name"], human=True),
            )
            for sha, its in made
        )

    def decide(self, happened: PullRequestEvent) -> GuardDecision:
        self.git("switch", "--quiet", happened.pull.base)
        folder = self.project.candidates.parent
        shown = self.shown(happened.pull.base_sha, happened.pull.head_sha)
        live = {**pull_json(happened.pull), "activity": pushes_json(self.activity(shown))}
        live["head"]["repo"]["full_name"] = REPO if happened.pull.same_repo else "mallory/tools"
        payload = {**Payload(happened).as_json(), "repository": {"default_branch": "main"}}
        reviews = [review_json(review) for review in self.reviews]
        contents = {"event": payload, "reviews": reviews, "pulls": [live], "commits": shown}
        for name, content in contents.items():
            (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        return check_event(
            CheckInputs(
                event=folder / "event.json",
                event_name="pull_request",
                folder=self.project.root,
                **{name: folder / f"{name}.json" for name in ("reviews", "pulls", "commits")},
            )
        )


OTHER = b'def show(company: str) -> str:\n    """Shows a company."""\n    return company\n'


def update_branch(bench: Bench) -> None:
    """Its "Update branch" button was pressed"""
    bench.promote()
    bench.update()


def suggestion_that_proves(bench: Bench) -> None:
    """A reviewer's suggestion, committed on GitHub, that restores the promoted line"""
    bench.promote(PROMOTED.replace(b"First:", b"First :"))
    bench.write(PROMOTED, "Update tools/finance.py", **GITHUB)


def without_trailers(bench: Bench) -> None:
    """Its line in another pull request, without trailers"""
    bench.start("docs")
    bench.write(PROMOTED, "docs: analysis")


def pushes_json(pushes: tuple[Push, ...]) -> list[dict[str, Any]]:
    """The activity of a branch, as the API lists it."""
    return [
        {"before": push.before, "after": push.after, "actor": account_json(push.actor)} for push in pushes
    ]


def with_line(line: str) -> tuple[bytes, str]:
    """The file with a line about the source of an argument, and its commit's message."""
    key = statement_key("analysis", line, "Guide")
    proposal = statement_proposal(line=line, kind="source", key=key)
    return edit(proposal=proposal), commit_message([proposal], NOT_APPLICABLE, section=None)


def rows(heading: str) -> dict[str, tuple[str, str]]:
    """Answer and reasons by the first cell, of the page's table below a heading."""
    part = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
    cells = [[cell.strip() for cell in line.strip("|").split(" |")] for line in lines]
    return {name: (answer, rest[0] if rest else "") for name, answer, *rest in cells}


def named(build: Callable[..., None]) -> str:
    """The row's first cell."""
    return (build.__doc__ or "").partition("\n")[0]


def assert_row(row: tuple[str, str], decision: GuardDecision) -> None:
    """The page has the words that the check prints; ``…`` stands for a commit."""
    answer, reasons = row
    assert answer == ANSWERS[decision.state], decision
    assert reasons == printed(decision)


def printed(decision: GuardDecision) -> str:
    """The last cell of a decision's row."""
    words = (*decision.reasons, *decision.waits, *(f"note: {note}" for note in decision.notes))
    return "<br>".join(re.sub(r"\b[0-9a-f]{12}\b|/\S+/(?=coreloop\.yaml)", "…", reason) for reason in words)


ANSWERS = {"success": "green", "pending": "waits", "failure": "red"}
