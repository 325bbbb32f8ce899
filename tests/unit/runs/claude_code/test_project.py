"""Where the hook and the skills go: the top of the work tree, a plugin's folder, a section of AGENTS.md."""

import json
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import open_workspace
from coreloop.cli.main import main
from coreloop.runs.claude_code.installer import (
    IGNORED,
    MANIFEST,
    SECTION,
    install,
    project_root,
    uninstall,
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def files(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git/" not in f"{path.as_posix()}/".replace(f"{root.as_posix()}/", "", 1)
    }


def test_the_top_of_the_work_tree_is_the_project_also_from_a_folder_below(repository: Path):
    below = repository / "src" / "app"
    below.mkdir(parents=True)
    assert project_root(below) == repository
    install(project_root(below), lease_s=60, confirm=True)
    assert open_workspace(below).root == repository


def test_a_coreloop_yaml_of_the_project_is_left_alone(repository: Path):
    (repository / "coreloop.yaml").write_text("data_dir: here\n")
    install(repository, lease_s=60, confirm=True)
    assert (repository / IGNORED).read_text() == ".research/\nhere/runs/\n"
    uninstall(repository, confirm=True)
    assert (repository / "coreloop.yaml").read_text() == "data_dir: here\n"


@pytest.mark.parametrize("before", [None, "", "*.pyc\n", "*.pyc"], ids=["absent", "empty", "lines", "torn"])
def test_what_git_must_not_see_is_ignored_and_comes_out_byte_for_byte(before: str | None, repository: Path):
    if before is not None:
        (repository / IGNORED).write_text(before)
    kept = files(repository)
    install(repository, lease_s=60, confirm=True)
    ignored = subprocess.run(
        ["git", "check-ignore", ".research/x", "data/runs/x"], cwd=repository, capture_output=True, check=True
    )
    assert len(ignored.stdout.splitlines()) == 2
    uninstall(repository, confirm=True)
    assert files(repository) == kept


def test_a_manifest_from_elsewhere_takes_nothing_out_of_the_ignored_files(repository: Path):
    install(repository, lease_s=60, confirm=True)
    manifest = json.loads((repository / MANIFEST).read_bytes())
    (repository / IGNORED).write_text("secrets.env\n")
    manifest[IGNORED]["digest"] = sha256(b"secrets.env\n").hexdigest()
    (repository / MANIFEST).write_text(json.dumps(manifest))
    uninstall(repository, confirm=True)
    assert (repository / IGNORED).read_text() == "secrets.env\n"


def test_a_plugin_is_a_folder_with_hooks_and_skills(tmp_path: Path):
    assert install(tmp_path, lease_s=60, confirm=False, language="en", agent="plugin")
    assert files(tmp_path) == {}
    install(tmp_path, lease_s=60, confirm=True, language="en", agent="plugin")
    folder = tmp_path / "coreloop-plugin"
    assert json.loads((folder / ".claude-plugin" / "plugin.json").read_bytes())["name"] == "coreloop"
    hooks = json.loads((folder / "hooks" / "hooks.json").read_bytes())["hooks"]
    assert set(hooks) == {"Stop", "UserPromptSubmit"}
    assert (folder / "hooks" / "stop-hook.py").is_file()
    assert (folder / "skills" / "dr" / "references" / "reflect.md").is_file()
    with pytest.raises(UsageError, match="installed already"):
        install(tmp_path, lease_s=60, confirm=True, language="en", agent="plugin")
    uninstall(tmp_path, confirm=True, agent="plugin")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="nothing is installed"):
        uninstall(tmp_path, confirm=True, agent="plugin")


@pytest.mark.parametrize("before", [None, "# House rules\n", "no newline"], ids=["absent", "text", "torn"])
def test_a_section_for_other_agents_comes_out_byte_for_byte(before: str | None, tmp_path: Path):
    if before is not None:
        (tmp_path / SECTION).write_text(before)
    kept = files(tmp_path)
    install(tmp_path, lease_s=60, confirm=True, language="en", agent="agents-md")
    text = (tmp_path / SECTION).read_text(encoding="utf-8")
    assert "dartlab-coreloop runs plan RUN --file PLAN" in text
    with pytest.raises(UsageError, match="installed already"):
        install(tmp_path, lease_s=60, confirm=True, language="en", agent="agents-md")
    uninstall(tmp_path, confirm=True, agent="agents-md")
    assert files(tmp_path) == kept


def test_installing_warns_if_the_command_is_not_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    command = tmp_path / "bin" / "dartlab-coreloop"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    words = ["runs", "install", "claude-code", "--confirm"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert "dartlab-coreloop is not on PATH" in CliRunner().invoke(main, [*words[:-1]]).stderr
    monkeypatch.setenv("PATH", str(command.parent))
    assert "PATH" not in CliRunner().invoke(main, words).stderr
