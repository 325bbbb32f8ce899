"""What promotion does with git that is more than reading: one commit without a checkout, a push, an export.

The only module that imports GitPython: who opens a `Repository` can change nothing with it.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

# Without git the import itself would fail; so the first call says it.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
import git

from coreloop.errors import GitError
from coreloop.history.repository import ENVIRONMENT, NO_GIT, Repository, git_failure
from coreloop.leftovers import temporary_folder
from coreloop.text import printable


class WritableRepository(Repository):
    """A repository that commits can be made in, and fetched, pushed and exported from."""

    def fetch(self, remote: str, branch: str) -> None:
        """Get a branch's commits from a remote."""
        self._write(
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
        with temporary_folder("coreloop-index-") as folder:
            content, note = Path(folder, "content"), Path(folder, "message")
            content.write_bytes(source)
            note.write_text(message, encoding="utf-8")
            blob = self._write("hash-object", "-w", "--no-filters", "--", str(content))
            index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            self._write("read-tree", base, env=index)
            self._write("update-index", "--cacheinfo", f"{entry[0]},{blob},{path}", env=index)
            tree = self._write("write-tree", env=index)
            signed = self._write("config", "--get", "--type=bool", "commit.gpgsign", ok={0, 1}) == "true"
            return self._write("commit-tree", *(["-S"] if signed else []), "-p", base, "-F", str(note), tree)

    def publish(self, sha: str, branch: str, *, remote: str | None, instead_of: str = "") -> None:
        """Make a new branch, on a remote or in this clone, or have one point to another commit.

        Refused unless it is as expected: not there yet, or at ``instead_of``.
        """
        if remote is None:
            self._write("update-ref", f"refs/heads/{branch}", sha, instead_of or "0" * 40)
            return
        # no force: with nothing behind the colon, the expected old value is "none"
        lease = f"--force-with-lease=refs/heads/{branch}:{instead_of}"
        # one branch and nothing else, whatever push.followTags and push.recurseSubmodules say
        alone = ("--no-follow-tags", "--recurse-submodules=no")
        self._write("push", "--quiet", *alone, lease, "--", remote, f"{sha}:refs/heads/{branch}")

    def withdraw(self, sha: str, branch: str, *, remote: str | None) -> None:
        """Take back a branch that was just published; refused when it is at another commit by then."""
        if remote is None:
            self._write("update-ref", "-d", f"refs/heads/{branch}", sha)
            return
        lease = f"--force-with-lease=refs/heads/{branch}:{sha}"
        self._write("push", "--quiet", lease, "--", remote, f":refs/heads/{branch}")

    def export(self, revision: str, folder: Path) -> None:
        """Write all files of a revision into an empty folder, as a checkout would.

        With an index of its own instead of ``git archive``, which leaves out what is marked export-ignore.
        """
        with temporary_folder("coreloop-index-") as scratch:
            index = {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
            self._write("read-tree", revision, env=index)
            whole = ("-c", "core.sparseCheckout=false", "checkout-index", "--all", "--quiet")
            self._write(*whole, f"--prefix={folder.resolve()}{os.sep}", env=index)

    def _write(self, *words: str, ok: Collection[int] = (0,), env: Mapping[str, str] | None = None) -> str:
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


def init_repository(folder: Path, config: Sequence[tuple[str, str, str]], *, message: str) -> None:
    """Make a repository of a folder, with one commit of everything in it; no hook runs.

    Parameters
    ----------
    folder : Path
        Belongs to no repository yet.
    config : sequence of (str, str, str)
        Section, name and value of what is written into its configuration.
    message : str
        Of the commit, on branch ``main``.

    Raises
    ------
    GitError
        Git is missing, or refuses.
    """
    try:
        with git.Repo.init(folder, initial_branch="main") as repo:
            with repo.config_writer() as writer:
                for section, name, value in config:
                    writer.set_value(section, name, value)
            repo.git.add(all=True)
            repo.git.commit("--quiet", "--no-verify", "-m", message)
    except git.GitCommandNotFound as error:
        raise GitError(NO_GIT) from error
    except git.GitCommandError as error:
        raise GitError(f"the scratch repository cannot be made: {printable(str(error.stderr))}") from error
