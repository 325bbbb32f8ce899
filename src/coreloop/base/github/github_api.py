"""One repository behind GitHub's REST API: a request becomes an answer or a ForgeError.

The operations are in github_forge.py and in the guard. Imports only the standard library; requests are sent
by a `Transport`, implemented with PyGithub and with urllib.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, TypeVar
from urllib.parse import parse_qsl, urlsplit

from coreloop.base.errors import ForgeAuthError, UsageError
from coreloop.base.github.github_errors import quoted, refusal, wrong_answer
from coreloop.base.validation import ShapeError, decode

DEFAULT_URL: Final = "https://api.github.com"
API_VERSION: Final = "2022-11-28"
Verb: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
_PER_PAGE: Final = "100"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApiReply:
    """A response of any status, with header names in lower case and the token masked in the text."""

    status: int
    headers: Mapping[str, str]
    text: str = field(repr=False)


class Transport(Protocol):
    """Sends requests to a server with a token.

    Attributes
    ----------
    host : str
        Name and port of the server.
    """

    host: str

    def send(
        self,
        verb: Verb,
        path: str | None,
        *,
        doing: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> ApiReply:
        """Send a request.

        Parameters
        ----------
        verb : str
            HTTP method.
        path : str, optional
            Relative to the API's address; None for the GraphQL API.
        doing : str
            The operation, as it follows "cannot" in an error message.
        query, body : mapping, optional
            Query parameters, and the JSON body.

        Raises
        ------
        ForgeError
            No answer came.
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """A successful response, not yet decoded."""

    doing: str
    link: str
    text: str = field(repr=False)

    def decoded(self, kind: type[T]) -> T:
        """The body as `kind` (`base.validation`); raises a `ForgeAnswerError` that names the field."""
        try:
            return decode(self.text, kind)
        except ShapeError as exc:
            raise wrong_answer(self.doing, str(exc)) from exc

    def next_query(self) -> dict[str, str]:
        """The query of the next page, empty after the last.

        The link's address is ignored, so that no answer can send the token to another server.
        """
        match = re.search(r'<([^<>]*)>\s*;[^,<]*\brel="?next\b', self.link)
        return dict(parse_qsl(urlsplit(match[1]).query)) if match else {}


@dataclass(frozen=True, slots=True)
class _Mutated:
    errors: tuple[Any, ...] = ()


class GithubApi:
    """GitHub's REST API below ``/repos/{owner}/{repo}``, and mutations that only GraphQL has.

    Parameters
    ----------
    repo : str
        ``owner/name``.
    transport : Transport
        Closed by `close`.

    Raises
    ------
    UsageError
        `repo` is not ``owner/name``.
    """

    __slots__ = ("_transport", "host", "repo")

    def __init__(self, repo: str, transport: Transport) -> None:
        self.repo = _checked_repo(repo)
        self.host = transport.host
        self._transport = transport

    def __repr__(self) -> str:
        return f"GithubApi({self.repo!r} at {self.host})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def get(self, path: str, *, doing: str, query: Mapping[str, str] | None = None) -> ApiAnswer:
        """Send a GET request; `doing` follows "cannot" in an error message."""
        return self._send("GET", path, doing=doing, query=query)

    def post(self, path: str, body: Mapping[str, Any], *, doing: str) -> ApiAnswer:
        """Send a POST request."""
        return self._send("POST", path, doing=doing, body=body)

    def put(self, path: str, body: Mapping[str, Any], *, doing: str) -> ApiAnswer:
        """Send a PUT request."""
        return self._send("PUT", path, doing=doing, body=body)

    def patch(self, path: str, body: Mapping[str, Any], *, doing: str) -> ApiAnswer:
        """Send a PATCH request."""
        return self._send("PATCH", path, doing=doing, body=body)

    def delete(self, path: str, *, doing: str) -> ApiAnswer:
        """Send a DELETE request."""
        return self._send("DELETE", path, doing=doing)

    def mutate(self, mutation: str, **variables: str) -> None:
        """Run a GraphQL mutation; GraphQL reports errors with a success status.

        Parameters
        ----------
        mutation : str
            Name of a mutation of a pull request.
        variables : str
            Fields of its input, each an id.
        """
        doing = f"{mutation} in {self.repo}"
        declared = ", ".join(f"${name}: ID!" for name in variables)
        given = ", ".join(f"{name}: ${name}" for name in variables)
        query = f"mutation({declared}) {{ {mutation}(input: {{{given}}}) {{ clientMutationId }} }}"
        answer = self._send("POST", None, doing=doing, body={"query": query, "variables": variables})
        errors = answer.decoded(_Mutated).errors
        if errors:
            raise refusal(doing, status=422, headers={}, detail=quoted({"errors": list(errors)}))

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

    def _send(
        self,
        verb: Verb,
        path: str | None,
        *,
        doing: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> ApiAnswer:
        full_path = f"/repos/{self.repo}{path}" if path is not None else None
        reply = self._transport.send(verb, full_path, doing=doing, query=query, body=body)
        if reply.status >= 300:
            raise refusal(doing, status=reply.status, headers=reply.headers, detail=quoted(reply.text))
        return ApiAnswer(doing=doing, link=reply.headers.get("link", ""), text=reply.text)


def checked_token(token: str) -> str:
    """The token without surrounding white space.

    Raises
    ------
    ForgeAuthError
        It is empty, or contains a character that tokens cannot contain.
    """
    if not token.strip():
        raise ForgeAuthError("there is no GitHub token; set GITHUB_TOKEN or GH_TOKEN")
    # otherwise the HTTP library refuses the header with an error that quotes it
    if not re.fullmatch(r"[!-~]+", token.strip()):
        raise ForgeAuthError(
            "the GitHub token contains a space or an invalid character; check GITHUB_TOKEN or GH_TOKEN"
        )
    return token.strip()


def checked_host(base_url: str) -> str:
    """Name and port of an API's server.

    Raises
    ------
    UsageError
        The address is invalid, or would send the token unencrypted to another machine.
    """
    url = urlsplit(base_url)
    host = url.hostname or ""
    if url.scheme not in ("http", "https") or not host or url.username is not None:
        raise UsageError(
            "GITHUB_API_URL is not the address of an API; use the form https://github.example.com/api/v3"
        )
    if url.scheme == "http" and not _is_this_machine(host):
        raise UsageError(f"GITHUB_API_URL: http would send the token to {host} unencrypted; use https")
    return url.netloc


def _checked_repo(repo: str) -> str:
    if not re.fullmatch(r"[\w-]+/(?!\.\.?$)[\w.-]+", repo, re.ASCII):
        raise UsageError(f"{repo!r} is not a repository; set forge: repo to owner/name in coreloop.yaml")
    return repo


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
