"""Read a git repository with the git program.

Only the standard library, and read-only: `coreloop.promote.commits` writes.
"""

import os
import re
import subprocess
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from coreloop.base.errors import GitError, NoRepositoryError

_REGULAR: Final = frozenset({"100644", "100755"})
_RAW: Final = ("-r", "-z", "--raw", "--no-abbrev")
_FIRST_PARENT: Final = ("--first-parent", "-m", "--no-show-signature", "--format=%H")
NO_GIT: Final = "git is not installed, or not in PATH"
# No prompts, since a nightly job would hang. One language, since messages are parsed.
ENVIRONMENT: Final = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LANGUAGE": "C",
    "LC_ALL": "C.UTF-8",
}
_PERSON: Final = re.compile(rb"^(?:author|committer) ([^<\n]*) <([^>\n]*)> (\d+)", re.MULTILINE)
_GITHUB: Final = re.compile(
    # matches the complete address, since a path or another host may end in the same words
    r"(?:[\w+.-]+://)?(?:[^/@\s]*@)?(?:www\.|ssh\.)?github\.com(?::[0-9]+/|[:/])/*"
    r"(?P<repo>[\w.-]+/[\w.-]+?)(?:\.git)?/?"
)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its hash, the committer's time in seconds since 1970, its full message, its parents.

    `people` are the names and e-mail addresses of the author and the committer.
    """

    sha: str
    committed_s: int
    message: str
    parents: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that a commit changed: its blobs before and after, empty where it is absent or not regular."""

    sha: str
    path: str
    blobs: tuple[str, str]
    modes: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Replaced:
    """A regular file with its content before and after."""

    path: str
    before: bytes
    after: bytes


