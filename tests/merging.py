"""Promotions as they come to a base branch: merged in each way, with what a reviewer may have added."""

from hashlib import sha256
from typing import Literal

from coreloop.base.git.trailers import read_promoted
from coreloop.descriptions.edit import Edited
from editing import put_lines
from promoting import FILE, Project

How = Literal["fast-forward", "merge", "squash"]


def read_trailers(text: str) -> dict[str, str]:
    """The trailers of the last candidate in a message or a description."""
    return read_promoted(f"\n{text}")[-1]


def full_key(key: str) -> str:
    """The key of a test's short name for it, in the form that history reads."""
    return key if len(key) == 16 else sha256(key.encode()).hexdigest()[:16]


def message(key: str, *, phase: str = "R", target: str = f"{FILE}::analysis") -> str:
    """What coreloop writes into a commit, as far as history reads it."""
    return (
        f"[CORELOOP-{phase}] docs(analysis): how it is used\n\nAppends.\n\n"
        f"Phase: {phase}\nCandidate-Id: cand-{key}\nCandidate-Key: {full_key(key)}\nTarget: {target}\n"
    )


def inserted(source: bytes, line: str, *, section: str = "Guide") -> bytes:
    """A file with one more line in a docstring."""
    edited = put_lines(source, "analysis", [line], section=section)
    assert isinstance(edited, Edited), edited
    return edited.source


def open_promotion(project: Project, key: str, **environ: str) -> str:
    """A promotion on a branch of its own; gives the branch. The base branch is checked out afterwards."""
    branch = f"skill/docstring-{key}"
    project.git("switch", "--quiet", "--create", branch, "main")
    source = inserted((project.root / FILE).read_bytes(), f"- Call: show_{key}().")
    project.commit({FILE: source}, message(key), **environ)
    project.git("switch", "--quiet", "main")
    return branch


def land(project: Project, branch: str, how: How = "merge", **environ: str) -> str:
    """Merge a branch and delete it, as GitHub's buttons do; gives the commit on the base branch."""
    if how == "squash":
        text = project.git("log", "--format=%B", "--reverse", f"main..{branch}")
        project.git("merge", "--quiet", "--squash", branch)
        project.git("commit", "--quiet", "-m", text, **environ)
    else:
        option = "--ff-only" if how == "fast-forward" else "--no-ff"
        project.git("merge", "--quiet", option, "-m", f"Merge branch {branch}", branch, **environ)
    project.git("branch", "--quiet", "--delete", "--force", branch)
    return project.git("rev-parse", "HEAD")


def promote(project: Project, key: str, how: How = "merge", **environ: str) -> str:
    """Open a promotion and merge it."""
    return land(project, open_promotion(project, key, **environ), how, **environ)


def revert(project: Project, sha: str, **environ: str) -> str:
    """Take a commit, or what a merge brought, back."""
    merge = len(project.git("log", "-1", "--format=%P", sha).split()) > 1
    project.git("revert", "--no-edit", *(["--mainline", "1"] if merge else []), sha, **environ)
    return project.git("rev-parse", "HEAD")
