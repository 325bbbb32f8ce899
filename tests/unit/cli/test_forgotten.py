"""What is left of a run that was forgotten: nothing, byte for byte, but its record in the log of requests."""

import io
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.runs.manage import forget_expired
from coreloop.runs.stores.store import open_store
from repairing import shop
from terminals import typed

WORD = "Xylophone"
QUESTION = f"Within how many days can a {WORD} be returned?"


@pytest.fixture
def coreloop(
    project: Path, entry_point: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Run a command in this process, in the project."""
    for name in ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"):  # an agent may run the tests
        monkeypatch.delenv(name, raising=False)

    def coreloop(*words: str, stdin: str = "") -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code, _, errors = entry_point(project, *words)
        nothing_said_so = words[0] in {"ask", "research"} and "nothing said so" in errors
        assert code == (1 if nothing_said_so else 0), errors

    return coreloop


def files_with(project: Path, word: str) -> list[str]:
    """Files below a project that contain a word in any case, without the log of requests."""
    return sorted(
        str(path.relative_to(project))
        for path in project.rglob("*")
        if path.is_file()
        and not path.is_relative_to(project / "data" / "audit")
        and word.lower().encode() in path.read_bytes().lower()
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shop(tmp_path, indexed=("docs/returns.md", "docs/shipping.md"))
    return tmp_path


@pytest.fixture(autouse=True)
def _runs(project: Path, coreloop: Callable[..., None]) -> None:
    """A rejected answer that was answered again, a research, and a run of an agent."""
    coreloop("ask", QUESTION)
    with open_store(open_workspace(project), environ={}) as store:
        asked = store.runs()[0].run_id
    coreloop("feedback", asked, "down", "--reason", f"not about the {WORD}")
    coreloop("jobs", "work", "--until-idle")
    coreloop("research", f"When does a {WORD} ship?", "--run", "new")
    coreloop("runs", "open", f"Where is the {WORD}?", "--session", "s1")
    report = '{"actions": [{"tool": "web", "strategy": ["recent"]}], "next_actions": ["go on"], "queries": '
    report += f'[{{"query": "{WORD}", "results_count": 1, "success": true}}], "findings": '
    report += f'[{{"text": "the {WORD} is here", "sources": ["s"]}}]}}'
    coreloop("runs", "record", stdin=report)
    coreloop("runs", "open", "Another question", "--session", "s2")


def test_the_words_of_a_forgotten_run_are_found_nowhere(project: Path):
    views = project / ".research" / "sessions"
    assert WORD in (views / newest(project) / "reflexion.json").read_text()  # copied into the next run's view
    with open_store(open_workspace(project), environ={}) as store:
        runs = {row.question: row.run_id for row in reversed(store.runs())}
        first = min(row.run_id for row in store.runs() if row.question == QUESTION)
    assert len(files_with(project, WORD)) > 5
    for run_id in (first, *(run_id for question, run_id in runs.items() if question != QUESTION)):
        if run_id != newest(project):
            assert typed(project, "runs", "forget", run_id, "--confirm").returncode == 0
    assert files_with(project, WORD) == []
    with open_store(open_workspace(project), environ={}) as store:
        assert [row.question for row in store.runs()] == ["Another question"]


def test_the_words_of_an_expired_run_are_found_nowhere(project: Path):
    (project / "coreloop.yaml").write_text("retention_days: 30\n")
    workspace = open_workspace(project)
    with open_store(workspace, environ={}) as store:
        forgotten = forget_expired(workspace, store, now=datetime.now(UTC) + timedelta(days=31))
        assert store.runs() == []
    assert len(forgotten) >= 4
    assert files_with(project, WORD) == []


def newest(project: Path) -> str:
    with open_store(open_workspace(project), environ={}) as store:
        return store.runs()[0].run_id
