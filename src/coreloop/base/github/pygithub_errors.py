"""Exceptions of PyGithub and its libraries as ForgeErrors.

The only module that knows these exceptions. Everything that could contain the token is removed from them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import requests
import urllib3
from github import BadAttributeException, GithubException, RateLimitExceededException

from coreloop.base.errors import ForgeError
from coreloop.base.github.github_errors import (
    no_answer,
    quoted,
    rate_limit,
    refusal,
    without_secrets,
    wrong_answer,
)

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
