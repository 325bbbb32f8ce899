"""Every refusal of GitHub, and every answer that is none of its own, as one clear ForgeError.

The only place that knows its status codes. Each message is one line: what could not be done, why, and what to
do next. What a library raises is translated beside the transport that uses it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from coreloop.errors import (
    ForgeAnswerError,
    ForgeAuthError,
    ForgeError,
    ForgeForbiddenError,
    ForgeNotFoundError,
    ForgeRateLimitError,
    ForgeRefusedError,
    ForgeUnavailableError,
    PullRequestExistsError,
)
from coreloop.shapes import ShapeError, parse_json, shaped

_LONGEST_QUOTE = 200

_REFUSALS: dict[int, tuple[type[ForgeError], str, str]] = {
    401: (ForgeAuthError, "the token is not accepted", "put a valid one into GITHUB_TOKEN or GH_TOKEN"),
    403: (
        ForgeForbiddenError,
        "the token may not do this",
        "give it access to the repository: contents and pull requests, read and write",
    ),
    404: (
        ForgeNotFoundError,
        "not found",
        "check repo and base under forge: in coreloop.yaml, and that the token may see the repository",
    ),
}
_OTHER_REFUSAL = (ForgeRefusedError, "GitHub refused", "put that right and run the same command again")
_MOVED = (
    ForgeNotFoundError,
    "the repository has moved",
    "write its present name to repo under forge: in coreloop.yaml",
)
_OUT_OF_ORDER = (
    ForgeUnavailableError,
    "GitHub is out of order",
    "run the same command again later; it goes on where it stopped",
)
_EXISTS = (
    PullRequestExistsError,
    "the branch has an open pull request",
    "look at that one on GitHub, and close it if it is not wanted",
)
_NO_DRAFTS = (
    ForgeRefusedError,
    "this repository cannot have drafts, and coreloop opens nothing else",
    "open the pull request from the pushed branch by hand",
)
_CHECK_ROUTE = "check GITHUB_API_URL, and any proxy on the way"


@dataclass(frozen=True, slots=True)
class _Problem:
    message: str | None = None
    field: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class _ErrorBody:
    message: str = ""
    errors: tuple[_Problem | str, ...] = ()


def refusal(doing: str, *, status: int, headers: Mapping[str, str], said: str) -> ForgeError:
    """Name the failure that an answer's status means.

    Parameters
    ----------
    doing : str
        What was asked, as it follows "cannot": ``"open the pull request"``.
    status : int
        HTTP status, 300 or more.
    headers : Mapping[str, str]
        Names in lower case.
    said : str
        GitHub's message, see `quoted`.
    """
    if is_rate_limit(status, headers, said):
        return rate_limit(doing, status=status, headers=headers, said=said)
    leaf, why, advice = _refusal_for(status, said)
    quote = f": {said}" if said else ""
    return leaf(f"cannot {doing}: {why} ({status}{quote}); {advice}", status=status, detail=said)


def _refusal_for(status: int, said: str) -> tuple[type[ForgeError], str, str]:
    if status < 400:
        return _MOVED
    if status >= 500:
        return _OUT_OF_ORDER
    if status == 422 and "pull request already exists" in said.lower():
        return _EXISTS
    if status == 422 and "draft pull requests are not supported" in said.lower():
        return _NO_DRAFTS
    return _REFUSALS.get(status, _OTHER_REFUSAL)


def is_rate_limit(status: int, headers: Mapping[str, str], said: str) -> bool:
    """Whether an answer says that there were too many requests."""
    if status == 429:
        return True
    # GitHub answers 403 both for "may not" and for "too often"
    used_up = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
    return status == 403 and (used_up or "rate limit" in said.lower())


def rate_limit(doing: str, *, status: int, headers: Mapping[str, str], said: str) -> ForgeError:
    """The error for too many requests, with the time from when on they are answered again."""
    retry_at = _reset_time(headers)
    wait_s = headers.get("retry-after", "")
    when = "in a few minutes"
    if wait_s.isdecimal():
        when = f"in {wait_s} s"
    elif retry_at is not None:
        when = f"after {retry_at:%Y-%m-%d %H:%M:%S} UTC"
    line = f"cannot {doing}: GitHub's rate limit is used up ({status}); run the same command again {when}"
    return ForgeRateLimitError(line, status=status, detail=said, retry_at=retry_at)


def _reset_time(headers: Mapping[str, str]) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(headers.get("x-ratelimit-reset", "")), tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None


def wrong_answer(doing: str, why: str) -> ForgeAnswerError:
    """The error for an answer that has another shape than the API description gives it."""
    return ForgeAnswerError(
        f"cannot {doing}: the answer is not what GitHub's API promises ({_one_line(why)}); {_CHECK_ROUTE}"
    )


def no_answer(doing: str, why: str) -> ForgeUnavailableError:
    """The error for a request that nobody answered."""
    advice = "check the network and GITHUB_API_URL, then run the same command again"
    return ForgeUnavailableError(f"cannot {doing}: {why}; {advice}")


def moved(doing: str, *, to: str) -> ForgeNotFoundError:
    """The error for a repository that answers under another name."""
    return ForgeNotFoundError(
        f"cannot {doing}: the repository is now called {_one_line(to)}; "
        "write that name to repo under forge: in coreloop.yaml"
    )


def quoted(body: object) -> str:
    """GitHub's message out of an error body: one line, printable, at most 200 characters.

    Parameters
    ----------
    body : object
        JSON text, or what was decoded from it; anything else gives "".
    """
    try:
        error = shaped(parse_json(body) if isinstance(body, str | bytes) else body, _ErrorBody)
    except ShapeError:
        return ""
    text = "; ".join(filter(None, [error.message, *map(_problem, error.errors)]))
    return _one_line(text)


def _problem(problem: _Problem | str) -> str:
    if isinstance(problem, str):
        return problem
    return problem.message or " ".join(filter(None, [problem.field, problem.code]))


def _one_line(text: str) -> str:
    printable = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(printable.split())
    return line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 1] + "…"


def without_secrets(exc: Exception) -> Exception:
    """Take frames and request off an exception and all behind it: they hold the Authorization header."""
    behind: list[BaseException] = [exc]
    seen: set[int] = set()
    while behind:
        one = behind.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = None
        for name in ("request", "response"):
            vars(one).pop(name, None)
        behind.extend(
            link for link in (one.__cause__, one.__context__, *one.args) if isinstance(link, BaseException)
        )
    return exc
