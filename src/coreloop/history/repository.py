"""Git, as far as coreloop reads it: what is there at a revision, asked of the program itself.

The standard library alone, and nothing that writes: that is `coreloop.promote.commits`.
"""

import os
import re
import subprocess
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from coreloop.errors import GitError, NoRepositoryError
from coreloop.history.blobs import Blobs

_REGULAR: Final = frozenset({"100644", "100755"})
NO_GIT: Final = "git is not installed, or not in PATH"
# Never ask at a terminal: a nightly job would hang. Messages are read, so they are in one language.
ENVIRONMENT: Final = {"GIT_TERMINAL_PROMPT": "0", "LANGUAGE": "C", "LC_ALL": "C.UTF-8"}
_GITHUB: Final = re.compile(
    # the whole address, since a path or another host may end in the same words
    r"(?:[\w+.-]+://)?(?:[^/@\s]*@)?(?:www\.|ssh\.)?github\.com(?::[0-9]+/|[:/])/*"
    r"(?P<repo>[\w.-]+/[\w.-]+?)(?:\.git)?/?"
)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its hash, the committer's time in seconds since 1970, its whole message, its parents.

    `people` are the author's name and e-mail address and the committer's, as the commit has them.
    """

    sha: str
    committed_s: int
    message: str
    parents: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileDifference:
    """A path that differs between two commits: the modes and blobs before and after."""

    path: str
    modes: tuple[str, str]
    blobs: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Replaced:
    """A regular file with its content before and after."""

    path: str
    before: bytes
    after: bytes


class Repository:
    """The git repository that a folder belongs to.

    Parameters
    ----------
    folder : Path
        Any folder of its work tree.

    Raises
    ------
    NoRepositoryError
        It belongs to none.
    GitError
        It is bare.
    """

    def __init__(self, folder: Path) -> None:
        self.root = _root(folder)
        self._blobs = Blobs(self.root, {**os.environ, **ENVIRONMENT})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._blobs.close()

    def resolve(self, revision: str) -> str | None:
        """Hash of the commit that a revision names; None when there is none."""
        name = f"{revision}^{{commit}}"
        return self._git("rev-parse", "--verify", "--quiet", "--end-of-options", name, ok={0, 1, 128}) or None

    def is_shallow(self) -> bool:
        """Whether history was cut off by ``clone --depth``."""
        return self._git("rev-parse", "--is-shallow-repository") == "true"

    def require_history(self) -> None:
        """Refuse a clone whose history was cut off.

        Raises
        ------
        GitError
            It is shallow.
        """
        if self.is_shallow():
            raise GitError(
                "this clone is shallow, so what was promoted cannot be known; run git fetch --unshallow"
            )

    def base(self, branch: str) -> str:
        """The base branch's newest commit that this clone knows: the remote's, else its own.

        Raises
        ------
        GitError
            There is no such branch.
        """
        remote = self.remote()
        tracked = self.resolve(f"refs/remotes/{remote}/{branch}") if remote is not None else None
        sha = tracked or self.resolve(f"refs/heads/{branch}")
        if sha is None:
            raise GitError(f"there is no branch {branch}; set forge: base in coreloop.yaml")
        return sha

    def read(self, revision: str, path: str) -> bytes | None:
        """A file's bytes at a revision; None when it is not there or is no regular file."""
        entry = self._entry(revision, path)
        return None if entry is None else self._output("cat-file", "blob", entry[1])

    def log(self, revision: str, *, but: str | None = None) -> Iterator[Commit]:
        """Commits that are reachable from a revision, newest first; a child before its parents always.

        With ``but``, those that are reachable from that one are left out.
        """
        text = self._output(
            "log",
            "-z",
            "--no-show-signature",
            "--topo-order",
            "--format=%H %ct %P%n%an%n%ae%n%cn%n%ce%n%B",
            "--end-of-options",
            revision,
            *([f"^{but}"] if but is not None else []),
        )
        for part in text.decode("utf-8", "replace").split("\0"):
            head, *rest = part.split("\n", 5)
            if head:
                sha, committed, *parents = head.split()
                *people, message = rest
                yield Commit(sha, int(committed), message, tuple(parents), tuple(people))

    def message(self, sha: str) -> str:
        """A commit's whole message."""
        return self._git("log", "-1", "--no-show-signature", "--format=%B", "--end-of-options", sha)

    def changed_files(self, old: str, new: str) -> list[str]:
        """Paths that differ between two commits."""
        names = self._git("diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new)
        return [name for name in names.split("\0") if name]

    def replaced_file(self, old: str, new: str) -> Replaced | None:
        """The only file that differs between two commits, if it is a regular one and kept name and mode."""
        found = self.differences(old, new)
        if len(found) != 1 or found[0].modes[0] != found[0].modes[1] or found[0].modes[1] not in _REGULAR:
            return None
        path, blobs = found[0].path, found[0].blobs
        before, after = map(self._blobs.read, blobs)
        if before is None or after is None:
            raise GitError(f"git has no content for {path} in {new[:12]}; run git fetch")
        return Replaced(path, before, after)

    def merge_base(self, one: str, other: str) -> str | None:
        """The newest commit that two have in common; None when there is none, or one of them is not here."""
        return self._git("merge-base", "--end-of-options", one, other, ok={0, 1, 128}) or None

    def differences(self, old: str, new: str) -> list[FileDifference]:
        """What differs between two commits, file by file; a rename is one that went and one that came."""
        asked = ("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", old, new)
        words = self._git(*asked).split("\0")
        found = []
        for head, path in zip(words[::2], words[1::2], strict=False):
            before, after, left, right, _ = head.removeprefix(":").split(" ")
            found.append(FileDifference(path, (before, after), (left, right)))
        return found

    def blob(self, sha: str) -> bytes:
        """A blob's bytes."""
        return self._output("cat-file", "blob", sha)

    def is_ignored(self, path: str) -> bool:
        """Whether git would ignore a path below the root; it need not exist."""
        return self._output("check-ignore", "--", path, ok={0, 1}) != b""

    def tracked(self, folders: Sequence[str]) -> list[str]:
        """Paths of the index in folders below the root."""
        return [*filter(None, os.fsdecode(self._output("ls-files", "-z", "--", *folders)).split("\0"))]

    def remotes(self) -> list[str]:
        """Names of all remotes."""
        return self._git("remote").splitlines()

    def remote(self) -> str | None:
        """The remote that promotions go to: ``origin``, else the only one; None when there is none.

        Raises
        ------
        GitError
            There are several, and none is ``origin``.
        """
        names = self.remotes()
        if "origin" in names or not names:
            return "origin" if names else None
        if len(names) > 1:
            raise GitError(f"there are the remotes {', '.join(names)} and none is called origin; rename one")
        return names[0]

    def remote_url(self, remote: str) -> str:
        """Address of a remote as configured, before ``insteadOf``; it may hold a password."""
        return self._git("config", "--get-all", f"remote.{remote}.url", ok={0, 1}).partition("\n")[0]

    def heads(self, remote: str | None) -> dict[str, str]:
        """Branch names and their commits; of a remote as it has them now, which fetches nothing."""
        asked = ("ls-remote", "--heads", "--", remote) if remote is not None else ("show-ref", "--heads")
        # show-ref answers 1 when there is no branch yet
        pairs = (line.split() for line in self._git(*asked, ok={0} if remote else {0, 1}).splitlines())
        return {name.removeprefix("refs/heads/"): sha for sha, name in pairs}

    def promotion_heads(self, remote: str | None, prefix: str) -> dict[str, Commit]:
        """Commits at the heads of this clone's branches of a prefix, remote-tracking ones too."""
        where = [f"refs/heads/{prefix}", *([f"refs/remotes/{remote}/{prefix}"] if remote else [])]
        fields = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents)%00"
        text = self._output("for-each-ref", f"--format={fields}", *where).decode("utf-8", "replace")
        parts = text.split("\0")
        rows = zip(parts[::4], parts[1::4], parts[2::4], parts[3::4], strict=False)
        return {
            prefix + name.strip().partition(prefix)[2]: Commit(sha, int(committed), message)
            for name, sha, committed, message in rows
            if committed  # a branch that points at no commit
        }

    def _entry(self, revision: str, path: str) -> tuple[str, str] | None:
        """Mode and blob of a regular file."""
        line = self._git("ls-tree", "-z", "--full-tree", revision, "--", f":(top,literal){path}").rstrip("\0")
        head = line.partition("\t")[0].split(" ")
        return (head[0], head[2]) if head[0] in _REGULAR else None

    def _git(self, *words: str, ok: Collection[int] = (0,)) -> str:
        return self._output(*words, ok=ok).decode("utf-8", "replace").strip("\n")

    def _output(self, *words: str, ok: Collection[int] = (0,)) -> bytes:
        done = _run(self.root, *words)
        if done.returncode not in ok:
            raise git_failure(words, done.stderr)
        return done.stdout


