"""Every failure of PyGithub, of the network and of GitHub itself, as one clear ForgeError.

The only place that knows their exceptions and status codes. Each message is one line: what could not be done,
why, and what to do next. What hangs on an exception is stripped of everything that could hold the token.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

import msgspec
import requests
import urllib3
from github import BadAttributeException, GithubException, RateLimitExceededException

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


class _Problem(msgspec.Struct):
    message: str | None = None
    field: str | None = None
    code: str | None = None


class _ErrorBody(msgspec.Struct):
    message: str = ""
    errors: list[_Problem | str] = []


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
    if _is_rate_limit(status, headers, said):
        return _rate_limit(doing, status=status, headers=headers, said=said)
    leaf, why, advice = _refusal_for(status, said)
    quote = f": {said}" if said else ""
    return leaf(f"cannot {doing}: {why} ({status}{quote}); {advice}", status=status, said=said)


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


def _is_rate_limit(status: int, headers: Mapping[str, str], said: str) -> bool:
    if status == 429:
        return True
    # GitHub answers 403 both for "may not" and for "too often"
    used_up = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
    return status == 403 and (used_up or "rate limit" in said.lower())


def _rate_limit(doing: str, *, status: int, headers: Mapping[str, str], said: str) -> ForgeError:
    retry_at = _reset_time(headers)
    wait_s = headers.get("retry-after", "")
    when = "in a few minutes"
    if wait_s.isdecimal():
        when = f"in {wait_s} s"
    elif retry_at is not None:
        when = f"after {retry_at:%Y-%m-%d %H:%M:%S} UTC"
    line = f"cannot {doing}: GitHub's rate limit is used up ({status}); run the same command again {when}"
    return ForgeRateLimitError(line, status=status, said=said, retry_at=retry_at)


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
        error = msgspec.convert(
            msgspec.json.decode(body) if isinstance(body, str | bytes) else body, _ErrorBody
        )
    except (msgspec.MsgspecError, UnicodeError):
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


# Beside the libraries' own: they let OSError through, raise ValueError for headers and text that they cannot
# read, RuntimeError for redirects, and AssertionError for addresses that they will not follow.
FOREIGN = (
    GithubException,
    BadAttributeException,
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    OSError,
    ValueError,
    RuntimeError,
    AssertionError,
)

_TIMEOUTS = (requests.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)
_UNREADABLE = (requests.exceptions.InvalidURL, requests.exceptions.InvalidJSONError)
_NO_CONNECTION = (requests.RequestException, urllib3.exceptions.HTTPError, OSError)


@contextmanager
def translated(doing: str, *, timeout_s: int) -> Iterator[None]:
    """Raise whatever PyGithub and the network raise inside as a ForgeError."""
    try:
        yield
    except FOREIGN as exc:
        raise translate(exc, doing, timeout_s=timeout_s) from _without_secrets(exc)


def translate(exc: Exception, doing: str, *, timeout_s: int) -> ForgeError:
    """Name the failure that a foreign exception means, without a word of the exception's own."""
    if isinstance(exc, GithubException):
        return _translate_status(exc, doing)
    if reason := _network_reason(exc, timeout_s):
        advice = "check the network and GITHUB_API_URL, then run the same command again"
        return ForgeUnavailableError(f"cannot {doing}: {reason}; {advice}")
    return wrong_answer(doing, type(exc).__name__)


def _translate_status(exc: GithubException, doing: str) -> ForgeError:
    headers = {name.lower(): str(value) for name, value in (exc.headers or {}).items()}
    said = quoted(exc.data)
    if isinstance(exc, RateLimitExceededException):
        return _rate_limit(doing, status=exc.status, headers=headers, said=said)
    return refusal(doing, status=exc.status, headers=headers, said=said)


def _network_reason(exc: Exception, timeout_s: int) -> str | None:
    if isinstance(exc, _TIMEOUTS):
        return f"no answer within {timeout_s} s"
    if isinstance(exc, requests.exceptions.RetryError):
        return "GitHub stayed out of order over several tries"
    if isinstance(exc, requests.exceptions.SSLError):
        return "the server's certificate is not trusted"
    if isinstance(exc, requests.exceptions.ProxyError):
        return "the proxy does not let it through"
    if isinstance(exc, _UNREADABLE):
        return None
    return "the connection failed" if isinstance(exc, _NO_CONNECTION) else None


def _without_secrets(exc: Exception) -> Exception:
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
