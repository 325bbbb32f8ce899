"""One repository behind GitHub's REST API: a request becomes an answer or a ForgeError.

Knows no operation; those are in github_forge.py and in the guard. The standard library alone: who sends the
requests is a `Transport`, of which there is one by PyGithub and one by urllib.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, TypeVar
from urllib.parse import parse_qsl, urlsplit

from coreloop.errors import ForgeAuthError, UsageError
from coreloop.forge.github_errors import quoted, refusal, wrong_answer
from coreloop.shapes import ShapeError, decode

DEFAULT_URL: Final = "https://api.github.com"
API_VERSION: Final = "2022-11-28"
Verb: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
_PER_PAGE: Final = "100"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, of whatever status: the names of the headers in lower case, no token in the text."""

    status: int
    headers: Mapping[str, str]
    text: str = field(repr=False)


class Transport(Protocol):
    """What sends requests to one server with one token.

    Attributes
    ----------
    host : str
        Name of the server, and its port.
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
    ) -> Reply:
        """Send one request.

        Parameters
        ----------
        verb : str
            Its method.
        path : str, optional
            Below the API's address; None is the GraphQL API.
        doing : str
            What is asked, as it follows "cannot" in the message of a failure.
        query, body : mapping, optional
            What is asked for, and what is sent as JSON.

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
class Answer:
    """An answer of success, not yet read."""

    doing: str
    link: str
    text: str = field(repr=False)

    def decoded(self, kind: type[T]) -> T:
        """The body as `kind`, see `coreloop.shapes`, or a `ForgeAnswerError` that names the field."""
        try:
            return decode(self.text, kind)
        except ShapeError as exc:
            raise wrong_answer(self.doing, str(exc)) from exc

    def next_query(self) -> dict[str, str]:
        """The query of the next page, empty after the last.

        The link's address is left alone, so that no answer can send the token elsewhere.
        """
        found = re.search(r'<([^>]*)>\s*;[^,<]*\brel="?next\b', self.link)
        return dict(parse_qsl(urlsplit(found[1]).query)) if found else {}


@dataclass(frozen=True, slots=True)
class _Mutated:
    errors: tuple[Any, ...] = ()


class GithubApi:
    """The part of GitHub's REST API below ``/repos/{owner}/{repo}``, and the mutations that only GraphQL has.

    Parameters
    ----------
    repo : str
        ``owner/name``.
    transport : Transport
        Closed with this.

    Raises
    ------
    UsageError
        `repo` cannot be meant.
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

    def get(self, path: str, *, doing: str, query: Mapping[str, str] | None = None) -> Answer:
        """Read one thing; `doing` follows "cannot" in the message of a failure."""
        return self._send("GET", path, doing=doing, query=query)

    def post(self, path: str, body: Mapping[str, Any], *, doing: str) -> Answer:
        """Make one thing."""
        return self._send("POST", path, doing=doing, body=body)

    def put(self, path: str, body: Mapping[str, Any], *, doing: str) -> Answer:
        """Put one thing in the place of another."""
        return self._send("PUT", path, doing=doing, body=body)

    def patch(self, path: str, body: Mapping[str, Any], *, doing: str) -> Answer:
        """Change a part of one thing."""
        return self._send("PATCH", path, doing=doing, body=body)

    def delete(self, path: str, *, doing: str) -> Answer:
        """Take one thing away."""
        return self._send("DELETE", path, doing=doing)

    def mutate(self, mutation: str, **variables: str) -> None:
        """Do what only the GraphQL API can; its refusals come with the status of success.

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
            raise refusal(doing, status=422, headers={}, said=quoted({"errors": list(errors)}))

    def pages(self, path: str, kind: type[list[T]], *, doing: str, **query: str) -> Iterator[T]:
        """Read a list to its end, a request per hundred items."""
        wanted = {**query, "per_page": _PER_PAGE}
        asked: list[dict[str, str]] = []
        while wanted:
            if wanted in asked:
                raise wrong_answer(doing, "its pages lead in a circle")
            asked.append(wanted)
            answer = self.get(path, doing=doing, query=wanted)
            yield from answer.decoded(kind)
            wanted = answer.next_query()

    def _send(
        self,
        verb: Verb,
        path: str | None,
        *,
        doing: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Answer:
        below = f"/repos/{self.repo}{path}" if path is not None else None
        reply = self._transport.send(verb, below, doing=doing, query=query, body=body)
        if reply.status >= 300:
            raise refusal(doing, status=reply.status, headers=reply.headers, said=quoted(reply.text))
        return Answer(doing=doing, link=reply.headers.get("link", ""), text=reply.text)


def checked_token(token: str) -> str:
    """The token without white space around it.

    Raises
    ------
    ForgeAuthError
        It is empty, or cannot be one.
    """
    if not token.strip():
        raise ForgeAuthError("there is no token for GitHub; put one into GITHUB_TOKEN or GH_TOKEN")
    # else the HTTP library would refuse the header, and quote it
    if not re.fullmatch(r"[!-~]+", token.strip()):
        raise ForgeAuthError(
            "the token for GitHub holds a space or a sign that no token has; check GITHUB_TOKEN or GH_TOKEN"
        )
    return token.strip()


def checked_host(base_url: str) -> str:
    """Name and port of the server of an API.

    Raises
    ------
    UsageError
        The address is none, or would send the token in the clear to another machine.
    """
    url = urlsplit(base_url)
    host = url.hostname or ""
    if url.scheme not in ("http", "https") or not host or url.username is not None:
        raise UsageError(
            "GITHUB_API_URL is no address of an API; write one like https://github.example.com/api/v3"
        )
    if url.scheme == "http" and not _is_this_machine(host):
        raise UsageError(f"GITHUB_API_URL: http would send the token to {host} in the clear; write https")
    return url.netloc


def _checked_repo(repo: str) -> str:
    if not re.fullmatch(r"[\w-]+/(?!\.\.?$)[\w.-]+", repo, re.ASCII):
        raise UsageError(f"{repo!r} is no repository; write repo: owner/name under forge: in coreloop.yaml")
    return repo


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
