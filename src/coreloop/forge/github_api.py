"""One repository behind GitHub's REST API: a request through PyGithub becomes an answer or a ForgeError.

Knows no operation; those are in github_forge.py.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Literal, Self, TypeVar
from urllib.parse import parse_qsl, urlsplit

import msgspec
from github import Auth, Github, GithubRetry
from urllib3.util import Retry

from coreloop.errors import ForgeAuthError, UsageError
from coreloop.forge.github_errors import quoted, refusal, translated, wrong_answer

_API_VERSION = "2022-11-28"
_PER_PAGE = "100"
# PyGithub prints its log on stderr by itself, where the one line of an error should stand alone. Whoever has
# set up logging still gets it.
logging.getLogger("github").handlers[:] = [logging.NullHandler()]

T = TypeVar("T")


def patient() -> Retry:
    """Three more tries for what only reads; a lost answer to a write is for the caller to look into.

    Waits at most a minute for a used-up rate limit.
    """
    # raise_on_status: the last answer tells more than that there were too many
    return GithubRetry(
        total=3, backoff_factor=0.5, allowed_methods={"GET"}, raise_on_status=False, max_rate_limit_wait=60
    )


@dataclass(frozen=True, slots=True)
class Connection:
    """How GitHub is reached.

    Attributes
    ----------
    base_url : str
        Address of the API: GITHUB_API_URL on GitHub Enterprise. Plain http only to this machine.
    retry : Retry | int | None
        What is tried again, see `patient`; None for nothing.
    timeout_s : int
        Longest silence of the server.
    seconds_between_requests, seconds_between_writes : float
        The pace that GitHub asks for.
    """

    base_url: str = "https://api.github.com"
    retry: Retry | int | None = None
    timeout_s: int = 15
    seconds_between_requests: float = 0.25
    seconds_between_writes: float = 1.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of success, not yet read."""

    doing: str
    link: str
    text: str = field(repr=False)

    def decoded(self, kind: type[T]) -> T:
        """The body as `kind`, or a `ForgeAnswerError` that names the field."""
        try:
            return msgspec.json.decode(self.text, type=kind)
        except (msgspec.MsgspecError, UnicodeError) as exc:
            raise wrong_answer(self.doing, str(exc)) from exc

    def next_query(self) -> dict[str, str]:
        """The query of the next page, empty after the last.

        The link's address is left alone, so that no answer can send the token elsewhere.
        """
        found = re.search(r'<([^>]*)>\s*;[^,<]*\brel="?next\b', self.link)
        return dict(parse_qsl(urlsplit(found[1]).query)) if found else {}


class _Mutated(msgspec.Struct):
    errors: list[dict[str, Any]] = []


class GithubApi:
    """The part of GitHub's REST API below ``/repos/{owner}/{repo}``, and the mutations that only GraphQL has.

    PyGithub does the authentication, pacing, retries, and the logging with the token masked. Its objects are
    not used: they fetch what they lack with requests of their own, ask for branch protection in a retired
    preview format, do not know branch rules, and notice an ill-formed answer only where somebody reads the
    field.

    Parameters
    ----------
    repo : str
        ``owner/name``.
    token : str
        Kept inside PyGithub only.
    connection : Connection

    Raises
    ------
    ForgeAuthError
        `token` is empty, or cannot be one.
    UsageError
        `repo` or the address cannot be meant.
    """

    __slots__ = ("_github", "_timeout_s", "host", "repo")

    def __init__(self, repo: str, *, token: str, connection: Connection) -> None:
        if problem := _token_problem(token):
            raise ForgeAuthError(problem)
        self.repo = _checked_repo(repo)
        self.host = _checked_host(connection.base_url)
        self._timeout_s = connection.timeout_s
        self._github = Github(
            auth=Auth.Token(token.strip()),
            base_url=connection.base_url.rstrip("/"),
            retry=connection.retry,
            timeout=connection.timeout_s,
            user_agent="coreloop",
            seconds_between_requests=connection.seconds_between_requests,
            seconds_between_writes=connection.seconds_between_writes,
            api_version=_API_VERSION,
        )

    def __repr__(self) -> str:
        return f"GithubApi({self.repo!r} at {self.host})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._github.close()

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
            raise refusal(doing, status=422, headers={}, said=quoted({"errors": errors}))

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
        verb: Literal["GET", "POST", "PUT", "PATCH", "DELETE"],
        path: str | None,
        *,
        doing: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Answer:
        with translated(doing, timeout_s=self._timeout_s):
            requester = self._github.requester
            url = f"/repos/{self.repo}{path}" if path is not None else requester.graphql_url
            status, headers, text = requester.requestJson(verb, url, parameters=dict(query or {}), input=body)
            text = self._masked(text)
        if status >= 300:
            raise refusal(doing, status=status, headers=headers, said=quoted(text))
        return Answer(doing=doing, link=headers.get("link", ""), text=text)

    def _masked(self, text: str) -> str:
        # a server that repeats what it was sent
        auth = self._github.requester.auth
        return text.replace(auth.token, "***") if auth else text


def _token_problem(token: str) -> str | None:
    if not token.strip():
        return "there is no token for GitHub; put one into GITHUB_TOKEN or GH_TOKEN"
    # else the HTTP library would refuse the header, and quote it
    if not re.fullmatch(r"[!-~]+", token.strip()):
        return (
            "the token for GitHub holds a space or a sign that no token has; check GITHUB_TOKEN or GH_TOKEN"
        )
    return None


def _checked_repo(repo: str) -> str:
    if not re.fullmatch(r"[\w-]+/(?!\.\.?$)[\w.-]+", repo, re.ASCII):
        raise UsageError(f"{repo!r} is no repository; write repo: owner/name under forge: in coreloop.yaml")
    return repo


def _checked_host(base_url: str) -> str:
    url = urlsplit(base_url)
    host = url.hostname or ""
    if url.scheme not in ("http", "https") or not host or url.username is not None:
        raise UsageError(
            "GITHUB_API_URL is no address of an API; write one like https://github.example.com/api/v3"
        )
    if url.scheme == "http" and not _is_this_machine(host):
        raise UsageError(f"GITHUB_API_URL: http would send the token to {host} in the clear; write https")
    return url.netloc


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
