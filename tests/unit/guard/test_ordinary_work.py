"""Ordinary pull requests, as people and their bots open them, which the guard must not hold up."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from guard_bench import BODY, GITHUB, MESSAGE, PROMOTED, TRAILERS, Bench, message_of
from guarding import MAKER, Actor
from promoting import FILE, SOURCE
from rows import slow_after

DEPENDABOT = Actor("dependabot[bot]", human=False)
PRE_COMMIT = {"GIT_AUTHOR_NAME": "pre-commit-ci[bot]", "GIT_AUTHOR_EMAIL": "66853113+pre-commit-ci[bot]@x"}
SOURCED = PROMOTED.replace(b"- company: from show().code", b"- axis: from show().name")
TEXT = b"Ratios of a company."


@dataclass(frozen=True)
class Work:
    """A pull request: the files of its commit, and what is on the base before it."""

    title: str
    files: dict[str, bytes]
    landed: bytes | None = None
    words: dict[str, Any] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    message: str = ""


def docs(text: bytes, source: bytes = SOURCE) -> dict[str, bytes]:
    """The file with another summary."""
    assert TEXT in source
    return {FILE: source.replace(TEXT, text)}


def by(author: Actor, **words: Any) -> dict[str, Any]:
    return {"author": author, "sender": author, "draft": False, **words}


WORKS = (
    # a refactoring of what a promoted line is about
    Work("refactor: code becomes ticker", {FILE: SOURCED.replace(b"().code", b"().ticker")}, landed=SOURCED),
    Work(
        "docs: the promoted line, corrected",
        {FILE: PROMOTED.replace(b": show", b": search")},
        landed=PROMOTED,
    ),
    Work("docs: without the promoted line", {FILE: SOURCE}, landed=PROMOTED),
    Work(
        "refactor: the tool is renamed",
        {FILE: PROMOTED.replace(b"def analysis", b"def ratios")},
        landed=PROMOTED,
    ),
    # copies
    Work("chore: vendor the tools", {f"vendor/{FILE}": PROMOTED}, landed=PROMOTED),
    # a person's own lines
    Work("docs: never empty", docs(b"Ratios of a company.\n\n    - company: never empty\n")),
    # branches, titles, labels, messages
    Work(
        "fix: auto-merge when green",
        {"x.py": b"x = 1\n"},
        words=by(MAKER, labels=("automerge",), auto_merge=True),
    ),
    Work("docs: from a fork", docs(b"Ratios of companies."), words={"same_repo": False}),
    # syntax that the checker's Python does not know, and other encodings
    Work("test: a broken file", {"tests/bad.py": b"def (:\n    - a: b\n"}),
    # bots
    Work(
        "build: bump polars",
        {"requirements.txt": b"polars==1.2\n"},
        words=by(DEPENDABOT, auto_merge=True, labels=("automerge",)),
    ),
    Work(
        "refactor: moved, and formatted by a bot",
        {"tools/new.py": PROMOTED, FILE: SOURCE},
        landed=PROMOTED,
        environ=PRE_COMMIT,
    ),
)


@pytest.mark.parametrize("work", slow_after(4, WORKS), ids=[work.title.replace(" ", "-") for work in WORKS])
def test_ordinary_work_passes(work: Work, bench: Bench):
    if work.landed is not None:
        bench.land(work.landed)
    bench.start("work")
    bench.project.commit(work.files, work.message or work.title, **work.environ)
    bench.words = {"title": work.title, **work.words}
    decision = bench.decide(bench.event())
    assert (decision.coreloop, decision.state, decision.undo) == (False, "success", ()), decision


# --- what brings a merged promotion elsewhere, or takes it back -----------------------------------------


def release(bench: Bench) -> None:
    """The default branch goes into a release branch, with promotions and other work."""
    bench.git("branch", "release", "main")
    bench.land()
    bench.write(b"x = 1\n", f"{MESSAGE.splitlines()[0]}\n\nWithout trailers.", "other.py")
    bench.push()
    bench.base, bench.words = "release", {"title": "Release 2", "body": BODY}
    bench.start("next")


def backport(bench: Bench) -> None:
    """A promotion is picked to a release branch, with a title that still has its mark."""
    bench.git("branch", "release", "main")
    sha = bench.land()
    bench.start("backport", "release")
    bench.git("cherry-pick", "-x", sha)
    bench.base, bench.words = "release", {"title": f"{MESSAGE.splitlines()[0]} (backport)"}


def backport_resolved(bench: Bench) -> None:
    """The same after a conflict, with other bytes."""
    bench.git("branch", "release", "main")
    bench.land()
    bench.start("backport", "release")
    bench.write(PROMOTED.replace(b"Ratios", b"The ratios"), MESSAGE)
    bench.base, bench.words = "release", {"title": "Backport", "body": BODY}


def merged_back(bench: Bench) -> None:
    """A release branch with a picked promotion comes back, with a person's own line beside it."""
    backport(bench)
    bench.write(
        PROMOTED.replace(b"company: from show().code\n", b"company: from show().code\n    - Fast.\n"),
        "docs: fast",
    )
    bench.base, bench.words = "main", {"title": "Merge release 1"}


