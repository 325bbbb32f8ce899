"""Which forge a promotion goes to, if any; and where the pull request's text goes when there is none."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from coreloop.promote.forge import Forge
from coreloop.promote.promotion import Plan
from coreloop.repository import Repository, github_repo
from coreloop.settings import ForgeSettings
from coreloop.workspace import write_private


@contextmanager
def connect_forge(
    repository: Repository, settings: ForgeSettings, environ: Mapping[str, str]
) -> Iterator[Forge | None]:
    """The forge of a repository; None without a token, or where the remote is no GitHub repository.

    Parameters
    ----------
    repository : Repository
        Its remote's address tells the GitHub repository when coreloop.yaml does not.
    settings : ForgeSettings
        ``repo``, when it is set.
    environ : mapping
        The token is in GITHUB_TOKEN or GH_TOKEN, another server's address in GITHUB_API_URL.
    """
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    repo = settings.repo or github_repo(repository)
    if not token or repo is None:
        yield None
        return
    from coreloop.promote.github_api import Connection, patient
    from coreloop.promote.github_forge import GithubForge

    url = environ.get("GITHUB_API_URL") or Connection().base_url
    with GithubForge(repo, token=token, connection=Connection(base_url=url, retry=patient())) as forge:
        yield forge


def keep_body(plan: Plan, candidates: Path) -> Path:
    """Write the pull request's text beside the candidates file."""
    path = candidates.parent / f"{plan.proposal.id}-pull-request.md"
    write_private(path, plan.body.encode())
    return path
