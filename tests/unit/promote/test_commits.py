"""Git as promotion writes it: bytes stay bytes, nothing local moves, errors are one line without a secret."""

import subprocess
from pathlib import Path

import pytest

from coreloop.base.errors import GitError
from coreloop.promote.commits import WritableRepository
from promoting import BRANCH, FILE, SOURCE, Project, run_git
from rows import slow_after

MESSAGE = "[CORELOOP-R] docs(분석): 제목\n\nText.\n\nPhase: R\n"
SOURCES = [
    pytest.param(SOURCE.replace(b"\n", b"\r\n"), id="CRLF"),
    pytest.param("# -*- coding: cp949 -*-\n# 수익성\n".encode("cp949") + SOURCE, id="cp949"),
    pytest.param(b"\xef\xbb\xbf" + SOURCE.rstrip(b"\n"), id="BOM, no final newline"),
    pytest.param(SOURCE + b"# $Id$ $Id: 1 $  \n", id="keywords and trailing spaces"),
    pytest.param(b"", id="empty"),
]
FILTERS = {
    "plain": (),
    "autocrlf": (("core.autocrlf", "true"), ("core.safecrlf", "true")),
    "filters": (("filter.shout.clean", "tr a-z A-Z"), ("filter.shout.required", "true")),
}
ATTRIBUTES = "*.py filter=shout text eol=crlf ident working-tree-encoding=UTF-16\n"


@pytest.fixture
def repository(project: Project):
    return WritableRepository(project.root)


def head(project: Project) -> str:
    return project.git("rev-parse", "HEAD")


def blob(project: Project, revision: str, path: str = FILE) -> bytes:
    """A file's bytes, asked of git without coreloop."""
    command = ["git", "cat-file", "blob", f"{revision}:{path}"]
    return subprocess.run(command, cwd=project.root, capture_output=True, check=True).stdout


@pytest.mark.parametrize("filters", slow_after(1, FILTERS))
@pytest.mark.parametrize("source", SOURCES)
def test_no_byte_is_changed_on_the_way_in_or_out(project, repository, source: bytes, filters: str) -> None:
    base = project.commit({".gitattributes": ATTRIBUTES} if filters == "filters" else {})
    for name, value in FILTERS[filters]:
        project.git("config", name, value)
    sha = repository.commit_file(base, FILE, source, MESSAGE)
    assert blob(project, sha) == source
    assert repository.read(sha, FILE) == source


NO_FILES = [
    pytest.param("missing.py", id="not there"),
    pytest.param("tools", id="folder"),
    pytest.param("link.py", id="link"),
    pytest.param("sub", id="submodule"),
]


@pytest.mark.parametrize("path", NO_FILES)
def test_only_a_regular_file_is_read_and_replaced(
    project: Project, repository: WritableRepository, path: str
) -> None:
    (project.root / "link.py").symlink_to("/etc/passwd")
    project.git("add", "link.py")
    project.git("update-index", "--add", "--cacheinfo", f"160000,{head(project)},sub")
    base = project.commit({})
    assert repository.read(base, path) is None
    with pytest.raises(GitError, match=f"{path} is not a regular file in {base[:12]}"):
        repository.commit_file(base, path, b"", MESSAGE)


def test_commit_without_an_author_is_refused(project, repository, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{who}_NAME")
        monkeypatch.delenv(f"GIT_{who}_EMAIL")
    project.git("config", "user.useConfigOnly", "true")
    with pytest.raises(GitError, match="git commit-tree: fatal: no email was given") as caught:
        repository.commit_file(head(project), FILE, b"x", MESSAGE)
    assert str(caught.value).isprintable()
    project.git("config", "user.name", "Someone")
    project.git("config", "user.email", "someone@example.org")
    sha = repository.commit_file(head(project), FILE, b"x", MESSAGE)
    assert project.git("log", "-1", "--format=%an <%ae>", sha) == "Someone <someone@example.org>"


def published(project: Project, repository: WritableRepository, remote: str | None = "origin") -> str:
    sha = repository.commit_file(head(project), FILE, b"x = 1\n", MESSAGE)
    repository.publish(sha, BRANCH, remote=remote)
    return sha


def test_nothing_but_the_branch_is_pushed(project: Project, repository: WritableRepository) -> None:
    project.git("config", "push.followTags", "true")
    project.git("tag", "-a", "private", "-m", "mine")
    published(project, repository)
    assert run_git(project.remote, "tag") == ""


@pytest.mark.parametrize("remote", ["origin", None])
def test_branch_that_came_to_be_meanwhile_is_not_overwritten(project, repository, remote: str | None) -> None:
    first = published(project, repository, remote)
    other = repository.commit_file(first, FILE, b"y = 2\n", MESSAGE)  # even where it would be a fast-forward
    with pytest.raises(GitError, match="stale info" if remote else "already exists") as caught:
        repository.publish(other, BRANCH, remote=remote)
    assert str(caught.value).isprintable()
    assert repository.heads(remote)[BRANCH] == first


# port 1: nobody listens there; git itself takes most passwords out of its messages, but not all
ADDRESSES = [
    pytest.param("http://me:canary@127.0.0.1:1/x.git", id="password"),
    pytest.param("http://me:canary@more@127.0.0.1:1/x.git", id="at sign in it"),
    pytest.param("http://me:canary@127.0.0.1:no-port/x.git", id="no port"),
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_password_of_an_address_is_in_no_error(project, repository, monkeypatch, address: str) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    project.git("remote", "set-url", "origin", address)
    for ask in (
        lambda: repository.heads("origin"),
        lambda: repository.fetch("origin", "main"),
        lambda: repository.publish(head(project), BRANCH, remote="origin"),
    ):
        with pytest.raises(GitError) as caught:
            ask()
        assert "canary" not in str(caught.value)
        assert "127.0.0.1" in str(caught.value)


def test_export_is_whole_whatever_attributes_and_links_say(project, repository, tmp_path: Path) -> None:
    (project.root / "out").symlink_to("/etc")
    project.git("add", "out")
    project.git("config", "core.sparseCheckout", "true")
    sha = project.commit(
        {".gitattributes": "tools/ export-ignore\n*.txt export-subst\n", "a.txt": "$Format:%H$"}
    )
    folder = tmp_path / "out"
    folder.mkdir()
    repository.export(sha, folder)
    assert (folder / FILE).read_bytes() == SOURCE
    assert (folder / "a.txt").read_text() == "$Format:%H$"
    assert (folder / "out").readlink() == Path("/etc")
    assert project.git("status", "--porcelain", "--untracked-files=no") == ""
