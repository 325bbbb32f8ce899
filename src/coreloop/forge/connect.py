"""Which forge a promotion goes to, if any."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from coreloop.forge.protocol import Forge
from coreloop.history.repository import Repository, github_repo
from coreloop.project.settings import ForgeSettings

# As git tells them apart: a scheme, or a colon before the first slash; one letter before it is a drive.
_HOST = re.compile(r"(?!file:)[\w+.-]+://|(?!file:)[^/:\s]{2,}:(?!//)", re.IGNORECASE)


@contextmanager
def connect_forge(
    repository: Repository, settings: ForgeSettings, environ: Mapping[str, str], *, patiently: bool = True
) -> Iterator[Forge | None]:
    """The forge of a repository; None without a token, or where the remote is no GitHub repository.

    A remote that is a folder (a path, ``file://``) has no forge, whatever coreloop.yaml says: a branch that
    is pushed there is on no server. The address is taken as configured, before git's ``insteadOf``.

    Parameters
    ----------
    repository : Repository
        Its remote's address tells the GitHub repository when coreloop.yaml does not.
    settings : ForgeSettings
        ``repo``, when it is set.
    environ : mapping
        The token is in GITHUB_TOKEN or GH_TOKEN, another server's address in GITHUB_API_URL.
    patiently : bool
        Whether a request that fails is tried again.
    """
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    repo = (settings.repo or github_repo(repository)) if _has_host(repository) else None
    if not token or repo is None:
        yield None
        return
    from coreloop.forge.github_forge import GithubForge
    from coreloop.forge.pygithub_transport import Connection, patient

    url = environ.get("GITHUB_API_URL") or Connection().base_url
    connection = Connection(base_url=url, retry=patient() if patiently else None)
    with GithubForge(repo, token=token, connection=connection) as forge:
        yield forge


def _has_host(repository: Repository) -> bool:
    remote = repository.remote()
    return remote is not None and _HOST.match(repository.remote_url(remote)) is not None