def reverted(bench: Bench) -> None:
    """GitHub's revert button, with a merge label."""
    sha = bench.land()
    bench.start("revert-7")
    bench.git("revert", "--no-edit", sha)
    bench.words = {"title": f'Revert "{MESSAGE.splitlines()[0]}"', "labels": ("automerge",)}


def quoted(bench: Bench) -> None:
    """A revert whose description quotes the promotion that it takes back."""
    reverted(bench)
    bench.words["body"] = f"Reverts octo/tools#7\n\n{TRAILERS}\n"


def brought_back(bench: Bench) -> None:
    """The revert of a revert."""
    reverted(bench)
    bench.git("switch", "--quiet", "main")
    bench.git("merge", "--quiet", "--ff-only", "revert-7")
    bench.push()
    bench.start("again")
    bench.git("revert", "--no-edit", "HEAD")


def pasted(bench: Bench) -> None:
    """Other work with the trailers of a merged promotion."""
    bench.land()
    bench.start("work")
    bench.write(b"x = 1\n", f"fix: x\n\n{TRAILERS}\n", "other.py")
    bench.words = {"title": "fix: x", "body": TRAILERS}


def test_the_title_and_trailers_of_a_merged_promotion_make_no_other_work_ordinary(bench: Bench):
    pasted(bench)
    bench.words = {"title": f"[CORELOOP-F] docs(analysis): {TRAILERS.splitlines()[0]}", "body": TRAILERS}
    decision = bench.decide(bench.event())
    assert (decision.coreloop, decision.state) == (True, "failure"), decision


@pytest.mark.parametrize(
    "build",
    slow_after(
        3, [backport, merged_back, quoted, release, backport_resolved, reverted, brought_back, pasted]
    ),
)
def test_what_is_merged_is_ordinary_elsewhere(build, bench: Bench):
    build(bench)
    decision = bench.decide(bench.event())
    assert (decision.coreloop, decision.state) == (False, "success"), decision


def corrected(bench: Bench) -> None:
    """Another line under the trailers of a merged promotion."""
    bench.land()
    bench.start("work")
    bench.write(
        PROMOTED.replace(b"company: from show().code", b"company: from search().hits[].company"),
        f"docs: x\n\n{TRAILERS}\n",
    )


def other_target(bench: Bench) -> None:
    """The same, with the name of another docstring in the trailers."""
    corrected(bench)
    bench.git("commit", "--quiet", "--amend", "-m", f"docs: x\n\n{TRAILERS.replace('::analysis', '::other')}")


def promoted_again(bench: Bench) -> None:
    """A promotion whose line is gone, promoted again with a line more."""
    bench.land()
    bench.write(SOURCE, "docs: without the line")
    bench.push()
    more = PROMOTED.replace(
        b"company: from show().code\n",
        b"company: from show().code\n    - axis: from search().hits[].company\n",
    )
    bench.promote(more)


def not_merged(bench: Bench) -> None:
    """A backport of what nobody merged."""
    bench.promote()
    bench.words = {"title": "Backport"}
    bench.write(b"x = 1\n", "fix: x", "other.py")


def other_key(bench: Bench) -> None:
    """A revert with the trailers of a promotion that nobody merged."""
    bench.land()
    bench.start("work")
    trailers = message_of("- axis: from search().hits[].company").partition("Phase:")[2]
    bench.write(SOURCE, f'Revert "docs: x"\n\nPhase:{trailers}')


def merge_with_trailers(bench: Bench) -> None:
    """A merge that changes a file under the trailers of a promotion."""
    bench.start("work")
    bench.write(b"y = 1\n", "fix: y", "y.py")
    bench.update("work")
    bench.git("commit", "--quiet", "--amend", "-m", MESSAGE, **GITHUB)


@pytest.mark.parametrize(
    "build",
    slow_after(2, [corrected, other_key, other_target, promoted_again, not_merged, merge_with_trailers]),
)
def test_the_trailers_of_a_promotion_on_another_change_are_red(build, bench: Bench):
    build(bench)
    decision = bench.decide(bench.event())
    assert (decision.coreloop, decision.state) == (True, "failure"), decision
