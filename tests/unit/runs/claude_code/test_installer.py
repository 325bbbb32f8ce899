"""What is installed for Claude Code comes out again byte for byte."""

import json
from pathlib import Path

import pytest

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.runs.claude_code.installer import (
    HOOK,
    MANIFEST,
    SETTINGS,
    install,
    uninstall,
)

FULL = """{
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "permissions": {"allow": ["Bash(npm test:*)"], "deny": []},
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check \\"it\\" }"}]}],
        "Stop": [
            {"hooks": [{"type": "command", "command": "say 끝"}]}
        ]
    },
    "model":   "opus"
}
"""
SETTINGS_FILES = [
    pytest.param(None, id="no settings"),
    pytest.param("", id="an empty file"),
    pytest.param("\n", id="a newline"),
    pytest.param("{}", id="an empty object"),
    pytest.param("{\n}\n", id="an empty object on two lines"),
    pytest.param('{"hooks": {}}', id="hooks on one line"),
    pytest.param('{"hooks": {"Stop": [1, {}]}, "a": 1}', id="another hook on one line"),
    pytest.param('{\n  "hooks": {\n    "Stop": []\n  }\n}\n', id="no Stop hooks"),
    pytest.param('{\n  "hooks": {\n    "Stop": [\n    ]\n  }\n}\n', id="no Stop hooks on two lines"),
    pytest.param('{\n\t"model": "opus"\n}', id="tabs, and no newline at the end"),
    pytest.param('{\r\n  "model": "opus",\r\n  "hooks": {}\r\n}\r\n', id="CRLF"),
    pytest.param('{"hooks": {"Stop": [2]}, "hooks": {"Stop": [1]}}', id="hooks twice"),
    pytest.param(FULL, id="full"),
]


def tree(root: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
    }


def with_settings(root: Path, text: str | None) -> Path:
    if text is not None:
        (root / ".claude").mkdir()
        (root / SETTINGS).write_bytes(text.encode())
    return root


@pytest.mark.parametrize("text", SETTINGS_FILES)
def test_what_is_installed_comes_out_byte_for_byte(text: str | None, tmp_path: Path):
    before = tree(with_settings(tmp_path, text))
    install(tmp_path, lease_s=1800, confirm=True)
    settings = json.loads((tmp_path / SETTINGS).read_bytes())
    old = json.loads(text) if text and text.strip() else {}
    *others, own = settings["hooks"]["Stop"]
    assert others == old.get("hooks", {}).get("Stop", [])
    command = own["hooks"][0]["command"]
    assert command == 'python3 -I -S "$CLAUDE_PROJECT_DIR"/.claude/hooks/stop-hook.py --lease 1800'
    assert {name for name in settings if name != "hooks"} == {name for name in old if name != "hooks"}
    uninstall(tmp_path, confirm=True)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("text", SETTINGS_FILES)
def test_a_dry_run_changes_nothing(text: str | None, tmp_path: Path):
    before = tree(with_settings(tmp_path, text))
    planned = install(tmp_path, lease_s=1800, confirm=False)
    assert tree(tmp_path) == before
    install(tmp_path, lease_s=1800, confirm=True)
    written = {name for name, content in tree(tmp_path).items() if content is not None}
    assert {change.path for change in planned} == written
    uninstall(tmp_path, confirm=False)
    assert {name for name, content in tree(tmp_path).items() if content is not None} == written


def test_changes_that_the_user_made_since_stay(tmp_path: Path):
    with_settings(tmp_path, FULL)
    install(tmp_path, lease_s=60, confirm=True)
    path = tmp_path / SETTINGS
    path.write_text(path.read_text(encoding="utf-8").replace("opus", "sonnet"), encoding="utf-8")
    skill = tmp_path / ".claude" / "skills" / "dr" / "SKILL.md"
    skill.write_text("mine")
    changes = {change.path: change.what for change in uninstall(tmp_path, confirm=True)}
    assert json.loads(path.read_bytes()) == json.loads(FULL.replace("opus", "sonnet"))
    assert skill.read_text() == "mine"
    assert changes[".claude/skills/dr/SKILL.md"] == "keep (it was changed)"
    assert not (tmp_path / MANIFEST).exists()


