"""The errors that a user can cause, as one tree.

    CoreloopError
    ├── SettingsError      coreloop.yaml: file, line, field
    ├── UsageError         an option or an argument that cannot be meant
    │   └── MissingExtraError    what it needs is not installed
    ├── WorkspaceError     a file or a folder that cannot be read or written
    ├── CacheWriteError    a rollup cannot be written; counting goes on without the cache
    ├── GitError           git, or the repository, did not do what was asked
    │   └── NoRepositoryError    the folder belongs to no repository
    ├── ReachError         the tools' schemas cannot be read
    ├── RefusedError       a check said no: exit code 1
    └── ForgeError         GitHub, or the way to it, did not do what was asked: status, said
        ├── ForgeAuthError           no token, or one that is not accepted
        ├── ForgeForbiddenError      the token may not do this
        ├── ForgeNotFoundError       no such repository or branch, or not for this token's eyes
        ├── ForgeRateLimitError      too many requests: retry_at
        ├── ForgeRefusedError        asked for something that GitHub will not do
        │   └── PullRequestExistsError   the branch has an open pull request already
        ├── ForgeUnavailableError    no answer, or an answer that GitHub itself is out of order
        └── ForgeAnswerError         an answer that is not what the API promises

A command prints the message on one line and exits 2, after a RefusedError 1; so a message says what happened
and what to do next.
"""

from datetime import datetime
from pathlib import Path


class CoreloopError(Exception):
    """Base of every error that coreloop raises on purpose."""


class SettingsError(CoreloopError):
    """coreloop.yaml cannot be used as it stands."""

    def __init__(self, message: str, *, path: Path, line: int | None = None) -> None:
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {message}")
        self.path = path
        self.line = line


class UsageError(CoreloopError):
    """An option or an argument that cannot be meant."""


class MissingExtraError(UsageError):
    """What an option needs is an extra of coreloop that is not installed."""

    def __init__(self, extra: str, *, what: str) -> None:
        super().__init__(f"{what} needs an extra; install it: pip install 'coreloop[{extra}]'")
        self.extra = extra


class WorkspaceError(CoreloopError):
    """A file or a folder that cannot be read or written."""

    def __init__(self, message: str, *, path: Path | str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class CacheWriteError(CoreloopError):
    """A rollup cannot be written. Its one argument is the message, so it can come from another process."""


class GitError(CoreloopError):
    """Git, or the repository, did not do what was asked."""


class NoRepositoryError(GitError):
    """The folder belongs to no repository."""


class ReachError(CoreloopError):
    """The tools' schemas cannot be read."""


class RefusedError(CoreloopError):
    """A check said no; the exit code is 1."""


class ForgeError(CoreloopError):
    """GitHub, or the way to it, did not do what was asked.

    Attributes
    ----------
    status : int | None
        HTTP status of the answer; None when there was no answer.
    said : str
        GitHub's own words, on one line, without the token; "" when it gave none.
    """

    def __init__(self, message: str, *, status: int | None = None, said: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.said = said


class ForgeAuthError(ForgeError):
    """There is no token, or it is not accepted."""


class ForgeForbiddenError(ForgeError):
    """The token may not do this."""


class ForgeNotFoundError(ForgeError):
    """No such repository or branch, or the token may not see it: GitHub does not tell which."""


class ForgeRateLimitError(ForgeError):
    """Too many requests; ``retry_at`` says from when on they are answered again, if GitHub said so."""

    def __init__(
        self, message: str, *, status: int, said: str = "", retry_at: datetime | None = None
    ) -> None:
        super().__init__(message, status=status, said=said)
        self.retry_at = retry_at


class ForgeRefusedError(ForgeError):
    """Asked for something that GitHub will not do."""


class PullRequestExistsError(ForgeRefusedError):
    """The branch has an open pull request already."""


class ForgeUnavailableError(ForgeError):
    """No answer, or an answer that GitHub itself is out of order. What was asked may have been done."""


class ForgeAnswerError(ForgeError):
    """An answer that is not what the API promises."""
