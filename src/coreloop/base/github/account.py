"""The account that owns a repository."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from coreloop.base.errors import CoreloopError
from coreloop.base.github.github_api import DEFAULT_URL, GithubApi
from coreloop.base.github.urllib_transport import UrllibTransport

_ANSWER_S: Final = 5  # whoever waits for `init` goes on without the answer


@dataclass(frozen=True, slots=True)
class _Owner:
    type: str


@dataclass(frozen=True, slots=True)
class _Owned:
    owner: _Owner


def account_type(repo: str, environ: Mapping[str, str]) -> str | None:
    """Ask GitHub whether a repository's owner is a ``User`` or an ``Organization``.

    Parameters
    ----------
    repo : str
        ``owner/name``.
    environ : mapping
        The token in ``GITHUB_TOKEN`` or ``GH_TOKEN``, ``GITHUB_API_URL``.

    Returns
    -------
    str or None
        None without a token or an answer.
    """
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    if not token:
        return None
    url = environ.get("GITHUB_API_URL") or DEFAULT_URL
    try:
        transport = UrllibTransport(token, base_url=url, timeout_s=_ANSWER_S, tries=1)
        with GithubApi(repo, transport) as api:
            return api.get("", doing=f"read {repo}").decoded(_Owned).owner.type
    except CoreloopError:
        return None
