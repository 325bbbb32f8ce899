"""One repository behind GitHub's REST API, asked with the standard library alone, as the guard needs it."""

import json
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from ipaddress import ip_address
from time import sleep
from typing import Any, Final, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from coreloop.base.errors import ForgeError, ForgeUnavailableError, UsageError
from coreloop.base.github.github_errors import no_answer, quoted, refusal, wrong_answer
from coreloop.base.validation import ShapeError, decode

API_VERSION: Final = "2022-11-28"
_PER_PAGE: Final = "100"
_TRIES: Final = 4  # with pauses of 0.5, 1 and 2 s: longer outages are for the next run
_BACKOFF_S: Final = 0.5  # doubled with each
# For example https://example.com/api/v3 and http://[::1]:6006, not https://key@example.com
_ADDRESS: Final = re.compile(r"(https?)://([\w.-]+|\[[\da-f:]+\])(?::\d+)?(?:/[\w./~-]*)?")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """A response, with header names in lower case and the token masked in the text."""

    doing: str
    status: int
    headers: Mapping[str, str]
    text: str = field(repr=False)

    def decoded(self, kind: type[T]) -> T:
        """The body as `kind` (`base.validation`); raises a `ForgeError` that names the field."""
        try:
            return decode(self.text, kind)
        except ShapeError as exc:
            raise wrong_answer(self.doing, str(exc)) from exc

    def next_query(self) -> dict[str, str]:
        """The query of the next page, empty after the last.

        The link's address is ignored, so that no answer can send the token to another server.
        """
        match = re.search(r'<([^<>]*)>\s*;[^,<]*\brel="?next\b', self.headers.get("link", ""))
        return dict(parse_qsl(urlsplit(match[1]).query)) if match else {}


class GithubApi:
    """GitHub's REST API below ``/repos/{owner}/{repo}``, and mutations that only GraphQL has.

    Reads are retried three times if GitHub is unavailable or does not answer; after a lost answer to a write,
    the caller must check the result. Only reads follow redirects, and only to the same server.

    Parameters
    ----------
    repo : str
        ``owner/name``.
    token : str
        Masked in every text and error.
    base_url : str
        Address of the API: GITHUB_API_URL on GitHub Enterprise. Plain http only to this machine.
    timeout_s : int
        Longest wait for data from the server.
    tries : int
        Attempts in all, for requests that only read.
    pace_s : tuple of float
        Pauses before another request, and before one that writes.

    Raises
    ------
    ForgeError
        `token` is empty or invalid.
    UsageError
        `repo` is not ``owner/name``, or the address is invalid.
    """

    def __init__(
        self,
        repo: str,
        token: str,
        *,
        base_url: str,
        timeout_s: int = 15,
        tries: int = _TRIES,
        pace_s: tuple[float, float] = (0, 0),
    ) -> None:
        self.repo = checked_repo(repo)
        check_address(base_url)
        self._token = checked_token(token)
        self._base_url = base_url.rstrip("/")
        self._timeout_s, self._tries = timeout_s, tries
        self._pauses_s = (0.0, 0.0)  # not before the first request
        self._pace_s = pace_s
        self._opener = build_opener(_SameServer)

    def __repr__(self) -> str:
        return f"GithubApi({self.repo!r})"

    def get(self, path: str, *, doing: str, query: Mapping[str, str] | None = None) -> ApiAnswer:
        """Send a GET request; `doing` follows "cannot" in an error message."""
        return self.send("GET", f"{path}?{urlencode(query)}" if query else path, doing=doing)

    def mutate(self, mutation: str, pull_request_id: str) -> None:
        """Run a GraphQL mutation of a pull request; GraphQL reports errors with a success status."""
        doing = f"{mutation} in {self.repo}"
        input_ = "input: {pullRequestId: $pullRequestId}"
        query = f"mutation($pullRequestId: ID!) {{ {mutation}({input_}) {{ clientMutationId }} }}"
        # /api/graphql if the REST API is /api/v3
        url = f"{self._base_url.removesuffix('/v3')}/graphql"
        answer = self._checked(
            "POST", url, {"query": query, "variables": {"pullRequestId": pull_request_id}}, doing
        )
        if answer.decoded(dict[str, Any]).get("errors"):
            raise refusal(doing, status=422, headers={}, detail=quoted(answer.text))

    def pages(self, path: str, kind: type[list[T]], *, doing: str, **query: str) -> Iterator[T]:
        """Read all pages of a list, 100 items per request."""
        page = {**query, "per_page": _PER_PAGE}
        requested: list[dict[str, str]] = []
        while page:
            if page in requested:
                raise wrong_answer(doing, "its page links form a loop")
            requested.append(page)
            answer = self.get(path, doing=doing, query=page)
            yield from answer.decoded(kind)
            page = answer.next_query()

    def send(self, verb: str, path: str, body: Mapping[str, Any] | None = None, *, doing: str) -> ApiAnswer:
        """Send a request, of a read several times if necessary."""
        url = f"{self._base_url}/repos/{self.repo}{path}"
        for retry in range(self._tries - 1 if verb == "GET" else 0):
            try:
                return self._checked(verb, url, body, doing)
            except ForgeUnavailableError:
                sleep(_BACKOFF_S * 2**retry)
        return self._checked(verb, url, body, doing)

    def _checked(self, verb: str, url: str, body: Mapping[str, Any] | None, doing: str) -> ApiAnswer:
        answer = self._ask(verb, url, body, doing)
        if answer.status >= 300:
            raise refusal(doing, status=answer.status, headers=answer.headers, detail=quoted(answer.text))
        return answer

    def _ask(self, verb: str, url: str, body: Mapping[str, Any] | None, doing: str) -> ApiAnswer:
        if pause_s := self._pauses_s[verb != "GET"]:
            sleep(pause_s)
        self._pauses_s = self._pace_s
        with _translated(doing, timeout_s=self._timeout_s), self._opened(verb, url, body) as answer:
            headers = {name.lower(): value for name, value in answer.headers.items()}
            status, content = int(answer.status or 0), answer.read()
        try:
            text = content.decode("utf-8", "strict" if status < 300 else "replace")
        except UnicodeDecodeError as exc:
            raise wrong_answer(doing, "it is not UTF-8") from exc
        # a server may echo the request
        return ApiAnswer(doing, status, headers, text.replace(self._token, "***"))

    def _opened(self, verb: str, url: str, body: Mapping[str, Any] | None) -> "HTTPResponse | HTTPError":
        """The answer, of any status."""
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"token {self._token}",
            "Content-Type": "application/json",
            "User-Agent": "coreloop",
            "X-GitHub-Api-Version": API_VERSION,
        }
        data = json.dumps(body).encode() if body is not None else None
        request = Request(url, data, headers, method=verb)
        try:
            answer: HTTPResponse = self._opener.open(request, timeout=self._timeout_s)
        except HTTPError as refused:
            return refused
        return answer


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
            raise wrong_answer(doing, type(reason).__name__) from None  # its frames hold the token
        raise no_answer(doing, _network_reason(reason, timeout_s)) from None  # its frames hold the token


