"""What counts as a promotion, as a table: a pull request or merge group -> green or red -> the reason.

Every row is a real repository. "ordinary" means that the guard takes it for a pull request that is not
coreloop's; "green" that it is a promotion that may go on.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from coreloop.docstrings.edit import Edited, put_lines
from coreloop.guard.event import Account, PullRequestEvent
from coreloop.guard.facts import CheckInputs, check_event, concerned
from coreloop.guard.policy import Decision
from coreloop.promote.pull_request import commit_message
from coreloop.proposals.advice import statement_key
from coreloop.proposals.lines import is_form
from guarding import (
    NOT_APPLICABLE,
    Payload,
    approval,
    edit,
    ordinary_event,
    pull_json,
    review_json,
    statement_proposal,
)
from promoting import FILE, OTHER_FILE, SOURCE, Project

LINE = "- First: show"
BRANCH = "skill/docstring-analysis-general-20260425"
MESSAGE = commit_message([statement_proposal()], NOT_APPLICABLE, section=None)
TITLE, _, BODY = MESSAGE.partition("\n\n")
PROMOTED = edit(proposal=statement_proposal())
BETTER, WORSE = "- company: from show().code", "- company: from show().name"
GITHUB = {"GIT_COMMITTER_NAME": "GitHub", "GIT_COMMITTER_EMAIL": "noreply@github.com"}
HUMAN_EDIT = SOURCE.replace(b"Ratios of a company.", b"Ratios of a company.\n\n    - Fast, since cached.")
STRAY = "is a line of coreloop's and comes without its promotion"
DEPENDABOT = Account("dependabot[bot]", human=False)


@dataclass
class Bench:
    """A repository whose branch main is protected, and the pull request that a row makes in it."""

    project: Project
    words: dict[str, Any] = field(default_factory=dict)

    def git(self, *words: str, **environ: str) -> str:
        return self.project.git(*words, **environ)

    def start(self, name: str, at: str = "main") -> None:
        self.git("switch", "--quiet", "--create", name, at)

    def write(self, source: bytes, message: str, path: str = FILE, **environ: str) -> str:
        return self.project.commit({path: source}, message, **environ)

    def promote(self, source: bytes = PROMOTED, message: str = MESSAGE, at: str = "main") -> str:
        """The commit and the branch that promote pushes, and the words of its pull request."""
        self.start(BRANCH, at)
        title, _, body = message.partition("\n\n")
        self.words = {"title": title, "body": body, "branch": BRANCH, "labels": ("coreloop",)}
        return self.write(source, message)

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

    def call(self, **words: Any) -> None:
        self.words = words

    def event(self, base: str = "main", action: str = "synchronize", **more: Any) -> PullRequestEvent:
        shas = {"head_sha": self.git("rev-parse", "HEAD"), "base_sha": self.git("rev-parse", base)}
        return ordinary_event(action, **{**shas, "base": base, **self.words, **more})

    def decide(self, happened: PullRequestEvent) -> Decision:
        self.git("switch", "--quiet", happened.pull.base)
        path = self.project.candidates.parent / "event.json"
        payload = {**Payload(happened).as_json(), "repository": {"default_branch": "main"}}
        path.write_text(json.dumps(payload), encoding="utf-8")
        return check_event(CheckInputs(event=path, event_name="pull_request", folder=self.project.root))


@pytest.fixture
def bench(project: Project) -> Bench:
    return Bench(project)


# --- pull requests: what is done -------------------------------------------------------------------


def as_promote_makes_it(bench: Bench) -> None:
    bench.promote()


def update_branch(bench: Bench) -> None:
    bench.promote()
    bench.git("switch", "--quiet", "main")
    bench.write(b"x = 1\n", "fix: x", "other.py")
    bench.git("switch", "--quiet", BRANCH)
    bench.git("merge", "--quiet", "--no-edit", "main", **GITHUB)


def update_branch_with_a_change(bench: Bench) -> None:
    update_branch(bench)
    (bench.project.root / "other.py").write_text("x = 2\n")
    bench.git("commit", "--quiet", "--all", "--amend", "--no-edit", **GITHUB)


def suggestion_that_proves(bench: Bench) -> None:
    bench.promote(PROMOTED.replace(b"First:", b"First :"))
    bench.write(PROMOTED, "Update tools/finance.py", **GITHUB)


def suggestion_of_another_line(bench: Bench) -> None:
    bench.promote()
    bench.write(PROMOTED.replace(b"First: show", b"First: look"), "Apply suggestions", **GITHUB)


def suggestion_for_code(bench: Bench) -> None:
    bench.promote()
    bench.write(PROMOTED.replace(b"return {", b"return 1 or {"), "Apply suggestions", **GITHUB)


def second_commit(bench: Bench) -> None:
    bench.promote(PROMOTED.replace(b"First:", b"First :"))
    bench.write(PROMOTED, "fix: the line")


def without_trailers(bench: Bench) -> None:
    bench.start("docs")
    bench.write(PROMOTED, "docs: analysis")


def trailers_in_lower_case(bench: Bench) -> None:
    bench.start("docs")
    bench.write(PROMOTED, f"docs: analysis\n\n{BODY.lower()}")


def trailers_in_the_body_only(bench: Bench) -> None:
    without_trailers(bench)
    bench.call(body=BODY)


def in_a_bigger_change(bench: Bench) -> None:
    bench.start("rework")
    bench.write(b"x = 1\n", "feat: x", "other.py")
    bench.write(PROMOTED.replace(b"return {", b"return 1 or {"), "feat: y")


def one_line_docstring(bench: Bench) -> None:
    bench.start("docs")
    bench.write(
        OTHER.replace(b'"""Shows a company."""', rb'"Shows.\n\n\x2d First: analysis"'), "x", OTHER_FILE
    )


OTHER = b'def show(company: str) -> str:\n    """Shows a company."""\n    return company\n'


def wrapped(bench: Bench) -> None:
    bench.start("docs")
    line = b"\n\n    - company: from\n      show().code"
    bench.write(SOURCE.replace(b"of a company.", b"of a company." + line), "docs: x")


def reapply(bench: Bench) -> None:
    bench.land()
    bench.git("revert", "--no-edit", "HEAD")
    bench.push()
    bench.start("reapply-7")
    bench.write(PROMOTED, f'Reapply "{TITLE}"\n\nThis reverts commit {bench.git("rev-parse", "main")}.')


def file_python_cannot_read(bench: Bench) -> None:
    bench.start("docs")
    bench.write(PROMOTED + b"def (:\n", "docs: x")


def moved_to_another_tool(bench: Bench) -> None:
    bench.land()
    bench.start("docs")
    more = b'\n\ndef scan(company):\n    """Scans.\n\n    - First: show\n    """\n'
    bench.write(PROMOTED + more, "feat: scan")


def dependabot(bench: Bench) -> None:
    bench.start("dependabot/pip/polars-1.2")
    bench.write(b"polars==1.2\n", "build: bump polars", "requirements.txt")
    bench.call(author=DEPENDABOT, labels=("dependencies", "automerge"), auto_merge=True)


def human_docstring(bench: Bench) -> None:
    bench.start("docs")
    bench.write(HUMAN_EDIT, "docs: analysis\n\nSigned-off-by: A Tester <tester@example.org>")


def human_bullet_of_unknown_words(bench: Bench) -> None:
    bench.start("docs")
    bench.write(HUMAN_EDIT.replace(b"Fast, since cached.", b"Use for: charts"), "docs: analysis")


def docstring_near_promoted_lines(bench: Bench) -> None:
    bench.land()
    bench.start("docs")
    bench.write(PROMOTED.replace(b"Ratios of", b"All ratios of"), "docs: analysis")


def rename(bench: Bench) -> None:
    bench.land()
    bench.start("move")
    bench.git("mv", FILE, "tools/ratios.py")
    renamed = PROMOTED.replace(b"def analysis", b"def ratios")
    bench.write(renamed, "refactor: names", "tools/ratios.py")


def release(bench: Bench) -> None:
    bench.git("branch", "release")
    bench.land()
    bench.start("to-release", "main")
    bench.call(title="Release 1.2", branch="main", labels=("coreloop",))


def release_by_a_merge(bench: Bench) -> None:
    bench.git("branch", "release")
    bench.land()
    bench.start("to-release", "release")
    bench.git("merge", "--quiet", "--no-ff", "--no-edit", "main")
    bench.git("switch", "--quiet", "main")
    bench.git("revert", "--no-edit", "HEAD")  # main goes on, and the release branch keeps what it had
    bench.push()
    bench.git("switch", "--quiet", "to-release")


def backport(bench: Bench) -> None:
    bench.git("branch", "release")
    sha = bench.land()
    bench.start("backport-7-to-release", "release")
    bench.git("cherry-pick", "-x", sha)
    bench.call(title=TITLE, branch="backport-7-to-release")


def backport_of_more(bench: Bench) -> None:
    backport(bench)
    edited = put_lines(PROMOTED, "analysis", [BETTER], is_ours=is_form)
    assert isinstance(edited, Edited)
    bench.write(edited.source, "docs: more")


def backport_of_nothing_landed(bench: Bench) -> None:
    bench.git("branch", "release")
    bench.promote()
    bench.start("backport", "release")
    bench.git("cherry-pick", BRANCH)
    bench.call(title="chore: backport", branch="backport")


def revert_by_button(bench: Bench) -> None:
    sha = bench.land()
    bench.start(f"revert-7-{BRANCH}")
    bench.git("revert", "--no-edit", sha)
    bench.call(title=f'Revert "{TITLE}"', body="Reverts octo/tools#7", branch=f"revert-7-{BRANCH}")


def revert_that_restores_a_line(bench: Bench) -> None:
    """The reverted promotion had replaced an older line."""
    first, second = (with_line(line) for line in (WORSE, BETTER))
    bench.land(*first)
    sha = bench.land(*second)
    bench.start("revert-8")
    bench.git("revert", "--no-edit", sha)


def with_line(line: str) -> tuple[bytes, str]:
    """The file with a line about the source of an argument, and its commit's message."""
    key = statement_key("analysis", line, "Guide")
    proposal = statement_proposal(line=line, kind="source", key=key)
    return edit(proposal=proposal), commit_message([proposal], NOT_APPLICABLE, section=None)


