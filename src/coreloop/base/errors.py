"""All errors that a user can cause.

    CoreloopError
    ├── SettingsError      coreloop.yaml: file, line, field
    ├── UsageError         an invalid option or argument
    │   └── MissingExtraError    an optional dependency is not installed
    ├── WorkspaceError     a file or folder cannot be read or written
    ├── GitError           a git operation failed
    │   └── NoRepositoryError    the folder is not in a git repository
    ├── ReachError         the tools' schemas cannot be read
    ├── ModelError         a model gave no usable reply: kind, is_retryable
    ├── RunError           a run cannot be read or cannot go on
    │   ├── RunNotFoundError     the store has no such run
    │   ├── RunBusyError         another process works on the run
    │   ├── RunEndedError        the run is ended: nothing more happens in it
    │   ├── RunStoreError        the store cannot be read or written; the run can go on later
    │   └── BudgetError          the most that a call can cost does not fit the limits
    ├── RefusedError       a check failed: exit code 1
    │   └── HumanDecidesError    a pull request of coreloop waits for a human, or a human decided it
    └── ForgeError         a request to GitHub failed: status, detail
        ├── ForgeForbiddenError      the token lacks a permission
        ├── ForgeNotFoundError       the repository or branch is absent, or hidden from this token
        ├── PullRequestExistsError   the branch already has an open pull request
        └── ForgeUnavailableError    no response, or a server error

A command prints the message on one line and exits with code 2 (RefusedError: 1), so a message says what
happened and what to do next.
"""

from pathlib import Path


class CoreloopError(Exception):
    """Base of every error that coreloop raises on purpose; ``cost`` is that of the run's step it ended."""

    cost: object = None


class SettingsError(CoreloopError):
    """coreloop.yaml is invalid."""

    def __init__(self, message: str, *, path: Path, line: int | None = None) -> None:
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {message}")


class UsageError(CoreloopError):
    """An invalid option or argument."""


class MissingExtraError(UsageError):
    """An option needs an extra that is not installed; raised by `coreloop.base.extras.needs_extra`."""


class WorkspaceError(CoreloopError):
    """A file or folder cannot be read or written."""

    def __init__(self, message: str, *, path: Path | str) -> None:
        super().__init__(f"{path}: {message}")


class GitError(CoreloopError):
    """A git operation failed."""


class NoRepositoryError(GitError):
    """The folder is not in a git repository."""


class ReachError(CoreloopError):
    """The tools' schemas cannot be read."""


class ModelError(CoreloopError):
    """A model gave no usable reply.

    Attributes
    ----------
    kind : str
        ``malformed``, ``cut``, ``refused``, ``rate_limited``, ``unavailable``, ``auth``, ``rejected``, or
        ``setting``: the endpoint refuses the temperature or the seed, and is asked without it from now on.
    is_retryable : bool
        Whether asking again can help.
    retry_after_s : float or None
        When to ask again, if the endpoint says so.
    usage : coreloop.answer.models.model.Usage or None
        What the call used all the same; None for nothing.
    cost : coreloop.runs.amounts.Amount or None
        The same for a step of a run.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        is_retryable: bool = False,
        retry_after_s: float | None = None,
        usage: object = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.is_retryable = is_retryable
        self.retry_after_s = retry_after_s
        self.usage = usage


class RunError(CoreloopError):
    """A run cannot be read or cannot go on."""


class RunNotFoundError(RunError):
    """The store has no such run."""


class RunBusyError(RunError):
    """Another process works on the run."""


class RunEndedError(RunError):
    """The run is ended: nothing more happens in it."""


class RunStoreError(RunError):
    """The store of the runs cannot be read or written; a run in it can go on later."""


class BudgetError(RunError):
    """The most that a call can cost does not fit the run's limits; ``reason`` is the limit."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class RefusedError(CoreloopError):
    """A check failed; the exit code is 1."""


class HumanDecidesError(RefusedError):
    """A pull request of coreloop stands in the way: a human decides it, or did."""


class ForgeError(CoreloopError):
    """A request to GitHub failed.

    Attributes
    ----------
    status : int | None
        HTTP status, or None without a response.
    detail : str
        GitHub's own message on one line, without the token; may be empty.
    """

    def __init__(self, message: str, *, status: int | None = None, detail: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail


class ForgeForbiddenError(ForgeError):
    """The token lacks a permission."""


class ForgeNotFoundError(ForgeError):
    """The repository or branch is absent, or hidden from this token; GitHub does not say which."""


class PullRequestExistsError(ForgeError):
    """The branch already has an open pull request."""


class ForgeUnavailableError(ForgeError):
    """No response, or a server error. The operation may have succeeded."""
