"""Who must review a path, as GitHub reads CODEOWNERS, and who ``init`` writes into it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from coreloop.admin.init.scaffold import codeowners
from coreloop.base.project.owners import (
    PLACEHOLDER_NOTE,
    fill_placeholder,
    has_placeholder,
    is_reviewer,
    owners_of,
)
from promoting import run_git
from rows import each_row

ROOT = Path(__file__).parents[4]
WORKFLOW = ".github/workflows/ai-policy.yml"
SOURCE = f"git+https://example.com/coreloop.git@{'0' * 40}"
Init = Callable[..., tuple[int, str, str]]


@each_row(
    ("text", "path", "owners"),
    [
        pytest.param("* @a", WORKFLOW, ("@a",), id="everything"),
        pytest.param("/.github/ @a", WORKFLOW, ("@a",), id="a folder"),
        pytest.param("/.github @a @b", WORKFLOW, ("@a", "@b"), id="a folder without a slash"),
        pytest.param(".github/ @a", f"sub/{WORKFLOW}", ("@a",), id="a folder anywhere"),
        pytest.param("/.github/ @a", f"sub/{WORKFLOW}", (), id="only at the root"),
        pytest.param("/.github/* @a", WORKFLOW, (), id="only the files of a folder"),
        pytest.param("/.github/** @a", WORKFLOW, ("@a",), id="all below a folder"),
        pytest.param("**/workflows/ @a", WORKFLOW, ("@a",), id="a folder below any"),
        pytest.param("*.yml @a", WORKFLOW, ("@a",), id="a kind of file"),
        pytest.param("* @a\n*.yml @b\n", WORKFLOW, ("@b",), id="the last line counts"),
        pytest.param("* @a\n/.github/\n", WORKFLOW, (), id="owned by nobody again"),
        pytest.param("#* @a\n* @b # @c", WORKFLOW, ("@b",), id="comments"),
        pytest.param("/a\\ b.py @a", "a b.py", ("@a",), id="a space"),
        pytest.param("/axb.py @a", "a.b.py", (), id="a point is a point"),
        pytest.param("", WORKFLOW, (), id="empty"),
    ],
)
def test_the_owners_of_a_path_are_those_of_the_last_line_that_matches(text, path, owners):
    assert owners_of(text, path) == owners


def test_the_placeholder_is_replaced_wherever_it_owns_something():
    text = codeowners("@OWNER")
    assert PLACEHOLDER_NOTE in text
    assert fill_placeholder(text, "@kim") == codeowners("@kim")
    assert (
        fill_placeholder("# for @OWNER\r\n*.py @a @OWNER\r\n", "@o/t") == "# for @OWNER\r\n*.py @a @o/t\r\n"
    )
    assert not has_placeholder("# @OWNER\n*.py @OWNERS @a\n")


@each_row(
    ("name", "can_review"),
    [
        ("@kim", True),
        ("@Kim-Lee", True),
        ("@octo/docs.team_2", True),
        ("@" + "k" * 39, True),
        ("@" + "k" * 40, False),
        ("@a#b", False),
        ("@octo/", False),
        ("kim", False),
        ("@", False),
        ("@김", False),
        ("@kim\n", False),
    ],
)
def test_a_reviewer_is_a_login_or_a_team_that_github_can_have(name: str, can_review: bool):
    assert is_reviewer(name) is can_review


def test_this_project_s_owners_are_a_placeholder_and_say_so():
    text = (ROOT / ".github/CODEOWNERS").read_text()
    assert has_placeholder(text)
    assert PLACEHOLDER_NOTE in text.splitlines()


# --- init ------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, quiet_git: None) -> Path:
    """A repository on GitHub without a file."""
    folder = tmp_path / "tools"
    folder.mkdir()
    run_git(folder, "init", "--quiet", "--initial-branch=main")
    run_git(folder, "remote", "add", "origin", "https://github.com/octo/tools.git")
    return folder


@pytest.fixture
def init(entry_point: Init, folder: Path) -> Init:
    return lambda *words: entry_point(folder, "init", "--source", SOURCE, *words)


def test_an_organization_is_for_the_person_to_know(init: Init):
    code, out, _ = init("--owner", "@Octo")
    assert code == 0
    assert "note       if @Octo is an organization, which cannot review, put a team" in out


def test_the_placeholder_waits_for_an_owner(init: Init, folder: Path):
    run_git(folder, "remote", "remove", "origin")
    out = init("--confirm")[1]
    assert "names the placeholder @OWNER; run this again with --owner" in out
    owners = folder / ".github/CODEOWNERS"
    assert PLACEHOLDER_NOTE in owners.read_text()
    assert "keep       .github/CODEOWNERS" in init("--confirm")[1]
    assert "fill in    .github/CODEOWNERS" in init("--confirm", "--owner", "@kim")[1]
    assert owners.read_text() == codeowners("@kim")
    assert "keep       .github/CODEOWNERS" in init("--confirm", "--owner", "@lee")[1]


def test_only_the_placeholder_of_a_file_changes(init: Init, folder: Path):
    (folder / "CODEOWNERS").write_bytes(b"# \xff\r\n* @OWNER\r\n")
    init("--confirm", "--owner", "@kim")
    assert (folder / "CODEOWNERS").read_bytes() == b"# \xff\r\n* @kim\r\n"


def test_an_existing_file_that_owns_too_little_is_told(init: Init, folder: Path):
    mine = folder / "CODEOWNERS"
    mine.write_text("*.py @kim\n/coreloop.yaml @kim\n")
    out = init("--confirm")[1]
    note = "note       CODEOWNERS has no owner for .github/workflows/ai-policy.yml, "
    note += ".github/coreloop-requirements.txt, CODEOWNERS; add /.github/ @octo, /CODEOWNERS @octo"
    assert " ".join(note.split()) in " ".join(out.split())
    mine.write_text("* @kim\n")
    assert "note " not in init()[1]