def quoted_trailers(bench: Bench) -> None:
    bench.start("docs")
    quoted = "".join(f"> {line}\n" for line in BODY.splitlines())
    bench.write(b"x = 1\n", f"docs: on trailers\n\n{quoted}\n```\n{BODY}\n```\n", "other.py")
    bench.call(body=f"```\n{BODY}\n```")


def other_branch_of_that_prefix(bench: Bench) -> None:
    bench.start("skill/search")
    bench.write(b"x = 1\n", "feat: search", "other.py")
    bench.call(branch="skill/search", title="Coreloop F-strings", labels=("coreloop",))


TABLE: list[tuple[Callable[[Bench], None], str, str, str]] = [
    # what is done, into which branch, the answer, the reason
    (as_promote_makes_it, "main", "green", ""),
    (update_branch, "main", "green", ""),
    (update_branch_with_a_change, "main", "red", "2 files change; a promotion changes only one"),
    (suggestion_that_proves, "main", "green", ""),
    (suggestion_of_another_line, "main", "red", "the Candidate-Key is not the line's key"),
    (suggestion_for_code, "main", "red", "something outside of the docstring of analysis changes"),
    (second_commit, "main", "red", "it has 2 commits; a promotion has exactly one"),
    (without_trailers, "main", "red", STRAY),
    (trailers_in_lower_case, "main", "red", "lacks the trailers Phase"),
    (trailers_in_the_body_only, "main", "red", STRAY),
    (in_a_bigger_change, "main", "red", STRAY),
    (one_line_docstring, "main", "red", f"{OTHER_FILE}: - First: analysis {STRAY}"),
    (wrapped, "main", "red", f"{FILE}: {BETTER} {STRAY}"),
    (reapply, "main", "red", STRAY),
    (file_python_cannot_read, "main", "red", STRAY),
    (moved_to_another_tool, "main", "red", STRAY),
    (backport_of_more, "release", "red", f"{FILE}: {BETTER} {STRAY}"),
    (backport_of_nothing_landed, "release", "red", "branch backport does not match its commit"),
    (dependabot, "main", "ordinary", ""),
    (human_docstring, "main", "ordinary", ""),
    (human_bullet_of_unknown_words, "main", "ordinary", ""),
    (docstring_near_promoted_lines, "main", "ordinary", ""),
    (rename, "main", "ordinary", ""),
    (release, "release", "ordinary", ""),
    (release_by_a_merge, "release", "ordinary", ""),
    (backport, "release", "ordinary", ""),
    (revert_by_button, "main", "ordinary", ""),
    (revert_that_restores_a_line, "main", "ordinary", ""),
    (quoted_trailers, "main", "ordinary", ""),
    (other_branch_of_that_prefix, "main", "ordinary", ""),
]


