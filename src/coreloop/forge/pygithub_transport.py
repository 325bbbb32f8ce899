"""Requests to GitHub by PyGithub: for whoever changes the outside world."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from github import Auth, Github, GithubRetry
from urllib3.util import Retry

from coreloop.forge.github_api import API_VERSION, DEFAULT_URL, Reply, Verb, checked_host, checked_token
from coreloop.forge.pygithub_errors import translated

# PyGithub prints its log on stderr by itself, where the one line of an error should stand alone. Whoever has
# set up logging still gets it.
logging.getLogger("github").handlers[:] = [logging.NullHandler()]


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

    base_url: str = DEFAULT_URL
    retry: Retry | int | None = None
    timeout_s: int = 15
    seconds_between_requests: float = 0.25
    seconds_between_writes: float = 1.0


class PygithubTransport:
    """A `Transport` by PyGithub.

    It does the authentication, pacing, retries, and the logging with the token masked. Its objects are not
    used: they fetch what they lack with requests of their own, ask for branch protection in a retired preview
    format, do not know branch rules, and notice an ill-formed answer only where somebody reads the field.

    Parameters
    ----------
    token : str
        Kept inside PyGithub only.
    connection : Connection

    Raises
    ------
    ForgeAuthError
        `token` is empty, or cannot be one.
    UsageError
        The address cannot be meant.
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
    ) -> Reply:
        """`Transport.send`."""
        with translated(doing, timeout_s=self._timeout_s):
            requester = self._github.requester
            url = path if path is not None else requester.graphql_url
            status, headers, text = requester.requestJson(verb, url, parameters=dict(query or {}), input=body)
            return Reply(status, headers, self._masked(text))

    def close(self) -> None:
        """Close the connection."""
        self._github.close()

    def _masked(self, text: str) -> str:
        # a server that repeats what it was sent
        auth = self._github.requester.auth
        return text.replace(auth.token, "***") if auth else text