class Repository:
    """The git repository that a folder belongs to; what git said once of branches and commits is kept.

    Parameters
    ----------
    folder : Path
        Any folder of its work tree.

    Raises
    ------
    NoRepositoryError
        The folder is outside a repository.
    GitError
        The repository is bare.
    """

    def __init__(self, folder: Path) -> None:
        self.root = _root(folder)
        self._said: dict[tuple[str, ...], str] = {}

    def resolve(self, revision: str) -> str | None:
        """Hash of the commit that a revision names; None if absent."""
        name = f"{revision}^{{commit}}"
        return self._git("rev-parse", "--verify", "--quiet", "--end-of-options", name, ok={0, 1, 128}) or None

    def current_branch(self) -> str:
        """Return the branch that is checked out, also before its first commit; empty if none is."""
        return self._git("symbolic-ref", "--quiet", "--short", "HEAD", ok={0, 1})

    def is_shallow(self) -> bool:
        """Whether the history is truncated (``clone --depth``)."""
        return self._git("rev-parse", "--is-shallow-repository") == "true"

    def require_history(self) -> None:
        """Refuse a clone with a truncated history.

        Raises
        ------
        GitError
            The clone is shallow.
        """
        if self.is_shallow():
            raise GitError(
                "this clone is shallow, so its promotions cannot be read; run git fetch --unshallow"
            )

    def base(self, branch: str) -> str:
        """The base branch's newest commit in this clone, of the remote-tracking branch if there is one.

        Raises
        ------
        GitError
            The branch does not exist.
        """
        remote = self.remote()
        tracked = self.resolve(f"refs/remotes/{remote}/{branch}") if remote is not None else None
        sha = tracked or self.resolve(f"refs/heads/{branch}")
        if sha is None:
            raise GitError(f"there is no branch {branch}; commit once, or set forge: base")
        return sha

    def read(self, revision: str, path: str) -> bytes | None:
        """A file's bytes at a revision; None if absent or not a regular file."""
        entry = self._entry(revision, path)
        return None if entry is None else self.blob(entry[1])

    def log(self, revision: str, *, exclude: str | None = None) -> Iterator[Commit]:
        """Commits reachable from a revision and not from ``exclude``; children always before parents."""
        return self._commits(revision, *([f"^{exclude}"] if exclude is not None else []))

    def _commits(self, *words: str) -> Iterator[Commit]:
        fields = "--format=%H %P%n%e%n%ct%n%an%n%ae%n%cn%n%ce%n%B"
        options = ("-z", "--no-show-signature", "--topo-order", "--encoding=UTF-8", fields)
        text = self._output("log", *options, "--end-of-options", *words).decode("utf-8", "replace")
        for part in filter(None, text.split("\0")):
            head, encoding, committed, *people, message = part.split("\n", 7)
            sha, *parents = head.split()
            commit = Commit(sha, int(committed or 0), message, tuple(parents), tuple(people))
            yield (
                _in_both_readings(commit, self._output("cat-file", "commit", sha), encoding)
                if encoding
                else commit
            )

    def changed_files(self, old: str, new: str) -> list[str]:
        """Paths that differ between two commits."""
        names = self._git("diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new)
        return [name for name in names.split("\0") if name]

    def patch(self, old: str, new: str) -> str:
        """What changes between two commits, without context."""
        options = ("-r", "-p", "--unified=0", "--no-renames", "--no-ext-diff", "--no-textconv")
        return self._git("diff-tree", *options, old, new)

    def replaced_file(self, old: str, new: str) -> Replaced | None:
        """The only file that differs between two commits, if it is regular and has the same name and mode."""
        changes = list(_changes(self._git("diff-tree", *_RAW, "--no-renames", old, new)))
        if len(changes) != 1 or changes[0].modes[0] != changes[0].modes[1] or not all(changes[0].blobs):
            return None
        path, blobs = changes[0].path, changes[0].blobs
        return Replaced(path, *map(self.blob, blobs))

    def merge_base(self, left: str, right: str) -> str | None:
        """The newest common ancestor of two commits; None if absent, or if a commit is not in this clone."""
        return self._git("merge-base", "--end-of-options", left, right, ok={0, 1, 128}) or None

    def file_changes(self, revision: str, paths: Sequence[str]) -> list[FileChange]:
        """What the commits of the line of first parents changed in some files, newest first."""
        if not paths:
            return []
        words = ("log", *_RAW, *_FIRST_PARENT, "--no-renames")
        places = [f":(top,literal){path}" for path in paths]
        return list(_changes(self._git(*words, "--end-of-options", revision, "--", *places)))

    def blob(self, sha: str) -> bytes:
        """A blob's bytes."""
        done = _run(self.root, "cat-file", "blob", sha)
        if done.returncode != 0:
            raise GitError(f"git has no content for blob {sha[:12]}; run git fetch")
        return done.stdout

    def files_with(self, revision: str, pattern: str, paths: Sequence[str]) -> list[str]:
        """Files at a revision that match an extended regular expression as whole words.

        ``paths`` are git's patterns below the root.
        """
        words = ("--files-with-matches", "--full-name", "-z", "-I", "--word-regexp", "--extended-regexp")
        command = ("grep", *words, "-e", pattern, revision, "--", *paths)
        names = self._git(*command, ok={0, 1}).split("\0")
        return [name.partition(":")[2] for name in names if name]

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
        """The remote for promotions: ``origin``, else the only remote; None without a remote.

        Raises
        ------
        GitError
            There are several remotes, and none is ``origin``.
        """
        names = self.remotes()
        if "origin" in names or not names:
            return "origin" if names else None
        if len(names) > 1:
            raise GitError(f"none of the remotes {', '.join(names)} is called origin; rename one to origin")
        return names[0]

    def remote_url(self, remote: str) -> str:
        """Address of a remote as configured, before ``insteadOf``; it may contain a password."""
        return self._git("config", "--get-all", f"remote.{remote}.url", ok={0, 1}).partition("\n")[0]

    def heads(self, remote: str | None) -> dict[str, str]:
        """Local branch names and their commits, or those that a remote has now; nothing is fetched."""
        command = ("ls-remote", "--heads", "--", remote) if remote is not None else ("show-ref", "--heads")
        # show-ref exits with 1 if no branch exists
        pairs = (line.split() for line in self._git(*command, ok={0} if remote else {0, 1}).splitlines())
        return {name.removeprefix("refs/heads/"): sha for sha, name in pairs}

    def promotion_heads(self, remote: str | None, prefix: str) -> dict[str, Commit]:
        """Commits at the heads of this clone's branches with a prefix, also remote-tracking branches."""
        patterns = [f"refs/heads/{prefix}", *([f"refs/remotes/{remote}/{prefix}"] if remote else [])]
        fields = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents)%00"
        parts = self._git("for-each-ref", f"--format={fields}", *patterns).split("\0")
        rows = zip(parts[::4], parts[1::4], parts[2::4], parts[3::4], strict=False)
        return {
            prefix + name.strip().partition(prefix)[2]: Commit(sha, int(committed), message)
            for name, sha, committed, message in rows
            if committed  # empty for a branch that points at no commit
        }

    def _entry(self, revision: str, path: str) -> tuple[str, str] | None:
        """Mode and blob of a regular file."""
        line = self._git("ls-tree", "-z", "--full-tree", revision, "--", f":(top,literal){path}").rstrip("\0")
        head = line.partition("\t")[0].split(" ")
        return (head[0], head[2]) if head[0] in _REGULAR else None

    def _git(self, *words: str, ok: Collection[int] = (0,)) -> str:
        if words not in self._said:
            self._said[words] = self._output(*words, ok=ok).decode("utf-8", "replace").strip("\n")
        return self._said[words]

    def _output(self, *words: str, ok: Collection[int] = (0,)) -> bytes:
        done = _run(self.root, *words)
        if done.returncode not in ok:
            raise git_failure(words, done.stderr)
        return done.stdout