@pytest.mark.parametrize(
    ("build", "base", "answer", "reason"), TABLE, ids=[row[0].__name__.replace("_", " ") for row in TABLE]
)
def test_pull_request(build: Callable[[Bench], None], base: str, answer: str, reason: str, bench: Bench):
    build(bench)
    decision = bench.decide(bench.event(base))
    given = "ordinary" if not decision.claims else "green" if decision.passes else "red"
    assert given == answer, decision
    assert any(reason in text for text in decision.reasons) or not reason, decision.reasons


def test_a_merge_label_is_taken_off_a_promotion_that_its_lines_give_away(bench: Bench):
    without_trailers(bench)
    decision = bench.decide(bench.event(labels=("automerge",), auto_merge=True))
    assert len(decision.reasons) == 3
    assert [action.what for action in decision.actions] == ["remove_label", "disable_auto_merge"]


# --- merge groups: what is queued ------------------------------------------------------------------


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

    def decide(self) -> Decision:
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
        return check_event(
            replace(
                inputs,
                pulls=self.written("pulls", [pull_json(pull) for pull in pulls]),
                reviews=self.written("reviews", [review_json(review) for review in reviews]),
            )
        )

    def written(self, name: str, content: Any) -> Path:
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path


def ordinary_entry(queue: Queue, way: str) -> None:
    queue.bench.start("work")
    queue.bench.write(HUMAN_EDIT, "docs: analysis")
    queue.bench.start("group")
    queue.add(8, "work", way, title="docs: analysis")


