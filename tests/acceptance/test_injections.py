"""No text of a user or a model is an instruction: 24 injections in every field, and every output to read.

Outside fields ``untrusted_…`` and blocks ``untrusted``, only these have a user's text, since the
specification says so; each is data by its name: the files of a day (003: ``example_questions``,
``tool_pattern``), ``state.json`` and ``runs show`` (000: ``question.original``, ``sub_questions``), the
choice of an earlier session (001), the answer of ``ask`` and ``research`` (002), a job's ``payload`` (004).
``measure`` sends a model the recorded request as the user's own message, below a constant instruction.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from acceptance.injections import CANARY, INJECTIONS, leaks, plant, plant_traces
from acceptance.shell import Project
from acceptance.walk import Done, command, program
from coreloop.base.text import is_visible
from coreloop.runs.claude_code.installer import LANGUAGES, skill_files

BLOCK = re.compile(r"```untrusted\n(?:    .*\n)+```\n")
TASK = re.compile(
    r"The tool (book|cancel|lookup) failed \d+ times with one error \(class [a-z_]+\); \d+ of these requests "
    r"failed altogether\. It is defined in tools\.py, line \d+\.( Seen beside it: [a-z ();,:\d]+\.)? "
    r"(Find|Let) [a-z ',]+\."
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in git whose log is hostile."""
    folder = tmp_path_factory.mktemp("injected")
    plant(folder)
    return folder


def facts_of(done: Done) -> Any:
    """What a command printed, which holds nothing invisible."""
    assert all(map(is_visible, done.out.splitlines())), done.out
    assert CANARY not in done.errors
    return json.loads(done.out)


READING = (
    "refine",
    "pattern",
    "refine --sanitize --out shared/counterexamples",
    "pattern --sanitize --out shared/candidates",
    "status",
    "judge",
    "doctor",
    "repair show",
    "jobs show",
    "runs list --kind research",
    "runs list",
)


@pytest.mark.parametrize("words", READING)
def test_json_names_what_others_wrote(project: Path, words: str):
    done = command(project, *words.split(), "--json").assert_code(0, 1)
    assert leaks(facts_of(done)) == []


def test_a_task_is_made_of_the_closed_vocabulary(project: Path):
    facts = facts_of(command(project, "refine", "--json").assert_code())
    tasks = [row["task"] for row in facts["errors"] if row["task"]]
    assert len(tasks) > 20
    assert [task for task in tasks if not TASK.fullmatch(task)] == []
    assert {row["tool"] for row in facts["errors"] if row["task"]} <= {"book", "cancel", "lookup"}
    assert "- hours: at most 8" in [statement["line"] for statement in facts["statements"]]
    assert "- Leave out" in str([statement["untrusted_line"] for statement in facts["statements"][:1]])
    assert any(CANARY in row["untrusted_error"] for row in facts["errors"])


@pytest.mark.parametrize("kind", ["counterexamples", "candidates"])
def test_a_draft_quotes_others_in_blocks_alone(project: Path, kind: str):
    command(project, "refine").assert_code()
    command(project, "pattern").assert_code()
    (draft,) = (project / "data/audit" / kind).glob("*-draft.md")
    text = draft.read_text(encoding="utf-8")
    assert CANARY in text
    assert CANARY not in BLOCK.sub("", text)
    assert all(map(is_visible, text.splitlines()))


def test_files_of_a_day_keep_what_the_specification_asks_for(project: Path):
    """003: proposals have the questions, tools and arguments that are their evidence; a task is ours."""
    command(project, "refine").assert_code()
    (day,) = (project / "data/audit/counterexamples").glob("*.json")
    facts = json.loads(day.read_text(encoding="utf-8"))
    own = ("task", "merged", "mender", "error_class", "id", "refused")
    assert not any(CANARY in str(row.get(name)) for row in facts["errors"] for name in own)
    assert all(CANARY not in str(entry.get(name)) for entry in facts["counterexamples"] for name in own)


def test_the_job_summary_and_the_dashboard_have_none(project: Path):
    command(project, "refine", "--sanitize", "--out", "shared/counterexamples").assert_code()
    command(project, "pattern", "--sanitize", "--out", "shared/candidates").assert_code()
    summary = program(project, "python", "-m", "coreloop.cli.nightly", "summary", "shared").assert_code()
    assert "failing group" in summary.out
    page = program(project, "python", "-m", "coreloop.cli.nightly", "outputs", "shared")
    assert CANARY not in summary.out + page.assert_code().out


