"""A walk through a small project in both languages: each speaks its own, and programs read the same JSON."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
HANGUL = re.compile("[가-힣]")
WORDS = re.compile(r"[A-Za-z]{3,}(?: [A-Za-z]{2,}){2,}")
"""Three English words in a row: no name, no command, no field."""
NOT_OURS = re.compile(
    r"dartlab-coreloop[^;:)\n]*|[`\"'].*?[`\"']|\w+Error: .*|-> .*"
    r"|Always pass \w+|When: .*|Are refunds made\?"
)
"""Commands, and what the project's own code, records and questions say."""
READING = [
    ("init",),
    ("mine",),
    ("effect",),
    ("judge",),
    ("promote", "--candidate", "data/audit/candidates/{day}-candidates.json", "--id", "cand-{day}-001"),
    ("judge", "--id", "cand-{day}-001"),
    ("index",),
    ("runs", "list"),
    ("runs", "show"),
    ("jobs", "list"),
    ("repair", "gates"),
    ("repair", "gaps"),
    ("repair", "suggestions"),
    ("docstring", "check", "helpdesk"),
    ("research", "list"),
    ("observe", "install", "claude-code"),
    ("runs", "install", "claude-code"),
]
"""What changes nothing that the next command would print."""
SHOWN = [
    *(command for command in READING if command[0] not in {"init", "judge", "promote", "docstring"}),
    ("pattern",),
    ("pattern", "--since", "2020-01-01", "--until", "2020-01-02"),
    ("runs", "pause"),
    ("runs", "resume"),
    ("runs", "list", "--status", "odd"),
    ("runs", "show", "none"),
    ("jobs", "show", "none"),
    ("jobs", "work", "--until-idle"),
]


ENGLISH = "C.UTF-8"
Run = Callable[..., tuple[str, str]]


@pytest.fixture
def run(entry_point: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command and give its output and errors; English is said in this process, which speaks it."""
    for name in [name for name in os.environ if name.startswith(("LC_", "LANG"))]:
        monkeypatch.delenv(name)
    own = {"COLUMNS": "300", "CLAUDECODE": "", "CLAUDE_CODE_SESSION_ID": ""}
    for name, value in own.items():
        monkeypatch.setenv(name, value)

    def run(folder: Path, *words: str, language: str) -> tuple[str, str]:
        days = [path.name[:10] for path in sorted(folder.glob("data/audit/candidates/*.json"))]
        words = tuple(word.format(day=days[-1] if days else "") for word in words)
        monkeypatch.setenv("LANG", language)
        if language != ENGLISH:
            command = [sys.executable, "-m", "coreloop", *words]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            code, out, errors = done.returncode, done.stdout, done.stderr
        else:
            code, out, errors = entry_point(folder, *words)
        assert code != 3, errors
        return out, errors

    return run


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walk")
    coreloop = [sys.executable, "-m", "coreloop"]
    subprocess.run([*coreloop, "demo", "--out", "demo"], cwd=folder, check=True, capture_output=True)
    for words in (
        ("ask", "Are refunds made?"),
        ("mine",),
    ):  # the store is filled: figures say what was read anew
        subprocess.run([*coreloop, *words], cwd=folder / "demo", check=False, capture_output=True)
    return folder / "demo"


@pytest.mark.parametrize("command", SHOWN, ids=" ".join)
def test_each_language_speaks_for_itself(project: Path, command: tuple[str, ...], run: Run):
    english = "".join(run(project, *command, language=ENGLISH))
    assert not HANGUL.search(english)
    korean = "".join(run(project, *command, language="ko_KR.UTF-8"))
    assert HANGUL.search(korean)
    assert [line for line in korean.splitlines() if WORDS.search(NOT_OURS.sub("", line))] == []


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_programs_read_the_same_in_both_languages(project: Path, command: tuple[str, ...], run: Run):
    english, _ = run(project, *command, "--json", language=ENGLISH)
    assert english == run(project, *command, "--json", language="ko_KR.UTF-8")[0]
    assert english