def git_failure(words: Sequence[str], stderr: str | bytes) -> GitError:
    """The error of a git command: its verb, and what git said last."""
    return GitError(f"git {words[2] if words[0] == '-c' else words[0]}: {_last_line(stderr)}")


def _root(folder: Path) -> Path:
    """The top of the work tree that a folder belongs to."""
    no_repository = NoRepositoryError(
        f"{folder} is not in a git repository; run git init or change the folder"
    )
    if not folder.is_dir():
        raise no_repository
    words = ("rev-parse", "--show-toplevel")
    try:
        done = _run(folder, *words)
    except GitError:  # without git a folder can still be told to be none of its own
        if any((parent / ".git").exists() for parent in (folder.absolute(), *folder.absolute().parents)):
            raise
        raise no_repository from None
    if done.returncode == 0:
        return Path(os.fsdecode(done.stdout.removesuffix(b"\n")))
    if b"not a git repository" in done.stderr:
        raise no_repository
    if b"must be run in a work tree" in done.stderr:
        raise GitError(f"{folder} is a bare repository; run this in a clone")
    raise git_failure(words, done.stderr)


def _run(folder: Path, *words: str) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(
            ["git", *words],
            cwd=folder,
            env={**os.environ, **ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise GitError(NO_GIT) from error


def github_repo(repository: Repository) -> str | None:
    """``owner/name`` of the remote when it is on GitHub."""
    remote = repository.remote()
    found = _GITHUB.fullmatch(repository.remote_url(remote)) if remote is not None else None
    return found["repo"] if found else None


def user_name(folder: Path) -> str | None:
    """What git's ``user.name`` says in a folder, in a repository or not; None when it says nothing."""
    try:
        found = _run(folder, "config", "--get", "user.name").stdout
    except GitError:
        return None
    return found.decode("utf-8", "replace").strip() or None


def _last_line(stderr: str | bytes) -> str:
    """What git said last, without the password that an address may hold."""
    text = stderr.decode("utf-8", "replace") if isinstance(stderr, bytes) else stderr
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no reason given"]
    said = next((line for line in lines if line.startswith(("fatal:", "error:", "! "))), lines[-1])
    return re.sub(r"[^\s'\"]+:\S*@", "…@", said)