def _changes(text: str) -> Iterator[FileChange]:
    """Read what git prints with `_RAW`: hashes of commits, and behind them what they changed."""
    sha, parts = "", iter(text.split("\0"))
    for part in parts:
        word = part.strip("\n")
        if not word.startswith(":"):
            sha = word
            continue
        *fields, _ = word.removeprefix(":").split(" ")
        path = next(parts, "")
        old, new = (
            blob if mode in _REGULAR else "" for mode, blob in zip(fields[:2], fields[2:], strict=True)
        )
        yield FileChange(sha, path, (old, new), (fields[0], fields[1]))


def git_failure(words: Sequence[str], stderr: str | bytes) -> GitError:
    """The error of a git command: its verb and git's last message."""
    return GitError(f"git {words[2] if words[0] == '-c' else words[0]}: {_last_line(stderr)}")


def author_date(path: Path, first: int, last: int) -> str | None:
    """The day (UTC) on which the newest of some lines of a file was written; None if git does not know."""
    try:
        done = _run(path.parent, "blame", "--line-porcelain", f"-L{first},{last}", "--", path.name)
    except GitError:
        return None
    times = map(int, re.findall(rb"^author-time (\d+)$", done.stdout, re.MULTILINE))
    newest = max(times, default=None)
    return None if newest is None else datetime.fromtimestamp(newest, UTC).date().isoformat()


def _root(folder: Path) -> Path:
    """The top of the work tree that a folder belongs to."""
    above = (folder.absolute(), *folder.absolute().parents)
    if not folder.is_dir() or not any((parent / ".git").exists() for parent in above):
        raise NoRepositoryError(f"{folder} is not in a git repository; run git init or change the folder")
    words = ("rev-parse", "--show-toplevel")
    done = _run(folder, *words)
    if done.returncode != 0:
        raise git_failure(words, done.stderr)
    return Path(os.fsdecode(done.stdout.removesuffix(b"\n")))


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
    """``owner/name`` of the remote if it is on GitHub, else None."""
    remote = repository.remote()
    match = _GITHUB.fullmatch(repository.remote_url(remote)) if remote is not None else None
    return match["repo"] if match else None


def user_name(folder: Path) -> str | None:
    """Git's ``user.name`` in a folder, in a repository or not; None if not set."""
    try:
        output = _run(folder, "config", "--get", "user.name").stdout
    except GitError:
        return None
    return output.decode("utf-8", "replace").strip() or None


def _in_both_readings(commit: Commit, raw: bytes, encoding: str) -> Commit:
    """A commit that names an encoding: its bytes as UTF-8, and below that decoded, as others may show it."""
    head, _, body = raw.partition(b"\n\n")
    persons = _PERSON.findall(head)
    codecs = ("utf-8", encoding)
    return replace(
        commit,
        committed_s=int(persons[-1][2]) if persons else 0,
        message="\n\n".join(dict.fromkeys(_decoded(body, codec) for codec in codecs)),
        people=tuple(_decoded(name, codec) for codec in codecs for person in persons for name in person[:2]),
    )


def _decoded(text: bytes, encoding: str) -> str:
    try:
        return text.decode(encoding, "replace")
    except (LookupError, ValueError):  # no encoding that Python knows
        return text.decode("utf-8", "replace")


def _last_line(stderr: str | bytes) -> str:
    """Git's last message, without a password in an address."""
    text = stderr.decode("utf-8", "replace") if isinstance(stderr, bytes) else stderr
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no reason given"]
    last = next((line for line in lines if line.startswith(("fatal:", "error:", "! "))), lines[-1])
    return re.sub(r"\S+", lambda word: _without_password(word[0]), last)


def _without_password(word: str) -> str:
    """A word without what is before the ``@`` of an address; an opening quote stays."""
    account, _, host = word.rpartition("@")
    quote = account[: len(account) - len(account.lstrip("'\""))]
    return f"{quote}…@{host}" if ":" in account else word
