"""Every failure of PyGithub and of the libraries below it, as one clear ForgeError.

The only place that knows their exceptions. What hangs on one is stripped of everything that could hold the
token.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import requests
import urllib3
from github import BadAttributeException, GithubException, RateLimitExceededException

from coreloop.errors import ForgeError
from coreloop.forge.github_errors import (
    no_answer,
    quoted,
    rate_limit,
    refusal,
    without_secrets,
    wrong_answer,
)

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
        raise translate(exc, doing, timeout_s=timeout_s) from without_secrets(exc)


def translate(exc: Exception, doing: str, *, timeout_s: int) -> ForgeError:
    """Name the failure that a foreign exception means, without a word of the exception's own."""
    if isinstance(exc, GithubException):
        return _translate_status(exc, doing)
    if reason := _network_reason(exc, timeout_s):
        return no_answer(doing, reason)
    return wrong_answer(doing, type(exc).__name__)


def _translate_status(exc: GithubException, doing: str) -> ForgeError:
    headers = {name.lower(): str(value) for name, value in (exc.headers or {}).items()}
    said = quoted(exc.data)
    if isinstance(exc, RateLimitExceededException):
        return rate_limit(doing, status=exc.status, headers=headers, said=said)
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
