"""An extra comes from where coreloop was installed; no message cites a page that a wheel lacks."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

from coreloop.base.extras import DISTRIBUTION, install_line

SOURCE = Path(__file__).parents[2] / "src" / "coreloop"
PAGE = re.compile(r"(?<![\w/])docs/(?:how-to|reference|explanation|tutorial|index|service|pages)")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
GIT = {"url": "https://example.com/team/coreloop.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}
INSTALLED = {
    "a checkout, editable": (
        {"url": "file:///srv/my%20code", "dir_info": {"editable": True}},
        "pip install -e '/srv/my code[cli]'",
    ),
    "a folder": ({"url": "file:///srv/coreloop", "dir_info": {}}, "pip install '/srv/coreloop[cli]'"),
    "a wheel": (
        {"url": "file:///tmp/dartlab_coreloop-0.2.0-py3-none-any.whl", "archive_info": {}},
        "pip install '/tmp/dartlab_coreloop-0.2.0-py3-none-any.whl[cli]'",
    ),
    "a commit": (
        GIT,
        f"pip install 'dartlab-coreloop[cli] @ git+https://example.com/team/coreloop.git@{COMMIT}'",
    ),
    "a commit's folder": (
        {**GIT, "subdirectory": "py"},
        f"pip install 'dartlab-coreloop[cli] @ git+https://example.com/team/coreloop.git@{COMMIT}"
        "#subdirectory=py'",
    ),
    "an address": (
        {"url": "https://example.com/c.whl", "archive_info": {}},
        "pip install 'dartlab-coreloop[cli] @ https://example.com/c.whl'",
    ),
    "an index": (None, "pip install 'dartlab-coreloop[cli]==0.2.0'"),
}


def install(folder: Path, record: object, monkeypatch: pytest.MonkeyPatch, installer: str = "pip") -> None:
    """Put a distribution's metadata before the metadata of the tested package on the path."""
    metadata = folder / "site" / "dartlab_coreloop-0.2.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {DISTRIBUTION}\nVersion: 0.2.0\n")
    (metadata / "INSTALLER").write_text(f"{installer}\n")
    if record is not None:
        (metadata / "direct_url.json").write_text(json.dumps(record), encoding="utf-8")
    monkeypatch.syspath_prepend(metadata.parent)


@pytest.mark.parametrize(("record", "line"), INSTALLED.values(), ids=INSTALLED)
def test_an_extra_is_installed_from_where_coreloop_was(
    record: object, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    install(tmp_path, record, monkeypatch)
    assert install_line("cli") == line


@pytest.mark.parametrize("record", [[], {"dir_info": {}}, {"url": 3}], ids=["a list", "no url", "a number"])
def test_a_damaged_record_gives_the_folder_that_runs(
    record: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    install(tmp_path, record or "damaged", monkeypatch)
    assert install_line("cli") == f"pip install -e '{SOURCE.parents[1]}[cli]'"


@cache
def shown_texts(path: Path) -> list[str]:
    """All texts of a module but docstrings of modules, classes and functions that are no commands."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and not getattr(node, "decorator_list", []):
                hidden.add(first.value)
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in hidden)
    return [node.value for node in texts if isinstance(node.value, str)]


@pytest.mark.slow
def test_no_message_cites_a_page_of_the_documentation():
    cited = [
        f"{path.name}: {text}"
        for path in SOURCE.rglob("*.py")
        for text in shown_texts(path)
        if PAGE.search(text)
    ]
    for folder in ("admin/init/templates", "runs/claude_code/templates", "web/pages"):
        files = [
            path for path in (SOURCE / folder).rglob("*") if path.suffix in {".yaml", ".yml", ".md", ".html"}
        ]
        assert files
        cited += [str(path) for path in files if PAGE.search(path.read_text(encoding="utf-8"))]
    assert cited == []


def test_no_message_installs_by_the_bare_name():
    named = [
        f"{path.name}: {text}"
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bpip\b", path.read_text(encoding="utf-8"))
        for text in shown_texts(path)
        if "pip install" in text and DISTRIBUTION in text
    ]
    assert named == []