def promotion_with_approval(queue: Queue, way: str) -> None:
    queue.bench.promote()
    queue.bench.start("group")
    queue.add(7, BRANCH, way, approved=True, **queue.bench.words)


def promotion_without_approval(queue: Queue, way: str) -> None:
    queue.bench.promote()
    queue.bench.start("group")
    queue.add(7, BRANCH, way, **queue.bench.words)


def updated_promotion(queue: Queue, way: str) -> None:
    update_branch(queue.bench)
    queue.bench.start("group")
    queue.add(7, BRANCH, way, approved=True, **queue.bench.words)


def lines_without_trailers(queue: Queue, way: str) -> None:
    without_trailers(queue.bench)
    queue.bench.start("group")
    queue.add(8, "docs", way, title="docs: analysis")


def lines_behind_a_promotion(queue: Queue, way: str) -> None:
    """Another pull request of the group brings a second line, without trailers."""
    promotion_with_approval(queue, way)
    queue.bench.start("docs")
    queue.bench.write(SECOND, "docs: show", OTHER_FILE)
    queue.bench.git("switch", "--quiet", "group")
    queue.add(8, "docs", way, title="docs: show")


SECOND = OTHER.replace(b"Shows a company.", b"Shows a company.\n\n    - First: analysis\n    ")


def behind_a_promotion_with_approval(queue: Queue, way: str) -> None:
    promotion_with_approval(queue, way)
    queue.bench.start("work")
    queue.bench.write(b"x = 1\n", "fix: x", "other.py")
    queue.bench.git("switch", "--quiet", "group")
    queue.add(8, "work", way, title="fix: x")


def behind_a_promotion_without_approval(queue: Queue, way: str) -> None:
    """A queue may merge if only its last entry is green, so every entry looks at those before it."""
    promotion_without_approval(queue, way)
    queue.bench.start("work")
    queue.bench.write(b"x = 1\n", "fix: x", "other.py")
    queue.bench.git("switch", "--quiet", "group")
    queue.add(8, "work", way, title="fix: x")


NO_APPROVAL = "#7 is queued, but no human other than its author has approved"
GROUPS: list[tuple[Callable[[Queue, str], None], str, str]] = [
    # what is queued, the answer, the reason
    (ordinary_entry, "ordinary", ""),
    (promotion_with_approval, "green", ""),
    (promotion_without_approval, "red", NO_APPROVAL),
    (lines_without_trailers, "red", STRAY),
    (lines_behind_a_promotion, "red", f"{OTHER_FILE}: - First: analysis {STRAY}"),
    (behind_a_promotion_with_approval, "green", ""),
    (behind_a_promotion_without_approval, "red", NO_APPROVAL),
]
WAYS = ("merge", "squash", "rebase")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("build", "answer", "reason"), GROUPS, ids=[row[0].__name__.replace("_", " ") for row in GROUPS]
)
def test_merge_group(
    build: Callable[[Queue, str], None], answer: str, reason: str, way: str, bench: Bench, tmp_path: Path
):
    assert_group(build, answer, reason, way, Queue(bench, tmp_path))


@pytest.mark.parametrize("way", ["merge", "squash"])
def test_updated_branch_is_queued(way: str, bench: Bench, tmp_path: Path):
    assert_group(updated_promotion, "green", "", way, Queue(bench, tmp_path))


def assert_group(
    build: Callable[[Queue, str], None], answer: str, reason: str, way: str, queue: Queue
) -> None:
    build(queue, way)
    decision = queue.decide()
    given = "ordinary" if not decision.claims else "green" if decision.passes else "red"
    assert given == answer, decision
    assert any(reason in text for text in decision.reasons) or not reason, decision.reasons
