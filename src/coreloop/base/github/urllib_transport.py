"""Requests to GitHub with the standard library alone, for the guard, which needs no installed packages."""

import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from coreloop.base.errors import ForgeUnavailableError
from coreloop.base.github.github_api import (
    API_VERSION,
    DEFAULT_URL,
    ApiReply,
    Verb,
    checked_host,
    checked_token,
)
from coreloop.base.github.github_errors import is_rate_limit, no_answer, quoted, without_secrets, wrong_answer

_TRIES: Final = 4  # with pauses of 0.5, 1 and 2 s: longer outages are for the next run
_BACKOFF_S: Final = 0.5  # doubled with each
_LONGEST_WAIT_S: Final = 60.0


class UrllibTransport:
    """A `Transport` with urllib.

    Reads are retried three times if GitHub is unavailable or does not answer, and after a rate limit that
    ends within a minute; after a lost answer to a write, the caller must check the result. Only reads follow
    redirects, and only to the same server.

    Parameters
    ----------
    token : str
        Masked in every text and error.
    base_url : str
        Address of the API: GITHUB_API_URL on GitHub Enterprise. Plain http only to this machine.
    timeout_s : int
        Longest wait for data from the server.
    tries : int
        Attempts in all, for requests that only read.
    backoff_s : float
        Pause before the first retry; doubles with each retry.
    sleep, now : callable
        The clock, in seconds.

    Raises
    ------
    ForgeAuthError
        `token` is empty or invalid.
    UsageError
        The address is invalid.
    """

    def __init__(
        self,
        token: str,
        *,
        base_url: str = DEFAULT_URL,
        timeout_s: int = 15,
        tries: int = _TRIES,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._token = checked_token(token)
        self.host = checked_host(base_url)
        self._base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s
        self._tries = tries
        self._sleep, self._now = sleep, now
        self._opener = build_opener(_SameServer)

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
        url = self._graphql_url() if path is None else self._base_url + path
        url += f"?{urlencode(query)}" if query else ""
        attempts = self._tries if verb == "GET" else 1
        for retry in range(attempts - 1):
            wait_s = _BACKOFF_S * 2**retry
            try:
                reply = self._ask(verb, url, body, doing)
            except ForgeUnavailableError:
                self._sleep(wait_s)
                continue
            pause_s = self._pause(reply, wait_s)
            if pause_s is None:
                return reply
            self._sleep(pause_s)
        return self._ask(verb, url, body, doing)

    def close(self) -> None:
        """Do nothing: each request has its own connection."""

    def _pause(self, reply: ApiReply, wait_s: float) -> float | None:
        """Seconds to wait before the next attempt; None for a final answer."""
        if reply.status >= 500:
            return wait_s
        if not is_rate_limit(reply.status, reply.headers, quoted(reply.text)):
            return None
        limit_s = max(self._limit_s(reply.headers), wait_s)
        return limit_s if limit_s <= _LONGEST_WAIT_S else None

    def _limit_s(self, headers: Mapping[str, str]) -> float:
        """Seconds until the rate limit resets: from the answer, else a minute, as GitHub recommends."""
        if (after := headers.get("retry-after", "")).isdecimal():
            return float(after)
        reset = headers.get("x-ratelimit-reset", "")
        # plus a second: the reset time is rounded to seconds
        return float(reset) - self._now() + 1 if reset.isdecimal() else _LONGEST_WAIT_S

    def _ask(self, verb: Verb, url: str, body: Mapping[str, Any] | None, doing: str) -> ApiReply:
        with _translated(doing, timeout_s=self._timeout_s), self._opened(verb, url, body) as answer:
            headers = {name.lower(): value for name, value in answer.headers.items()}
            status, content = int(answer.status or 0), answer.read()
        try:
            text = content.decode("utf-8", "strict" if status < 300 else "replace")
        except UnicodeDecodeError as exc:
            raise wrong_answer(doing, "it is not UTF-8") from exc
        # a server may echo the request
        return ApiReply(status, headers, text.replace(self._token, "***"))

    def _opened(self, verb: Verb, url: str, body: Mapping[str, Any] | None) -> "HTTPResponse | HTTPError":
        """The answer, of any status."""
        try:
            answer: HTTPResponse = self._opener.open(self._request(verb, url, body), timeout=self._timeout_s)
        except HTTPError as refused:
            return refused
        return answer

    def _request(self, verb: Verb, url: str, body: Mapping[str, Any] | None) -> Request:
        return Request(
            url,
            method=verb,
            data=json.dumps(body).encode() if body is not None else None,
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"token {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "coreloop",
                "X-GitHub-Api-Version": API_VERSION,
            },
        )

    def _graphql_url(self) -> str:
        """``/api/graphql`` if the REST API is ``/api/v3``."""
        return f"{self._base_url.removesuffix('/v3')}/graphql"


class _SameServer(HTTPRedirectHandler):
    """Follows redirects of reads, and never sends the token to another server."""

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if req.get_method() != "GET" or (old.scheme, old.netloc) != (new.scheme, new.netloc):
            return None  # return the redirect as the answer
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextmanager
def _translated(doing: str, *, timeout_s: int) -> Iterator[None]:
    """Translate exceptions of urllib and the network to ForgeErrors."""
    try:
        yield
    except (OSError, HTTPException, ValueError) as exc:
        reason = exc.reason if isinstance(exc, URLError) and isinstance(exc.reason, Exception) else exc
        if isinstance(reason, ValueError) and not isinstance(reason, OSError):
            raise wrong_answer(doing, type(reason).__name__) from without_secrets(exc)
        raise no_answer(doing, _network_reason(reason, timeout_s)) from without_secrets(exc)


def _network_reason(reason: Exception, timeout_s: int) -> str:
    if isinstance(reason, TimeoutError):
        return f"no answer within {timeout_s} s"
    if isinstance(reason, ssl.SSLError):
        return "the server's certificate is not trusted"
    return "the connection failed"
