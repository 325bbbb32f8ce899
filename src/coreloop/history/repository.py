"""Git, as far as coreloop asks it: reading at a revision, writing one commit without a checkout, pushing."""

import os
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

# Without git the import itself would fail; so the first call says it.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
import git

from coreloop.errors import GitError, NoRepositoryError

_REGULAR: Final = frozenset({"100644", "100755"})
# Never ask at a terminal: a nightly job would hang. Messages are read, so they are in one language.
_ENVIRONMENT: Final = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
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
class Difference:
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
        try:
            self._repo = git.Repo(folder, search_parent_directories=True)
        except (git.InvalidGitRepositoryError, git.NoSuchPathError) as error:
            raise NoRepositoryError(
                f"{folder} is not in a git repository; run git init or change the folder"
            ) from error
        if self._repo.working_tree_dir is None:
            raise GitError(f"{folder} is a bare repository; run this in a clone")
        self.root = Path(self._repo.working_tree_dir)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._repo.close()

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
        try:
            # from one git process, however many files are asked for
            before, after = (self._repo.git.get_object_data(blob)[3] for blob in blobs)
        except ValueError as error:
            raise GitError(f"git has no content for {path} in {new[:12]}; run git fetch") from error
        return Replaced(path, before, after)

    def merge_base(self, one: str, other: str) -> str | None:
        """The newest commit that two have in common; None when there is none, or one of them is not here."""
        return self._git("merge-base", "--end-of-options", one, other, ok={0, 1, 128}) or None

    def differences(self, old: str, new: str) -> list[Difference]:
        """What differs between two commits, file by file; a rename is one that went and one that came."""
        asked = ("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", old, new)
        words = self._git(*asked).split("\0")
        found = []
        for head, path in zip(words[::2], words[1::2], strict=False):
            before, after, left, right, _ = head.removeprefix(":").split(" ")
            found.append(Difference(path, (before, after), (left, right)))
        return found

    def blob(self, sha: str) -> bytes:
        """A blob's bytes."""
        return self._output("cat-file", "blob", sha)

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

    def fetch(self, remote: str, branch: str) -> None:
        """Get a branch's commits from a remote."""
        self._git(
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", remote, f"refs/heads/{branch}"
        )

    def commit_file(self, base: str, path: str, source: bytes, message: str) -> str:
        """Make a commit on top of ``base`` in which one file is replaced; no branch and no checkout changes.

        Written with git's plumbing instead of a work tree: nothing is left behind however the process ends,
        and no filter or hook touches the bytes that were proven.

        Parameters
        ----------
        base : str
            Hash of a commit.
        path : str
            A regular file of it; keeps its mode.
        source : bytes
            Its new content.
        message : str
            The whole commit message.

        Returns
        -------
        str
            The commit's hash; nothing refers to it yet.
        """
        entry = self._entry(base, path)
        if entry is None:
            raise GitError(f"{path} is not a regular file in {base[:12]}")
        with tempfile.TemporaryDirectory(prefix="coreloop-index-") as folder:
            content, note = Path(folder, "content"), Path(folder, "message")
            content.write_bytes(source)
            note.write_text(message, encoding="utf-8")
            blob = self._git("hash-object", "-w", "--no-filters", "--", str(content))
            index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            self._git("read-tree", base, env=index)
            self._git("update-index", "--cacheinfo", f"{entry[0]},{blob},{path}", env=index)
            tree = self._git("write-tree", env=index)
            signed = self._git("config", "--get", "--type=bool", "commit.gpgsign", ok={0, 1}) == "true"
            return self._git("commit-tree", *(["-S"] if signed else []), "-p", base, "-F", str(note), tree)

    def publish(self, sha: str, branch: str, *, remote: str | None) -> None:
        """Make a new branch, on a remote or in this clone; refused when there is one of that name by now."""
        if remote is None:
            self._git("update-ref", f"refs/heads/{branch}", sha, "0" * 40)
            return
        unborn = f"--force-with-lease=refs/heads/{branch}:"  # no force: the expected old value is "none"
        # one branch and nothing else, whatever push.followTags and push.recurseSubmodules say
        alone = ("--no-follow-tags", "--recurse-submodules=no")
        self._git("push", "--quiet", *alone, unborn, "--", remote, f"{sha}:refs/heads/{branch}")

    def export(self, revision: str, folder: Path) -> None:
        """Write all files of a revision into an empty folder, as a checkout would.

        With an index of its own instead of ``git archive``, which leaves out what is marked export-ignore.
        """
        with tempfile.TemporaryDirectory(prefix="coreloop-index-") as scratch:
            index = {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
            self._git("read-tree", revision, env=index)
            whole = ("-c", "core.sparseCheckout=false", "checkout-index", "--all", "--quiet")
            self._git(*whole, f"--prefix={folder.resolve()}{os.sep}", env=index)

    def _entry(self, revision: str, path: str) -> tuple[str, str] | None:
        """Mode and blob of a regular file."""
        line = self._git("ls-tree", "-z", "--full-tree", revision, "--", f":(top,literal){path}").rstrip("\0")
        head = line.partition("\t")[0].split(" ")
        return (head[0], head[2]) if head[0] in _REGULAR else None

    def _git(self, *words: str, ok: Collection[int] = (0,), env: Mapping[str, str] | None = None) -> str:
        return self._output(*words, ok=ok, env=env).decode("utf-8", "replace").strip("\n")

    def _output(self, *words: str, ok: Collection[int] = (0,), env: Mapping[str, str] | None = None) -> bytes:
        try:
            status, stdout, stderr = self._repo.git.execute(
                ["git", *words],
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                env={**_ENVIRONMENT, **(env or {})},
            )
        except git.GitCommandNotFound as error:
            raise GitError("git is not installed, or not in PATH") from error
        if status not in ok:
            raise GitError(f"git {_verb(words)}: {_last_line(stderr)}")
        return stdout


def github_repo(repository: Repository) -> str | None:
    """``owner/name`` of the remote when it is on GitHub."""
    remote = repository.remote()
    found = _GITHUB.fullmatch(repository.remote_url(remote)) if remote is not None else None
    return found["repo"] if found else None


def _verb(words: tuple[str, ...]) -> str:
    return words[2] if words[0] == "-c" else words[0]


def user_name(folder: Path) -> str | None:
    """What git's ``user.name`` says in a folder, in a repository or not; None when it says nothing."""
    try:
        asked = ["git", "config", "--get", "user.name"]
        _, stdout, _ = git.cmd.Git(folder).execute(asked, with_extended_output=True, with_exceptions=False)
    except git.GitCommandNotFound:
        return None
    return str(stdout).strip() or None


def _last_line(stderr: str | bytes) -> str:
    """What git said last, without the password that an address may hold."""
    text = stderr.decode("utf-8", "replace") if isinstance(stderr, bytes) else stderr
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no reason given"]
    said = next((line for line in lines if line.startswith(("fatal:", "error:", "! "))), lines[-1])
    return re.sub(r"[^\s'\"]+:\S*@", "…@", said)
