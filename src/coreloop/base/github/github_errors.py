"""GitHub's error responses, and responses that do not match its API, as ForgeErrors.

The only module that knows GitHub's status codes. Each message is a single line: what failed, why, and what to
do next. The libraries' exceptions are translated by the transports.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from coreloop.base.errors import (
    ForgeError,
    ForgeForbiddenError,
    ForgeNotFoundError,
    ForgeUnavailableError,
    PullRequestExistsError,
)
from coreloop.base.text import fitted, printable

_LONGEST_QUOTE = 200

_REFUSALS: dict[int, tuple[type[ForgeError], str, str]] = {
    401: (ForgeError, "the token is not accepted", "set GITHUB_TOKEN or GH_TOKEN to a valid token"),
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
_OTHER_REFUSAL = (ForgeError, "GitHub refused", "correct this and run the same command again")
_MOVED = (
    ForgeNotFoundError,
    "the repository has moved",
    "set forge: repo to its current name in coreloop.yaml",
)
_OUT_OF_ORDER = (
    ForgeUnavailableError,
    "GitHub is unavailable",
    "run the same command again later; it continues where it stopped",
)
_EXISTS = (
    PullRequestExistsError,
    "the branch has an open pull request",
    "review it on GitHub, and close it if it is not needed",
)
_CHECK_ROUTE = "check GITHUB_API_URL and any proxy"


def refusal(doing: str, *, status: int, headers: Mapping[str, str], detail: str) -> ForgeError:
    """The error for a response with an error status.

    Parameters
    ----------
    doing : str
        The operation, as it follows "cannot": ``"open the pull request"``.
    status : int
        HTTP status, 300 or more.
    headers : Mapping[str, str]
        Names in lower case.
    detail : str
        GitHub's message, see `quoted`.
    """
    if _is_rate_limit(status, headers, detail):
        return _rate_limit(doing, status=status, headers=headers, detail=detail)
    leaf, why, advice = _refusal_for(status, detail)
    quote = f": {detail}" if detail else ""
    return leaf(f"cannot {doing}: {why} ({status}{quote}); {advice}", status=status, detail=detail)


def _refusal_for(status: int, detail: str) -> tuple[type[ForgeError], str, str]:
    if status < 400:
        return _MOVED
    if status >= 500:
        return _OUT_OF_ORDER
    if status == 422 and "pull request already exists" in detail.lower():
        return _EXISTS
    return _REFUSALS.get(status, _OTHER_REFUSAL)


def _is_rate_limit(status: int, headers: Mapping[str, str], detail: str) -> bool:
    """Whether a response reports an exceeded rate limit."""
    if status == 429:
        return True
    # GitHub answers 403 for missing permissions and for rate limits
    is_exhausted = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
    return status == 403 and (is_exhausted or "rate limit" in detail.lower())


def _rate_limit(doing: str, *, status: int, headers: Mapping[str, str], detail: str) -> ForgeError:
    when, wait_s = "in a few minutes", headers.get("retry-after", "")
    with suppress(ValueError, OverflowError, OSError):
        when = f"after {datetime.fromtimestamp(int(headers.get('x-ratelimit-reset', '')), UTC):%F %T} UTC"
    if wait_s.isdecimal():
        when = f"in {wait_s} s"
    line = f"cannot {doing}: GitHub's rate limit is exceeded ({status}); run the same command again {when}"
    return ForgeError(line, status=status, detail=detail)


def wrong_answer(doing: str, why: str) -> ForgeError:
    """The error for a response that does not match the API description."""
    return ForgeError(
        f"cannot {doing}: the answer does not match GitHub's API ({_one_line(why)}); {_CHECK_ROUTE}"
    )


def no_answer(doing: str, why: str) -> ForgeUnavailableError:
    """The error for a request without a response."""
    advice = "check the network and GITHUB_API_URL, then run the same command again"
    return ForgeUnavailableError(f"cannot {doing}: {why}; {advice}")


def moved(doing: str, *, to: str) -> ForgeNotFoundError:
    """The error for a renamed repository."""
    return ForgeNotFoundError(
        f"cannot {doing}: the repository is now called {_one_line(to)}; "
        "set forge: repo to that name in coreloop.yaml"
    )


def quoted(body: str) -> str:
    """GitHub's message in an error body: a single line, printable, at most 200 characters.

    Anything else than an object of JSON gives "".
    """
    try:
        error = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    errors = error.get("errors") if isinstance(error, dict) else None
    problems = map(_problem, errors) if isinstance(errors, list) else ()
    message = error.get("message") if isinstance(error, dict) else None
    return _one_line("; ".join(text for text in (message, *problems) if text and isinstance(text, str)))


def _problem(problem: Any) -> Any:
    if not isinstance(problem, dict):
        return problem
    return problem.get("message") or f"{problem.get('field', '')} {problem.get('code', '')}".strip()


def _one_line(text: str) -> str:
    return fitted(printable(" ".join(text.split())), _LONGEST_QUOTE)
