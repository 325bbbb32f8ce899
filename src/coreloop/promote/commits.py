"""Git operations that write: a commit without a checkout, a push, an export.

The only module that imports GitPython; a `Repository` is read-only.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

# Without git the import would fail; this defers the error to the first call.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
import git

from coreloop.base.errors import GitError
from coreloop.base.git.repository import ENVIRONMENT, NO_GIT, Repository, git_failure
from coreloop.base.tempfiles import temporary_folder


class WritableRepository(Repository):
    """A repository with commit, fetch, push and export."""

    def fetch(self, remote: str, branch: str) -> None:
        """Fetch a branch's commits from a remote."""
        self.write(
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", remote, f"refs/heads/{branch}"
        )

    def commit_file(self, base: str, path: str, source: bytes, message: str) -> str:
        """Make a commit on top of ``base`` that replaces a file; no branch or checkout changes.

        Uses git's plumbing instead of a work tree: a killed process leaves nothing behind, and no filter or
        hook changes the proven bytes.

        Parameters
        ----------
        base : str
            Hash of a commit.
        path : str
            A regular file in it; its mode is preserved.
        source : bytes
            The new content.
        message : str
            The complete commit message.

        Returns
        -------
        str
            The commit's hash; no branch refers to it yet.
        """
        entry = self._entry(base, path)
        if entry is None:
            raise GitError(f"{path} is not a regular file in {base[:12]}")
        with temporary_folder("coreloop-index-") as folder:
            content, message_file = Path(folder, "content"), Path(folder, "message")
            content.write_bytes(source)
            message_file.write_text(message, encoding="utf-8")
            blob = self.write("hash-object", "-w", "--no-filters", "--", str(content))
            index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            self.write("read-tree", base, env=index)
            self.write("update-index", "--cacheinfo", f"{entry[0]},{blob},{path}", env=index)
            tree = self.write("write-tree", env=index)
            signed = self.write("config", "--get", "--type=bool", "commit.gpgsign", ok={0, 1}) == "true"
            sign = ["-S"] if signed else []
            return self.write("commit-tree", *sign, "-p", base, "-F", str(message_file), tree)

    def mail(self, sha: str) -> bytes:
        """A commit with its message, for ``git am`` in another clone."""
        return self._output("format-patch", "--stdout", "--no-attach", "--no-ext-diff", "-1", sha)

    def publish(self, sha: str, branch: str, *, remote: str | None, instead_of: str = "") -> None:
        """Create a branch, on a remote or in this clone, or move it from ``instead_of``.

        Fails if the branch already exists, or is not at ``instead_of``.
        """
        if remote is None:
            self.write("update-ref", f"refs/heads/{branch}", sha, instead_of or "0" * 40)
            return
        # not a forced push: an empty value after the colon means that the branch must not exist
        lease = f"--force-with-lease=refs/heads/{branch}:{instead_of}"
        # only the branch, regardless of push.followTags and push.recurseSubmodules
        branch_only = ("--no-follow-tags", "--recurse-submodules=no")
        self.write("push", "--quiet", *branch_only, lease, "--", remote, f"{sha}:refs/heads/{branch}")

    def export(self, revision: str, folder: Path) -> None:
        """Write all files of a revision into an empty folder, as a checkout would.

        Uses a separate index instead of ``git archive``, which omits files marked export-ignore.
        """
        with temporary_folder("coreloop-index-") as scratch:
            index = {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
            self.write("read-tree", revision, env=index)
            checkout = ("-c", "core.sparseCheckout=false", "checkout-index", "--all", "--quiet")
            self.write(*checkout, f"--prefix={folder.resolve()}{os.sep}", env=index)

    def write(self, *words: str, ok: Collection[int] = (0,), env: Mapping[str, str] | None = None) -> str:
        """Run git; gives what it printed."""
        self._said.clear()
        try:
            status, stdout, stderr = git.cmd.Git(self.root).execute(
                ["git", *words],
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                env={**ENVIRONMENT, **(env or {})},
            )
        except git.GitCommandNotFound as error:
            raise GitError(NO_GIT) from error
        if status not in ok:
            raise git_failure(words, stderr)
        return stdout.decode("utf-8", "replace").strip("\n")


def init_repository(folder: Path, config: Mapping[str, str], *, message: str) -> None:
    """Create a repository in a folder, with a commit of all its files; no hook runs.

    Parameters
    ----------
    folder : Path
        A folder outside any repository.
    config : mapping of str to str
        Settings in its configuration: ``user.name``.
    message : str
        Message of the commit, on branch ``main``.

    Raises
    ------
    GitError
        Git is missing or fails.
    """
    try:
        git.Repo.init(folder, initial_branch="main").close()
    except git.GitCommandNotFound as error:
        raise GitError(NO_GIT) from error
    repository = WritableRepository(folder)
    for name, value in config.items():
        repository.write("config", name, value)
    repository.write("add", "--all")
    repository.write("commit", "--quiet", "--no-verify", "-m", message)