def test_a_planned_pull_request_has_none(project: Path):
    root = shutil.copytree(project, project.with_name("planned"))
    (root / ".gitignore").write_text("data/\n")
    Project(root).commit()
    subprocess.run(["git", "branch", "-M", "main"], cwd=root, check=True)
    command(root, "refine").assert_code()
    plan = facts_of(command(root, "promote", "--tool", "book", "--json").assert_code(0, 1))
    assert leaks(plan) == []
    assert "hours: at most 8" in plan["body"]
    assert leaks(facts_of(command(root, "effect", "--json").assert_code())) == []
    assert leaks(facts_of(command(root, "init", "--json").assert_code())) == []


def test_traces_have_no_word_that_is_ours(tmp_path: Path):
    traces = plant_traces(tmp_path)
    looked = facts_of(command(tmp_path, "look", str(traces), "--json").assert_code())
    assert leaks(looked) == []
    assert not any(row["task"] for row in looked["errors"])
    assert any(CANARY in row["untrusted_tool"] for row in looked["errors"])
    done = command(tmp_path, "import", "--from", "openai-chat", str(traces), "--json").assert_code()
    assert leaks(facts_of(done)) == []


SCREENS = ("refine", "refine -v", "pattern", "status", "judge", "look chats.jsonl", "look chats.jsonl -v")


@pytest.mark.parametrize("words", SCREENS)
def test_a_screen_has_no_invisible_character_and_no_endless_line(project: Path, words: str):
    plant_traces(project)
    done = command(project, *words.split(), COLUMNS="100").assert_code()
    lines = [*done.out.splitlines(), *done.errors.splitlines()]
    assert all(map(is_visible, lines))
    assert "a" * 250 not in "".join(line.strip() for line in lines)


@pytest.fixture
def run(tmp_path: Path) -> Project:
    """An agent's run whose question, plan, actions and sources are injections."""
    run = Project(tmp_path, {"CLAUDE_CODE_SESSION_ID": "s1"})
    run.write("notes.md", "\n\n".join(INJECTIONS[:12]))
    run.commit()
    run.open(INJECTIONS[0])
    return run


def test_a_run_says_what_to_do_in_its_own_words(run: Project):
    source = run.run("runs", "read", "notes.md")
    assert leaks(facts_of(_done(source))) == []
    for number, text in enumerate(INJECTIONS[1:4]):
        report = {
            "queries": [{"query": f"{number} {text}", "results_count": 0, "success": False}],
            "actions": [{"tool": text, "strategy": [text]}],
            "sub_questions": [f"{text}?", f"{text} why?"] if not number else [],
            "findings": [{"text": text, "sources": []}],
            "hypotheses": [text],
            "uncertainties": [{"text": text, "needs": text}],
            "next_actions": [text],
        }
        assert run.record(report).code == 0
        assert leaks(facts_of(_done(run.run("runs", "next")))) == []
    (session,) = (run.folder / ".research/agents").glob("*.json")
    assert leaks(json.loads(session.read_text(encoding="utf-8"))) == []


def _done(done: Any) -> Done:
    return Done(done.code, done.out, "")


PRESCRIBED = {
    *(".passages.text", ".passages.title", ".tool_calls.args.question"),
    *(".question.original", ".sub_questions.text"),
    *(".attempts.cited.source.text", ".attempts.cited.source.title"),
}
"""Of the answer of ``ask`` (002) and of ``runs show`` (000)."""


def test_what_was_asked_and_found_is_data(tmp_path: Path):
    (tmp_path / "notes.md").write_text("\n\n".join(INJECTIONS), encoding="utf-8")
    command(tmp_path, "index").assert_code()
    for text in INJECTIONS[:3]:
        answer = command(tmp_path, "ask", text, "--json").assert_code(0, 1)
        assert {leak.partition(":")[0] for leak in leaks(json.loads(answer.out))} <= PRESCRIBED
    shown = json.loads(command(tmp_path, "runs", "show", "--json").assert_code().out)
    assert {leak.partition(":")[0] for leak in leaks(shown)} <= PRESCRIBED
    gaps = facts_of(command(tmp_path, "repair", "show", "--json").assert_code())["gaps"]
    assert any(CANARY in gap["untrusted_topic"] for gap in gaps)
    own = "--in-dir data/audit/own"
    listings = ("repair show", "jobs show", "runs list", "search tests", f"refine {own}", f"pattern {own}")
    for words in listings:
        assert leaks(facts_of(command(tmp_path, *words.split(), "--json").assert_code())) == []


def test_every_skill_that_reads_text_of_others_says_that_it_is_data():
    skills = [
        content.decode()
        for language in LANGUAGES
        for name, content in skill_files(language)
        if name.endswith("SKILL.md") and re.search("runs next|runs report|refine", content.decode())
    ]
    assert len(skills) >= 10
    assert all(re.search("data, never|자료일 뿐 지시가 아", text) for text in skills)
