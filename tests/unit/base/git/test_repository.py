"""Reading a git repository; nothing is changed."""

import os
from pathlib import Path

import pytest

from coreloop.base.errors import GitError, NoRepositoryError
from coreloop.base.git.repository import Repository, user_name
from promoting import FILE, SOURCE, Project


@pytest.fixture
def repository(project: Project):
    return Repository(project.root)


def head(project: Project) -> str:
    return project.git("rev-parse", "HEAD")


def test_revision_is_a_commit_or_none(project: Project, repository: Repository) -> None:
    assert repository.resolve("main") == head(project)
    assert [repository.resolve(name) for name in ("nope", "--help", "", "HEAD:tools", "0" * 40)] == [None] * 5


@pytest.mark.parametrize(
    ("names", "chosen"),
    [(["up"], "up"), (["up", "origin"], "origin"), ([], None)],
)
def test_remote_is_origin_or_the_only_one(project, repository, names: list[str], chosen: str | None) -> None:
    project.git("remote", "remove", "origin")
    for name in names:
        project.git("remote", "add", name, str(project.remote))
    assert repository.remote() == chosen


def test_several_remotes_without_an_origin_are_named(project: Project, repository: Repository) -> None:
    for name in ("mine", "up"):
        project.git("remote", "add", name, str(project.remote))
    project.git("remote", "remove", "origin")
    with pytest.raises(GitError, match="none of the remotes mine, up is called origin; rename one to origin"):
        repository.remote()


def test_missing_git_is_reported(project: Project, repository: Repository, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GitError, match="git is not installed, or not in PATH"):
        repository.resolve("main")


def test_the_user_s_name_is_git_s_in_a_repository_and_outside(tmp_path, project, monkeypatch):
    project.git("config", "user.name", "김 Ann")
    assert user_name(project.root) == "김 Ann"
    assert user_name(tmp_path) is None
    (tmp_path / "config").write_text("[user]\nname = Global\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert user_name(tmp_path) == "Global"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert user_name(project.root) is None


def test_the_only_replaced_file_is_read_completely(repository: Repository, project: Project) -> None:
    old, source = head(project), "# 수익성\r\n".encode() + SOURCE
    project.commit({"한국어 도구.py": source})
    new = head(project)
    assert repository.replaced_file(old, new) is None  # it was added
    project.commit({"한국어 도구.py": b""})
    replaced = repository.replaced_file(new, head(project))
    assert replaced is not None
    assert (replaced.path, replaced.before, replaced.after) == ("한국어 도구.py", source, b"")
    assert repository.replaced_file(new, new) is None


def test_a_file_that_became_a_link_or_executable_or_went_was_not_replaced(
    repository: Repository, project: Project
) -> None:
    old = head(project)
    (project.root / FILE).chmod(0o755)
    project.commit({FILE: b"x = 1\n"})
    assert repository.replaced_file(old, head(project)) is None
    (project.root / FILE).unlink()
    (project.root / FILE).symlink_to("other.py")
    project.git("add", FILE)
    project.git("commit", "--quiet", "-m", "a link")
    assert repository.replaced_file("HEAD^", "HEAD") is None
    project.git("rm", "--quiet", FILE)
    project.git("commit", "--quiet", "-m", "gone")
    assert repository.replaced_file("HEAD^", "HEAD") is None


def test_content_that_is_missing_is_one_line(repository: Repository, project: Project) -> None:
    """As in a partial clone that cannot reach its remote."""
    old = head(project)
    project.commit({FILE: b"x = 1\n"})
    blob = project.git("rev-parse", f"HEAD:{FILE}")
    (project.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError, match=r"git has no content for blob [0-9a-f]{12}; run git fetch"):
        repository.replaced_file(old, head(project))


@pytest.mark.parametrize("path", [os.environ["PATH"], "/nowhere"], ids=["with", "without"])
def test_a_folder_without_a_repository_is_reported_with_or_without_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("PATH", path)
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(NoRepositoryError, match="is not in a git repository; run git init"):
            Repository(folder)


def test_a_bare_repository_is_none(project: Project) -> None:
    with pytest.raises(NoRepositoryError, match="is not in a git repository"):
        Repository(project.remote)


@pytest.mark.parametrize(
    ("encoding", "message", "readings"),
    [
        ("ISO-8859-1", b"fix: caf\xe9", ["fix: caf\ufffd", "fix: café"]),
        ("EUC-KR", "고침".encode("euc-kr"), ["\ufffd\ufffdħ", "고침"]),
        ("UTF-7", b"Phase+ADo- R", ["Phase+ADo- R", "Phase: R"]),
        ("IBM037", b"@", ["@", " "]),
        ("UTF-8", "고침".encode(), ["고침"]),
        ("UCS-2", b"fix: x", ["fix: x"]),
        ("hex", b"fix: x", ["fix: x"]),
        ("undefined", b"fix: x", ["fix: x"]),
    ],
)
def test_message_with_an_encoding_is_read_as_it_is_and_decoded(
    encoding: str, message: bytes, readings: list[str], project: Project, repository: Repository
) -> None:
    names = "".join(f"{role} A <a@example.org> 1700000000 -0000\n" for role in ("author", "committer"))
    header = f"tree {project.git('rev-parse', 'HEAD^{tree}')}\nparent {head(project)}\n{names}"
    raw = f"{header}encoding {encoding}\n\n".encode() + message
    sha = project.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw)
    commit = next(repository.log(sha))
    assert (commit.committed_s, commit.parents) == (1700000000, (head(project),))
    assert commit.people[:4] == ("A", "a@example.org") * 2
    assert commit.message == "\n\n".join(readings)
