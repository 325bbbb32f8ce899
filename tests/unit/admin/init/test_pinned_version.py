"""The workflows install the same bytes as the installed coreloop, or nothing."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from coreloop.admin.init.pinned_version import CannotPinError, pin_installed, pin_source
from coreloop.base.errors import UsageError
from coreloop.base.extras import DISTRIBUTION
from promoting import run_git
from rows import each_row

SHA1, SHA256 = "0123456789abcdef" * 2 + "01234567", "0123456789abcdef" * 4
WHEEL = "https://example.com/dartlab_coreloop-0.2.0-py3-none-any.whl"
GIT = "https://example.com/team/coreloop.git"
Install = Callable[[str | None], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a distribution's metadata before the metadata of the tested package on the path."""

    def install(direct_url: str | None) -> None:
        folder = tmp_path / "site" / "dartlab_coreloop-0.2.0.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {DISTRIBUTION}\nVersion: 0.2.0\n")
        if direct_url is not None:
            (folder / "direct_url.json").write_text(direct_url, encoding="utf-8")
        monkeypatch.syspath_prepend(folder.parent)

    return install


@pytest.mark.parametrize(
    ("direct_url", "requirement"),
    [
        (
            {"url": GIT, "vcs_info": {"vcs": "git", "commit_id": SHA1, "requested_revision": "main"}},
            f"git+{GIT}@{SHA1}",
        ),
        (
            {"url": GIT, "vcs_info": {"vcs": "git", "commit_id": SHA1}, "subdirectory": "python"},
            f"git+{GIT}@{SHA1}#subdirectory=python",
        ),
        ({"url": WHEEL, "archive_info": {"hashes": {"sha256": SHA256}}}, f"{WHEEL}#sha256={SHA256}"),
        ({"url": WHEEL, "archive_info": {"hash": f"sha256={SHA256}"}}, f"{WHEEL}#sha256={SHA256}"),
    ],
)
def test_a_commit_or_an_archive_s_hash_is_pinned(direct_url: object, requirement: str, install: Install):
    install(json.dumps(direct_url))
    assert pin_installed() == f"dartlab-coreloop[cli] @ {requirement}"


@pytest.mark.parametrize(
    ("direct_url", "reason"),
    [
        (None, "installed by name"),
        ('{"url": "file:///x", "dir_info": {}}', "this machine's disk"),
        ('{"url": "file:///x.whl", "archive_info": {}}', "this machine's disk"),
        (f'{{"url": "{WHEEL}", "archive_info": {{}}}}', "commit or hash"),
        (f'{{"url": "{GIT}"}}', "commit or hash"),
        (
            f'{{"url": "ssh://git@example.com/x", "vcs_info": {{"vcs": "git", "commit_id": "{SHA1}"}}}}',
            "not plain https",
        ),
        (
            f'{{"url": "https://me:secret@example.com/x", "vcs_info": {{"commit_id": "{SHA1}"}}}}',
            "not plain https",
        ),
        (f'{{"url": "{GIT}", "vcs_info": {{"commit_id": "main"}}}}', "commit or hash"),
        ("[]", "unreadable record"),
        ("{", "unreadable record"),
        ('{"url": 7}', "unreadable record"),
    ],
)
def test_an_installation_that_another_machine_cannot_repeat_is_not_pinned(
    direct_url: str | None, reason: str, install: Install
):
    install(direct_url)
    with pytest.raises(CannotPinError, match=reason) as refused:
        pin_installed()
    assert "--source git+https://" in str(refused.value)
    assert "secret" not in str(refused.value)


@each_row(
    "source",
    [
        "",
        "coreloop==0.1.0",
        "dartlab-coreloop>=0.2.0",
        "dartlab-coreloop==0.2.0",
        f"dartlab-coreloop==0.2.0 --hash=sha256:{SHA256}",
        "dartlab-coreloop==0.2.0\nevil",
        f"git+{GIT}@main",
        f"git+{GIT}",
        f"git+ssh://git@example.com/x@{SHA1}",
        f"git+https://token@example.com/x@{SHA1}",
        f"git+{GIT}@{SHA1}#x\n--index-url https://evil.example/simple",
        f'git+{GIT}@{SHA1}#egg=x ; python_version < "3"',
        f"git+{GIT}@{SHA1}#subdirectory=a b",
        f"git+https://example.com/${{TOKEN}}@{SHA1}",
        f"git+https://example.com/x?token=1@{SHA1}",
        WHEEL,
        f"{WHEEL}#{SHA256}",
        f"{WHEEL}#sha256=0",
        f"http://example.com/x.whl#sha256={SHA256}",
        f"{WHEEL} --index-url https://example.org#sha256={SHA256}",
        "https://[x#sha256=" + SHA256,
    ],
)
def test_a_source_that_may_change_is_refused(source: str):
    with pytest.raises(UsageError, match="names no commit, no hash and no wheel here; give --source git"):
        pin_source(source, Path(__file__).parent)


@pytest.fixture
def folder(tmp_path: Path, quiet_git: None) -> Path:
    """A repository with files that are named like wheels."""
    folder = tmp_path / "project"
    run_git(tmp_path, "init", "--quiet", str(folder))
    for name in ("vendor/a-1+x-py3-none-any.whl", "dist/a-1.whl", "with space.whl", "../a-1.whl"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"wheel")
    (folder / ".gitignore").write_text("dist/\n")
    return folder


def test_a_wheel_of_the_repository_is_pinned_by_its_hash(folder: Path):
    wheel, sha256 = "vendor/a-1+x-py3-none-any.whl", hashlib.sha256(b"wheel").hexdigest()
    for source in (wheel, str(folder / wheel), f"vendor/../{wheel}"):
        assert pin_source(source, folder) == f"./{wheel}[cli] --hash=sha256:{sha256}"
    for source in ("with space.whl", "../a-1.whl", "vendor/b-1.whl", "vendor"):
        with pytest.raises(UsageError, match="no wheel here"):
            pin_source(source, folder)
    with pytest.raises(UsageError, match="git ignores dist/a-1"):
        pin_source("dist/a-1.whl", folder)


def test_without_a_pin_the_workflows_are_left_out_and_the_rest_is_written(
    entry_point: Callable[..., tuple[int, str, str]], folder: Path
):
    run_git(folder, "remote", "add", "origin", "https://git.github.example/octo/tools.git")
    code, out, errors = entry_point(folder, "init", "--confirm")  # the tests run from a checkout
    assert code == 0
    assert "left out   .github/workflows/" in out
    assert "cannot pin what the workflows install" in errors
    assert (folder / "coreloop.yaml").exists()
    assert not (folder / ".github/workflows").exists()
    entry_point(folder, "init", "--confirm", "--source", f"git+{GIT}@{SHA1}")
    assert (folder / ".github/workflows/ai-policy.yml").exists()
    requirements = (folder / ".github/coreloop-requirements.txt").read_text()
    assert requirements == f"dartlab-coreloop[cli] @ git+{GIT}@{SHA1}\n"
