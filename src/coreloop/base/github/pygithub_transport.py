"""Requests to GitHub with PyGithub, for promotions."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import requests
import urllib3
from github import (
    Auth,
    BadAttributeException,
    Github,
    GithubException,
    GithubRetry,
    RateLimitExceededException,
)
from urllib3.util import Retry

from coreloop.base.errors import ForgeError
from coreloop.base.github.github_api import (
    API_VERSION,
    DEFAULT_URL,
    ApiReply,
    Verb,
    checked_host,
    checked_token,
)
from coreloop.base.github.github_errors import (
    no_answer,
    quoted,
    rate_limit,
    refusal,
    without_secrets,
    wrong_answer,
)

# PyGithub logs to stderr by default, where an error must be a single line. Configured logging is unaffected.
logging.getLogger("github").handlers[:] = [logging.NullHandler()]


def patient() -> Retry:
    """Three retries for reads; after a lost answer to a write, the caller must check the result.

    Waits at most a minute for a rate limit.
    """
    # raise_on_status: the last answer says more than the library's "too many retries"
    return GithubRetry(
        total=3, backoff_factor=0.5, allowed_methods={"GET"}, raise_on_status=False, max_rate_limit_wait=60
    )


@dataclass(frozen=True, slots=True)
class Connection:
    """Connection settings for GitHub.

    Attributes
    ----------
    base_url : str
        Address of the API: GITHUB_API_URL on GitHub Enterprise. Plain http only to this machine.
    retry : Retry | int | None
        The retries, see `patient`; None for no retries.
    timeout_s : int
        Longest wait for data from the server.
    seconds_between_requests, seconds_between_writes : float
        The pace that GitHub recommends.
    """

    base_url: str = DEFAULT_URL
    retry: Retry | int | None = None
    timeout_s: int = 15
    seconds_between_requests: float = 0.25
    seconds_between_writes: float = 1.0


class PygithubTransport:
    """A `Transport` with PyGithub.

    PyGithub does the authentication, pacing, retries, and logging with a masked token. Its objects are not
    used: they fetch missing fields with additional requests, read branch protection in a retired preview
    format, do not support branch rules, and detect a malformed answer only when the field is read.

    Parameters
    ----------
    token : str
        Stored in PyGithub only.
    connection : Connection

    Raises
    ------
    ForgeAuthError
        `token` is empty or invalid.
    UsageError
        The address is invalid.
    """

    __slots__ = ("_github", "_timeout_s", "host")

    def __init__(self, token: str, connection: Connection) -> None:
        auth = Auth.Token(checked_token(token))
        self.host = checked_host(connection.base_url)
        self._timeout_s = connection.timeout_s
        self._github = Github(
            auth=auth,
            base_url=connection.base_url.rstrip("/"),
            retry=connection.retry,
            timeout=connection.timeout_s,
            user_agent="coreloop",
            seconds_between_requests=connection.seconds_between_requests,
            seconds_between_writes=connection.seconds_between_writes,
            api_version=API_VERSION,
        )

    def send(
        self,
        verb: Verb,
        path: str | None,
        *,
        doing: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> ApiReply:
        """`Transport.send`."""
        with translated(doing, timeout_s=self._timeout_s):
            requester = self._github.requester
            url = path if path is not None else requester.graphql_url
            status, headers, text = requester.requestJson(verb, url, parameters=dict(query or {}), input=body)
            return ApiReply(status, headers, self._masked(text))

    def close(self) -> None:
        """Close the connection."""
        self._github.close()

    def _masked(self, text: str) -> str:
        # a server may echo the request
        auth = self._github.requester.auth
        return text.replace(auth.token, "***") if auth else text


# Besides their own exceptions, the libraries pass on OSError, and raise ValueError for unreadable headers and
# text, RuntimeError for redirects, and AssertionError for addresses that they refuse to follow.
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
    """Translate exceptions of PyGithub and the network to ForgeErrors."""
    try:
        yield
    except FOREIGN as exc:
        raise translate(exc, doing, timeout_s=timeout_s) from without_secrets(exc)


def translate(exc: Exception, doing: str, *, timeout_s: int) -> ForgeError:
    """The ForgeError for a foreign exception, without the exception's text."""
    if isinstance(exc, GithubException):
        return _translate_status(exc, doing)
    if reason := _network_reason(exc, timeout_s):
        return no_answer(doing, reason)
    return wrong_answer(doing, type(exc).__name__)


def _translate_status(exc: GithubException, doing: str) -> ForgeError:
    headers = {name.lower(): str(value) for name, value in (exc.headers or {}).items()}
    detail = quoted(exc.data)
    if isinstance(exc, RateLimitExceededException):
        return rate_limit(doing, status=exc.status, headers=headers, detail=detail)
    return refusal(doing, status=exc.status, headers=headers, detail=detail)


def _network_reason(exc: Exception, timeout_s: int) -> str | None:
    if isinstance(exc, _TIMEOUTS):
        return f"no answer within {timeout_s} s"
    if isinstance(exc, requests.exceptions.RetryError):
        return "GitHub stayed unavailable over several attempts"
    if isinstance(exc, requests.exceptions.SSLError):
        return "the server's certificate is not trusted"
    if isinstance(exc, requests.exceptions.ProxyError):
        return "the proxy refused the request"
    if isinstance(exc, _UNREADABLE):
        return None
    return "the connection failed" if isinstance(exc, _NO_CONNECTION) else None