def test_an_entry_that_was_changed_is_left_to_the_user(tmp_path: Path):
    install(tmp_path, lease_s=60, confirm=True)
    path = tmp_path / SETTINGS
    settings = json.loads(path.read_text())
    settings["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "mine"})
    path.write_text(json.dumps(settings))
    before = tree(tmp_path)
    with pytest.raises(WorkspaceError, match=r"remove it from hooks\.Stop by hand"):
        uninstall(tmp_path, confirm=True)
    assert tree(tmp_path) == before
    path.write_text("{}")
    uninstall(tmp_path, confirm=True)
    assert tree(tmp_path) == {".claude": None, SETTINGS: b"{}"}


@pytest.mark.parametrize("indent", [None, 1, 4, "\t"])
@pytest.mark.parametrize("text", [None, FULL])
def test_settings_that_were_formatted_anew_lose_the_entry_alone(
    text: str | None, indent: int | str | None, tmp_path: Path
):
    with_settings(tmp_path, text)
    install(tmp_path, lease_s=60, confirm=True)
    path = tmp_path / SETTINGS
    path.write_text(json.dumps(json.loads(path.read_bytes()), indent=indent))
    uninstall(tmp_path, confirm=True)
    assert json.loads(path.read_bytes()) == json.loads(text or "{}")


def test_an_installation_that_was_killed_can_be_removed(tmp_path: Path):
    install(tmp_path, lease_s=60, confirm=True)
    (tmp_path / SETTINGS).unlink()
    (tmp_path / HOOK).unlink()
    uninstall(tmp_path, confirm=True)
    assert tree(tmp_path) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("{", "is not JSON", id="torn"),
        pytest.param('{"a": 1, // why\n}', "is not JSON", id="a comment"),
        pytest.param("[]", "is not a JSON object", id="a list"),
        pytest.param('{"hooks": []}', r"hooks\.Stop is not a list", id="hooks of another type"),
        pytest.param('{"hooks": {"Stop": {}}}', r"hooks\.Stop is not a list", id="Stop of another type"),
    ],
)
def test_settings_that_cannot_be_changed_are_left_alone(text: str, message: str, tmp_path: Path):
    before = tree(with_settings(tmp_path, text))
    with pytest.raises(WorkspaceError, match=message):
        install(tmp_path, lease_s=60, confirm=True)
    assert tree(tmp_path) == before


def test_a_skill_of_the_user_is_never_overwritten(tmp_path: Path):
    skill = tmp_path / ".claude" / "skills" / "dr" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("mine")
    with pytest.raises(WorkspaceError, match=r"dr/SKILL\.md: exists; move it away"):
        install(tmp_path, lease_s=60, confirm=True)


def test_a_link_out_of_the_project_is_refused(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    project = tmp_path / "project"
    project.mkdir()
    (project / ".claude").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkspaceError, match="leads out of the project; remove the link"):
        install(project, lease_s=60, confirm=True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_it_is_installed_once(tmp_path: Path):
    install(tmp_path, lease_s=60, confirm=True)
    with pytest.raises(UsageError, match="installed already"):
        install(tmp_path, lease_s=60, confirm=True)


def test_a_manifest_that_a_repository_brings_removes_no_other_files(tmp_path: Path):
    install(tmp_path, lease_s=60, confirm=True)
    (tmp_path / "mine").write_text("x")
    manifest = json.loads((tmp_path / MANIFEST).read_bytes())
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    manifest |= {name: {"digest": digest} for name in ("mine", "../mine")}
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    uninstall(tmp_path, confirm=True)
    assert (tmp_path / "mine").exists()
