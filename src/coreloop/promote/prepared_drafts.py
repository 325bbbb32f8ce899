"""Drafts as files, for a job whose token can only read; another job pushes their branches and opens them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from coreloop.base.errors import PullRequestExistsError, UsageError
from coreloop.base.files import write_private
from coreloop.base.git.repository import Repository
from coreloop.base.github.connect import connect_forge
from coreloop.base.github.protocol import Forge, PullRequest, ReviewRequired, ReviewRule
from coreloop.base.project.promotion_settings import ForgeSettings


class PreparedDrafts:
    """A `Forge` that reads from another, and writes pull requests into a folder instead.

    The files are ``1.json``, ``2.json``, …, each the head, base, title and body of a pull request. One that
    is not opened yet has its file's number, negated, and its branch as address.

    Parameters
    ----------
    forge : Forge
        Which pull requests there are.
    folder : Path
        May hold drafts already; created with the first.
    """

    __slots__ = ("_folder", "_forge")

    def __init__(self, forge: Forge, folder: Path) -> None:
        self._forge, self._folder = forge, folder

    def open_pull_requests(self) -> tuple[PullRequest, ...]:
        """All open pull requests of coreloop, oldest first, and those that will be opened."""
        pulls = self._forge.open_pull_requests()
        branches = {pull.branch for pull in pulls}
        return (*pulls, *(pull for pull in self._prepared() if pull.branch not in branches))

    def closed_pull_requests(self, *, since: datetime) -> tuple[PullRequest, ...]:
        """As the other forge."""
        return self._forge.closed_pull_requests(since=since)

    def find_pull_request(self, key: str, *, since: datetime | None = None) -> PullRequest | None:
        """As the other forge, or one that will be opened."""
        prepared = (pull for pull in self._prepared() if pull.has_key(key))
        return self._forge.find_pull_request(key, since=since) or next(prepared, None)

    def open_draft(self, *, branch: str, base: str, title: str, body: str) -> PullRequest:
        """Write the draft's file."""
        if any(pull.branch == branch for pull in self.open_pull_requests()):
            raise PullRequestExistsError(f"{branch} has a pull request already")
        return self._write(branch, base, title, body)

    def rewrite(self, number: int, *, title: str, body: str) -> None:
        """Write the file of a pull request that has other words or another commit."""
        pull = next(pull for pull in self.open_pull_requests() if pull.number == number)
        self._write(pull.branch, pull.base, title, body)

    def add_label(self, number: int) -> None:
        """Nothing: what opens a draft labels it."""

    def review_rule(self, base: str) -> ReviewRule:
        """A review is required: what opens the draft checks it, since only its token may read that."""
        return ReviewRequired(approvals=1, source="branch protection")

    def _prepared(self) -> Iterator[PullRequest]:
        for path in sorted(self._folder.glob("*.json")):
            fields = json.loads(path.read_bytes())
            yield PullRequest(
                number=-int(path.stem),
                url=fields["head"],
                title=fields["title"],
                state="open",
                draft=True,
                branch=fields["head"],
                base=fields["base"],
                head_sha="",
                same_repo=True,
                merged=False,
                created_at=datetime.max.replace(tzinfo=UTC),
                body=fields["body"],
            )

    def _write(self, branch: str, base: str, title: str, body: str) -> PullRequest:
        prepared = {pull.branch: -pull.number for pull in self._prepared()}
        number = prepared.get(branch, len(prepared) + 1)
        fields = {"head": branch, "base": base, "title": title, "body": body}
        write_private(self._folder / f"{number}.json", json.dumps(fields).encode())
        return next(pull for pull in self._prepared() if pull.branch == branch)


@contextmanager
def connect_prepared(
    folder: Path, repository: Repository, settings: ForgeSettings, environ: Mapping[str, str]
) -> Iterator[Forge]:
    """The forge of a repository, with drafts as files in a folder.

    Raises
    ------
    UsageError
        There is no forge to read from.
    """
    with connect_forge(repository, settings, environ) as forge:
        if forge is None:
            raise UsageError("there is no token or no GitHub repository")
        yield PreparedDrafts(forge, folder)