def _network_reason(reason: Exception, timeout_s: int) -> str:
    if isinstance(reason, TimeoutError):
        return f"no answer within {timeout_s} s"
    if isinstance(reason, ssl.SSLError):
        return "the server's certificate is not trusted"
    return "the connection failed"


def checked_token(token: str) -> str:
    """The token without surrounding white space.

    Raises
    ------
    ForgeError
        It is empty, or contains a character that tokens cannot contain.
    """
    if not token.strip():
        raise ForgeError("there is no GitHub token; set GITHUB_TOKEN or GH_TOKEN")
    # otherwise the HTTP library refuses the header with an error that quotes it
    if not re.fullmatch(r"[!-~]+", token.strip()):
        raise ForgeError(
            "the GitHub token contains a space or an invalid character; check GITHUB_TOKEN or GH_TOKEN"
        )
    return token.strip()


def check_address(base_url: str, name: str = "GITHUB_API_URL", *, has_key: bool = True) -> None:
    """Raise `UsageError` if an API's address is invalid, or would send a key in the clear elsewhere."""
    match = _ADDRESS.fullmatch(base_url)
    if match is None:
        raise UsageError(f"{name} is not the address of an API; use the form https://example.com/path")
    host = match[2].strip("[]")
    if match[1] == "http" and has_key and not _is_this_machine(host):
        raise UsageError(f"{name}: http would send the token to {host} unencrypted; use https")


def checked_repo(repo: str) -> str:
    """``owner/name``, or a `UsageError`."""
    if not re.fullmatch(r"[\w-]+/(?!\.\.?$)[\w.-]+", repo, re.ASCII):
        raise UsageError(f"{repo!r} is not a repository; set forge: repo to owner/name in coreloop.yaml")
    return repo


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
