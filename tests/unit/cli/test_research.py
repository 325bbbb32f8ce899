"""``research`` from the outside: answers, sessions, exports, errors."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coreloop.answer.research.research_state import Request
from coreloop.answer.research.run import begin_research
from coreloop.cli.main import run as entry_point
from researching import RIVER, deps_in, project

QUESTION = "How long is the Han river?"

Research = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def research(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Research:
    """Run the command in this process, in the folder of the test."""

    def research(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(tmp_path)
        command = ["research"] if words[0] != "runs" else []
        monkeypatch.setattr(sys, "argv", ["dartlab-coreloop", *command, *words])
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as end:
            entry_point()
        return subprocess.CompletedProcess(words, int(str(end.value.code)), *capsys.readouterr())

    return research


def test_a_file_that_changed_is_read_before_the_question(tmp_path: Path, research: Research):
    project(tmp_path)
    (tmp_path / "docs" / "han.md").write_text("# Han river\n\nThe Han river is 500 kilometres long.\n")
    done = research(QUESTION)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "The Han river is 500 kilometres long. [1]")
    assert "changed since" not in done.stderr


@pytest.mark.parametrize(
    ("words", "mention"),
    [
        ((" ",), "the question is empty"),
        (("?!...,,",), "the question has no words"),
        (("why " * 5_000,), "at most 10,000"),
        ((QUESTION, "--run", "nope"), "no run nope"),
        (("--tier", "huge", QUESTION), "'huge' is not one of"),
    ],
    ids=["empty", "signs", "long", "session", "tier"],
)
def test_what_cannot_be_asked_is_one_line(
    tmp_path: Path, research: Research, words: tuple[str, ...], mention: str
):
    project(tmp_path)
    done = research(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert mention in done.stderr


def test_an_unfinished_research_goes_on(tmp_path: Path, research: Research):
    with deps_in(project(tmp_path)) as deps:
        run_id = begin_research(QUESTION, Request(), deps)
    assert "this report is partial" in research("runs", "report").stdout
    answer = json.loads(research(QUESTION, "--run", "last", "--json").stdout)
    assert (answer["run_id"], answer["final_answer"]) == (run_id, f"{RIVER} [1]")
    done = research(QUESTION, "--run", run_id)
    assert done.returncode == 2
    assert "is over: completed" in done.stderr


def test_reports_escape_what_pages_say(tmp_path: Path, research: Research):
    page = "# Han\n\nThe Han river is <b>494</b> kilometres [long](https://evil.example).\n"
    project(tmp_path, {"han.md": page})
    research(QUESTION)
    text = research("runs", "report").stdout
    assert "494" in text
    assert "<b>" not in text


def test_a_report_never_replaces_a_file(tmp_path: Path, research: Research):
    project(tmp_path)
    research(QUESTION)
    done = research("runs", "report", "--out", "docs/han.md")
    assert (done.returncode, "exists" in done.stderr) == (2, True)


def test_it_stops_when_nothing_new_is_found(tmp_path: Path, research: Research):
    project(tmp_path)
    done = research("우주선 설명서는 누가 썼나?", "--tier", "deep")
    assert (done.returncode, done.stderr.count("Iteration #"), "찾은 것이 없" in done.stderr) == (1, 1, True)
