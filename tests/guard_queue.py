"""A merge queue on top of a protected branch, and its entries as GitHub merges them."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coreloop.guard.check import check_event
from coreloop.guard.decision import GuardDecision
from coreloop.guard.event import PullRequestEvent, Push
from coreloop.guard.inputs import CheckInputs, concerned
from guard_bench import GITHUB, Bench, pushes_json
from guarding import MAKER, approval, ordinary_event, pull_json, review_json


@dataclass
class Queue:
    """A merge group on top of main, and its pull requests with their reviews."""

    bench: Bench
    folder: Path
    pulls: list[PullRequestEvent] = field(default_factory=list)
    approved: list[int] = field(default_factory=list)

    def add(self, number: int, head: str, way: str, *, approved: bool = False, **words: Any) -> None:
        """Queue a pull request, merged as GitHub does: a merge, a squash or a rebase."""
        git = self.bench.git
        happened = ordinary_event(head_sha=git("rev-parse", head), number=number, **words)
        self.pulls.append(happened)
        self.approved += [number] if approved else []
        title, body = happened.pull.title, happened.pull.body
        if way == "rebase":
            git("cherry-pick", f"main..{head}")
        elif way == "squash":
            git("merge", "--quiet", "--squash", head)
            git("commit", "--quiet", "-m", f"{title} (#{number})\n\n{body}", **GITHUB)
        else:
            subject = f"Merge pull request #{number} from octo/{happened.pull.branch}"
            git("merge", "--quiet", "--no-ff", "-m", f"{subject}\n\n{title}", head, **GITHUB)
        ref = f"refs/remotes/origin/gh-readonly-queue/main/pr-{number}-{git('rev-parse', 'HEAD^')}"
        git("update-ref", ref, "HEAD")

    def decide(self) -> GuardDecision:
        """The decision on the group, with what gather would read for the numbers that it finds."""
        git = self.bench.git
        base, head = git("rev-parse", "main"), git("rev-parse", "HEAD")
        ref = f"refs/heads/gh-readonly-queue/main/pr-{self.pulls[-1].pull.number}-{base}"
        group = {"head_sha": head, "head_ref": ref, "base_sha": git("rev-parse", "HEAD^")}
        payload = {
            "action": "checks_requested",
            "merge_group": group,
            "repository": {"default_branch": "main"},
        }
        git("switch", "--quiet", "main")
        inputs = CheckInputs(
            event=self.written("event", payload),
            event_name="merge_group",
            folder=self.bench.project.root,
            base=base,
        )
        numbers, _ = concerned(inputs)
        pulls = [happened.pull for happened in self.pulls if happened.pull.number in numbers]
        reviews = [
            approval(sha=pull.head_sha, pull=pull.number) for pull in pulls if pull.number in self.approved
        ]
        shown = {pull.number: self.bench.shown("main", pull.head_sha) for pull in pulls}
        pushed = {
            number: pushes_json(tuple(Push(commit["sha"], MAKER) for commit in commits))
            for number, commits in shown.items()
        }
        commits = [{**commit, "pull": number} for number, listed in shown.items() for commit in listed]
        return check_event(
            replace(
                inputs,
                pulls=self.written("pulls", [{**pull_json(p), "activity": pushed[p.number]} for p in pulls]),
                reviews=self.written("reviews", [review_json(review) for review in reviews]),
                commits=self.written("commits", commits),
            )
        )

    def written(self, name: str, content: Any) -> Path:
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path
