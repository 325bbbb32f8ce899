"""``init`` as a use case: the plan equals the written files, the reviewer, and a project without GitHub."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.admin.init.run import InitRequest, initialise
from coreloop.admin.init.scaffold import uses_github
from coreloop.base.errors import UsageError
from coreloop.base.git.repository import Repository
from coreloop.base.project.promotion_settings import ForgeSettings
from coreloop.base.project.workspace import open_workspace
from logs import record, write_log
from promoting import run_git


def init(folder: Path, *, github: str | None = None, reviewer: str | None = None, confirm: bool = False):
    request = InitRequest(repository=folder, github=github, reviewer=reviewer, confirm=confirm)
    return initialise(open_workspace(folder), request)


@pytest.mark.parametrize(
    ("github", "reviewer", "expected"),
    [
        (None, None, "@OWNER"),
        ("eddmpython/dartlab", None, "@eddmpython"),
        ("eddmpython/dartlab", "@org/team", "@org/team"),
    ],
)
def test_the_reviewer_is_the_option_or_the_owner(
    github: str | None, reviewer: str | None, expected: str, tmp_path: Path
):
    done = init(tmp_path, github=github, reviewer=reviewer, confirm=True)
    assert done.reviewer == expected
    assert f" {expected}\n" in (tmp_path / ".github" / "CODEOWNERS").read_text()


@pytest.mark.parametrize("reviewer", ["ann", "@", "@a b", "@a\nb", "@a#b"])
def test_an_invalid_reviewer_is_refused_and_nothing_is_written(reviewer: str, tmp_path: Path):
    with pytest.raises(UsageError, match="is not a reviewer; write --owner @login"):
        init(tmp_path, reviewer=reviewer, confirm=True)
    assert list(tmp_path.iterdir()) == []


URLS = {
    "git@github.com:octo/tools.git": True,
    "https://x:y@github.com/octo/tools": True,
    "ssh://git@github.example.com:22/octo/tools.git": True,
    "git@gitlab.com:github/tools.git": False,
    "https://gitlab.example/octo/github": False,
    "/srv/github/tools.git": False,
    "file:///srv/github/tools.git": False,
}


def test_github_is_any_remote_there_a_setting_or_its_folder(tmp_path: Path, quiet_git: None):
    run_git(tmp_path, "init", "--quiet")
    run_git(tmp_path, "remote", "add", "other", "/srv/tools.git")
    run_git(tmp_path, "remote", "add", "mirror", "x")

    def is_used(repo: str | None = None) -> bool:
        return uses_github(tmp_path, Repository(tmp_path), ForgeSettings(repo=repo))

    for url, expected in URLS.items():
        run_git(tmp_path, "remote", "set-url", "mirror", url)
        assert is_used() is expected, url
    assert is_used("octo/tools")
    (tmp_path / ".github").mkdir()
    assert is_used()


def test_the_branch_of_a_repository_without_main_is_its_base(tmp_path: Path, quiet_git: None):
    run_git(tmp_path, "init", "--quiet", "--initial-branch=master")
    init(tmp_path, confirm=True)
    assert open_workspace(tmp_path).settings.forge.base == "master"


SCHEMA = [{"name": "analysis", "description": "Analyse."}]


def test_with_plain_git_nothing_is_for_github_and_doctor_is_green(
    tmp_path: Path, quiet_git: None, entry_point: Callable[..., tuple[int, str, str]]
):
    run_git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "server.py").write_text("from fastmcp import FastMCP\napp = FastMCP('shop')\n")
    assert entry_point(tmp_path, "init")[1].endswith("\nnext: dartlab-coreloop init --confirm\n")
    out = entry_point(tmp_path, "init", "--confirm")[1]
    assert "note       no GitHub remote: no files for it; promote ends with a branch, pushed" in out
    assert out.endswith("\nnext: in server: import coreloop; app = coreloop.attach(app)\n")
    assert entry_point(tmp_path, "init")[1].endswith(out.splitlines()[-1] + "\n")  # nothing is left to write
    assert not (tmp_path / ".github").exists()
    (tmp_path / "server.py").write_text("from anthropic import beta_tool\n\n\n@beta_tool\ndef f(): ...\n")
    assert "\nnext: dartlab-coreloop receive the agent's spans, " in entry_point(tmp_path, "init")[1]

    (tmp_path / "schema.py").write_text(f"print({json.dumps(SCHEMA)!r})\n")
    (tmp_path / "coreloop.yaml").write_text("reach: {command: [python, schema.py]}\n")
    (tmp_path / "tools.py").write_text("def analysis(axis): ...\n")
    now = datetime.now(UTC)
    write_log(tmp_path / f"data/audit/ai-ask/{now:%Y-%m-%d}.jsonl", [record(ts=now.isoformat())]).chmod(0o600)
    out = entry_point(tmp_path, "init", "--confirm")[1]
    assert "0 faults, 0 warnings" in out
    assert out.endswith("\nnext: dartlab-coreloop refine\n")
    assert "guard     not needed: no remote is on GitHub" in entry_point(tmp_path, "doctor", "-v")[1]
