"""``init``: new and existing files; this project's own files equal the templates."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from coreloop.admin.init.scaffold import DEPENDENCIES, read_template
from coreloop.base.project.settings_file import load_settings
from promoting import run_git
from rows import each_row

ROOT = Path(__file__).parents[4]
Init = Callable[..., tuple[int, str, str]]
SOURCE = f"git+https://example.com/coreloop.git@{'0' * 40}"
WRITTEN = {
    "coreloop.yaml",
    ".gitignore",
    ".github/CODEOWNERS",
    ".github/branch_protection.yml",
    ".github/coreloop-dependencies.txt",
    ".github/coreloop-requirements.txt",
    ".github/workflows/ai-policy.yml",
    ".github/workflows/coreloop-pattern.yml",
    *(f"data/audit/{name}/.gitkeep" for name in ("ai-ask", "candidates", "counterexamples", "judgments")),
}


@pytest.fixture
def folder(tmp_path: Path, quiet_git: None) -> Path:
    """An empty repository in a folder with a Korean name."""
    folder = tmp_path / "재무 분석"
    folder.mkdir()
    run_git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


@pytest.fixture
def init(entry_point: Init) -> Init:
    """Run the command in a folder; gives exit code, output and errors."""
    return lambda folder, *words: entry_point(folder, "init", "--source", SOURCE, *words)


def files_of(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_without_confirm_nothing_is_written_and_all_is_shown(init: Init, folder: Path):
    code, out, errors = init(folder)
    assert (code, errors, files_of(folder)) == (0, "", {})
    assert {line.split(maxsplit=1)[1] for line in out.splitlines() if line.startswith("write ")} == WRITTEN


def test_with_confirm_all_is_written_and_a_second_run_changes_nothing(init: Init, folder: Path):
    assert init(folder, "--confirm")[0] == 0
    first = files_of(folder)
    assert set(first) == WRITTEN
    assert (folder / "data/audit/ai-ask").stat().st_mode & 0o777 == 0o700
    code, out, _ = init(folder, "--confirm")
    lines = out.splitlines()
    assert code == 0
    assert lines.index("nothing to do: every file exists") < lines.index("dartlab-coreloop doctor")
    assert files_of(folder) == first
    load_settings(folder)


IGNORED = b"data/audit/**\n!data/audit/**/\n!data/audit/**/.gitkeep\n"
IGNORED += b"data/ai/\ndata/runs/\ndata/index/\n.research/\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b"", IGNORED, id="empty"),
        pytest.param(b"x", b"x\n" + IGNORED, id="no line end"),
        pytest.param(b"x\r\ny", b"x\r\ny\r\n" + IGNORED.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(b"y\n" + IGNORED, b"y\n" + IGNORED, id="all there"),
        pytest.param(b"\xff\n", b"\xff\n" + IGNORED, id="no UTF-8"),
    ],
)
def test_gitignore_grows_only_by_missing_lines(old: bytes, new: bytes, init: Init, folder: Path):
    (folder / ".gitignore").write_bytes(old)
    init(folder, "--confirm")
    assert (folder / ".gitignore").read_bytes() == new


def test_no_existing_file_is_overwritten_but_the_hashes_of_the_nightly_job(init: Init, folder: Path):
    mine = {name: f"# mine: {name}\n".encode() for name in WRITTEN - {".gitignore"} if "data" not in name}
    mine["docs/CODEOWNERS"] = mine.pop(".github/CODEOWNERS")
    mine["coreloop.yaml"] = b"data_dir: logs\n"
    del mine[DEPENDENCIES]
    (folder / DEPENDENCIES).parent.mkdir()
    (folder / DEPENDENCIES).write_bytes(b"# of an older coreloop\n")
    for name, content in mine.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    code, out, _ = init(folder, "--confirm")
    assert code == 0
    assert "keep       docs/CODEOWNERS" in out
    after = files_of(folder)
    assert {name: after[name] for name in mine} == mine
    assert f"update     {DEPENDENCIES}" in out
    assert after[DEPENDENCIES] == read_template(Path(DEPENDENCIES).name)
    assert "logs/audit/ai-ask/.gitkeep" in after
    assert ".github/CODEOWNERS" not in after


def test_the_template_is_neutral_and_valid_without_the_hashes(tmp_path: Path):
    text = read_template("coreloop.yaml").decode("ascii")
    assert "dartlab" not in text
    bare = re.sub(r"(?m)^# (?=\w+: )", "", text)
    assert (bare.count("#"), len(text.splitlines())) == (1, 3)
    (tmp_path / "coreloop.yaml").write_text(bare)
    settings = load_settings(tmp_path)
    assert [rule.label for rule in settings.categories] == ["ORDER-refund"]
    assert settings.replay.url == "http://127.0.0.1:8000/ask"


def refused(done: tuple[int, str, str]) -> str:
    code, out, errors = done
    assert (code, out) == (2, "")
    assert errors.count("\n") == 1
    return errors


def test_impossible_requests_are_refused(init: Init, folder: Path, tmp_path: Path):
    assert "run git init" in refused(init(tmp_path))
    assert "is not a reviewer" in refused(init(folder, "--owner", "me"))
    (folder / "sub").mkdir()
    (folder / "sub/coreloop.yaml").touch()
    assert "move it to the repository's root" in refused(init(folder / "sub"))
    (folder / ".github/CODEOWNERS").mkdir(parents=True)
    assert "is not a file; move it away" in refused(init(folder))
    assert files_of(folder) == {"sub/coreloop.yaml": b""}


def test_a_file_in_place_of_a_folder_is_refused_and_a_later_run_continues(init: Init, folder: Path):
    (folder / ".github").touch()
    assert ".github" in refused(init(folder, "--confirm"))
    (folder / ".github").unlink()
    assert init(folder, "--confirm")[0] == 0
    assert set(files_of(folder)) == WRITTEN


OWN = ["workflows/ai-policy.yml", "workflows/coreloop-pattern.yml", "branch_protection.yml"]


@each_row("name", [*OWN, "coreloop-dependencies.txt"])
def test_this_project_s_own_files_are_the_templates(name: str):
    """After a change: cp .github/{name} src/coreloop/admin/init/templates/."""
    assert (ROOT / ".github" / name).read_bytes() == read_template(Path(name).name)


@pytest.mark.parametrize("name", ["coreloop.yaml", ".github/CODEOWNERS", ".gitignore"])
def test_a_link_out_of_the_repository_is_refused(name: str, init: Init, folder: Path, tmp_path: Path):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(tmp_path / "victim")
    assert "leads out of the repository; remove the link" in refused(init(folder, "--confirm"))
    assert not (tmp_path / "victim").exists()
