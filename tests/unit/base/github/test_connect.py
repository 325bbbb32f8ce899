"""Which repository on GitHub a remote's address means: none, unless the host is GitHub."""

import pytest

from coreloop.base.git.repository import Repository, github_repo
from coreloop.base.github.connect import connect_forge, describe_fork
from coreloop.base.project.promotion_settings import ForgeSettings
from promoting import Project

ADDRESSES = [
    ("https://github.com/octo/tools.git", "octo/tools"),
    ("https://github.com/octo/tools", "octo/tools"),
    ("https://x-access-token:secret@github.com/octo/my.tools", "octo/my.tools"),
    ("git@github.com:octo/tools.git", "octo/tools"),
    ("ssh://git@ssh.github.com:443/octo/tools.git", "octo/tools"),
    ("https://github.com.evil.example/octo/tools", None),
    ("https://evil.example/github.com/octo/tools", None),
    ("/home/me/go/src/github.com/octo/tools", None),
    ("file:///srv/github.com/octo/tools.git", None),
    ("https://github.com/octo", None),
]


@pytest.mark.parametrize(("address", "repo"), ADDRESSES)
def test_repository_is_read_from_the_address(project: Project, address: str, repo: str | None) -> None:
    project.git("remote", "set-url", "origin", address)
    repository = Repository(project.root)
    assert github_repo(repository) == repo


@pytest.mark.parametrize(
    ("repo", "environ", "is_one"),
    [
        ("octo/tools", {"GITHUB_TOKEN": "t"}, True),
        ("octo/tools", {"GH_TOKEN": "t"}, True),
        ("octo/tools", {}, False),
        ("octo/tools", {"GITHUB_TOKEN": "", "GH_TOKEN": ""}, False),
        (None, {"GITHUB_TOKEN": "t"}, True),
    ],
)
def test_forge_needs_a_token_and_a_repository(project, repo: str | None, environ, is_one: bool) -> None:
    repository = Repository(project.root)
    forge = connect_forge(repository, ForgeSettings(repo=repo), environ)
    assert (forge is not None) == is_one


@pytest.mark.parametrize(
    "address", ["/srv/tools.git", "../tools.git", "file:///srv/tools.git", "C:/tools.git", None]
)
def test_remote_that_is_a_folder_has_no_forge(project: Project, address: str | None) -> None:
    project.git("remote", "remove", "origin")
    if address is not None:
        project.git("remote", "add", "origin", address)
    repository = Repository(project.root)
    forge = connect_forge(repository, ForgeSettings(repo="octo/tools"), {"GITHUB_TOKEN": "t"})
    assert forge is None


@pytest.mark.parametrize("address", ["https://ghe.example/octo/tools.git", "git@ghe.example:octo/tools.git"])
def test_remote_on_another_host_has_the_forge_of_the_settings(project: Project, address: str) -> None:
    project.git("remote", "set-url", "origin", address)
    repository = Repository(project.root)
    forge = connect_forge(repository, ForgeSettings(repo="octo/tools"), {"GITHUB_TOKEN": "t"})
    assert forge is not None


@pytest.mark.parametrize(
    ("url", "repo", "fork"),
    [
        ("https://github.com/me/tools.git", "octo/tools", "me/tools"),
        ("git@github.com:me/tools.git", "octo/tools", "me/tools"),
        ("https://github.com/Octo/Tools.git/", "octo/tools", None),
        ("https://proxy.example/git/octo/tools", "octo/tools", None),
        ("https://github.com/me/tools.git", None, None),
        ("/srv/me/tools.git", "octo/tools", None),
    ],
)
def test_remote_that_is_a_fork_is_named(
    project: Project, url: str, repo: str | None, fork: str | None
) -> None:
    project.git("remote", "set-url", "origin", url)
    repository = Repository(project.root)
    said = describe_fork(repository, ForgeSettings(repo=repo))
    assert (said or "None").startswith(f"origin is {fork}, but" if fork else "None")
