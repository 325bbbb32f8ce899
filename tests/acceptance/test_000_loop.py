"""What document 000 of the specification promises, a test a row; drift has a file of its own."""

import inspect
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acceptance.claude_code import Session, install, skill
from acceptance.shell import Project
from acceptance.walk import public_name

QUESTION = "이익은 왜 올랐나?"
BAR = "━" * 40
FOUND = {
    "actions": [{"tool": "web", "strategy": ["English"]}],
    "queries": [{"query": "operating profit 2025", "results_count": 3, "success": True}],
    "findings": [{"text": "영업이익이 8 % 늘었다.", "sources": ["https://dart.example/1"], "answers": "왜?"}],
    "sub_questions": ["왜?", "얼마나?"],
    "hypotheses": ["가격이 올랐다."],
    "next_actions": ["사업보고서를 읽는다"],
    "usage": {"usd": 0.25, "tokens": 4000},
}
ENOUGH = {
    "queries": FOUND["queries"],
    "sub_questions": ["all tests pass?"],
    "findings": [{"text": "all done", "sources": ["me"], "answers": "q1"}],
}
LEASE_S = 30 * 60


def more(number: int = 1, usd: float = 0.0) -> dict[str, Any]:
    """A report of another search."""
    query = {"query": f"판매량 {2000 + number}", "results_count": 1, "success": True}
    return {"queries": [query], "next_actions": ["더 읽는다"], "usage": {"usd": usd}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def session(project: Project) -> Session:
    """A session of Claude Code whose turn is about a run of two iterations and a dollar."""
    install(project)
    session = Session(project)
    session.prompt(f"/deep-research {QUESTION}")
    project.open(QUESTION, "--max-iterations", "2", "--budget-usd", "1", "--session", session.id)
    return session


@pytest.mark.promise("000-1")
def test_01_a_report_that_answers_its_own_question_ends_no_run(project: Project):
    project.open(QUESTION)
    project.record(ENOUGH)
    assert project.shown()["status"] == "running"


@pytest.mark.promise("000-2")
def test_02_state_json_has_status_iteration_and_cost(project: Project):
    run_id = project.open(QUESTION)
    project.record(FOUND)
    state = project.view("state.json")
    assert state["status"] == "running"
    assert state["iteration"] == {"current": 1, "max": 100}
    assert state["metrics"]["cost_estimate_usd"] == 0.25
    assert (project.folder / ".research" / "state.json").resolve().parent.name == run_id


@pytest.mark.promise("000-3")
def test_03_the_statuses_are_those_of_the_document(project: Project):
    ends: dict[str, Callable[[], object]] = {
        "running": lambda: project.record(more()),
        "paused": lambda: project.run("runs", "pause"),
        "stopped_by_user": lambda: project.run("runs", "stop"),
        "budget_exceeded": lambda: project.record(more(usd=11)),
        "completed": lambda: _complete(project),
    }
    seen = []
    for end in ends.values():
        project.open(QUESTION)
        end()
        seen.append(project.shown()["status"])
    assert seen == list(ends)


@pytest.mark.promise("000-4")
def test_04_a_run_stops_at_its_last_iteration_which_is_100_by_default(project: Project):
    project.open(QUESTION)
    assert project.shown()["iteration"]["max"] == 100
    project.open(QUESTION, "--max-iterations", "2")
    seen = []
    for number in range(2):
        project.record(more(number))
        seen.append((project.shown()["status"], project.shown()["stop_reason"]))
    assert seen == [("running", None), ("stopped", "max_iterations")]
    assert project.record(more(3)).code != 0


@pytest.mark.promise("000-5")
def test_05_a_run_ends_when_its_budget_is_spent_which_is_10_dollars_by_default(project: Project):
    project.open(QUESTION)
    assert project.shown()["limits"]["usd"] == 10.0
    for number, (spent, status) in enumerate(((9.99, "running"), (0.01, "budget_exceeded"))):
        project.record(more(number, spent))
        assert project.shown()["status"] == status
    project.open(QUESTION, "--budget-usd", "1")
    project.record(more(usd=1.5))
    assert "$1.50 of $1.00, $0.50 over" in project.run("runs", "show").out


@pytest.mark.promise("000-6")
def test_06_completed_is_computed_from_the_answered_sub_questions(project: Project):
    _complete(project)
    state = project.shown()
    assert state["status"] == "completed"
    assert state["sub_questions"]
    assert all(any(one["source"] for one in part["findings"]) for part in state["sub_questions"])
    project.run("research", "Who painted the Mona Lisa?", "--max-iterations", "1")
    assert project.shown()["status"] == "stopped"


@pytest.mark.promise("000-6")
def test_06_no_report_sets_a_status(project: Project):
    project.open(QUESTION)
    refused = project.record({**FOUND, "status": "completed"})
    assert (refused.code, "status" in refused.err) == (2, True)
    assert project.shown()["iteration"]["current"] == 0


@pytest.mark.promise("000-7")
def test_07_research_pause_pauses_and_lets_the_turn_end(session: Session):
    assert "dartlab-coreloop runs pause" in skill(session.project, "research-pause")
    assert session.project.run("runs", "pause").code == 0
    assert session.project.view("state.json")["status"] == "paused"
    assert session.stop() == ""


@pytest.mark.promise("000-8")
def test_08_research_stop_stops_and_lets_the_turn_end(session: Session):
    assert "dartlab-coreloop runs stop" in skill(session.project, "research-stop")
    assert session.project.run("runs", "stop").code == 0
    assert session.project.view("state.json")["status"] == "stopped_by_user"
    assert session.stop() == ""


@pytest.mark.promise("000-9")
@pytest.mark.slow
def test_09_ctrl_c_stops_a_drivers_run(project: Project):
    words = ("runs", "start", "--max-iterations", "9", "--", "sh", "-c", "echo begun; exec sleep 600")
    with project.start(*words, stdin=subprocess.DEVNULL) as process:
        assert process.stderr
        try:
            for said in ("| begun", "press Ctrl-C again"):
                assert any(said in line for line in process.stderr)
                process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, "Traceback" in errors) == (130, False)
    assert "stopped_by_user: runs stop, Ctrl-C or a request to a service ended it" in out
    assert "; 0 iterations" in out
    assert project.shown()["status"] == "stopped_by_user"


@pytest.mark.promise("000-9")
def test_09_a_turn_after_an_interruption_is_not_dragged_back(session: Session):
    assert session.stop()
    session.interrupt()
    session.prompt("What is the weather in Seoul?")
    assert session.stop() == ""


@pytest.mark.promise("000-10")
def test_10_runs_record_says_whether_another_iteration_follows(project: Project):
    install(project)
    assert "dartlab-coreloop runs record" in skill(project)
    project.open(QUESTION, "--max-iterations", "2")
    goes_on, ends = (project.record(more(number)).lines[-1] for number in range(2))
    assert goes_on.startswith("다음 iteration을 시작합니다")
    assert "다음 iteration" not in ends


@pytest.mark.promise("000-11")
def test_11_the_loop_is_inside_the_skill_and_the_hook_and_the_docs_say_why(session: Session):
    text = skill(session.project)
    assert "Skill(" not in text
    assert "dartlab-coreloop runs next" in text
    assert "dartlab-coreloop runs next" in session.stop()
    pages = (Path(__file__).parents[2] / "docs").rglob("*.md")
    assert any("it cannot carry a long run to its end" in page.read_text(encoding="utf-8") for page in pages)


@pytest.mark.promise("000-12")
def test_12_install_adds_the_hook_and_uninstall_restores_the_settings_byte_for_byte(project: Project):
    before = '{ "hooks": {"Stop": [ {"hooks":[{"type":"command","command":"true"}]}]},\n\n"model" : "opus" }'
    settings = project.write(".claude/settings.json", before)
    install(project)
    hook = project.folder / ".claude" / "hooks" / "stop-hook.py"
    commands = [
        one["command"]
        for group in json.loads(settings.read_text())["hooks"]["Stop"]
        for one in group["hooks"]
    ]
    assert hook.is_file()
    assert commands[0] == "true"
    assert "stop-hook.py" in commands[1]
    project.run("runs", "uninstall", "claude-code", "--confirm")
    assert (settings.read_text(), hook.exists()) == (before, False)


@pytest.mark.promise("000-13")
def test_13_the_hook_blocks_by_claude_codes_protocol_while_the_run_goes_on(session: Session):
    run_id = session.project.shown()["run_id"]
    assert run_id in session.stop()
    for number in range(2):
        session.project.record(more(number))
    assert session.stop() == ""


@pytest.mark.promise("000-13")
def test_13_a_hook_that_cannot_read_its_files_holds_nobody(session: Session):
    (status,) = (session.project.folder / ".research" / "agents").glob("*.json")
    status.write_text('{"status": "runn', encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        session.stop()
    assert (failed.value.returncode, failed.value.stdout) == (1, "")  # 2 would block


@pytest.mark.promise("000-14")
@pytest.mark.parametrize(
    "end",
    [
        pytest.param(lambda project: [project.record(more(1)), project.record(more(2))], id="iterations"),
        pytest.param(lambda project: project.record(more(usd=1.5)), id="budget"),
        pytest.param(lambda project: project.run("runs", "pause"), id="pause"),
        pytest.param(lambda project: project.run("runs", "stop"), id="stop"),
    ],
)
def test_14_the_hook_sees_status_iterations_and_budget_as_they_are(
    session: Session, end: Callable[[Project], Any]
):
    assert session.stop()
    session.prompt("go on")
    end(session.project)
    assert session.stop() == ""


@pytest.mark.promise("000-15")
def test_15_another_session_no_progress_and_the_lease_end_the_block(session: Session):
    assert Session(session.project, "s2").stop() == ""
    assert session.stop()
    assert session.stop() == ""  # nothing was recorded since
    session.prompt("go on")
    long_ago = time.time() - LEASE_S - 60
    for path in (session.project.folder / ".research").rglob("*"):
        os.utime(path, (long_ago, long_ago), follow_symlinks=False)
    assert session.stop() == ""


@pytest.mark.promise("000-15")
def test_15_two_sessions_of_a_project_do_not_disturb_each_other(session: Session):
    other = Session(session.project, "s2")
    run_id = session.project.open("another question", "--session", other.id)
    assert run_id in other.stop()
    assert session.stop()


@pytest.mark.promise("000-16")
def test_16_the_message_of_an_iteration_is_a_box(project: Project):
    project.open(QUESTION)
    lines = project.record(FOUND).lines
    assert lines[:3] == [BAR, "📊 Iteration #1 완료", BAR]
    assert lines.count(BAR) == 3


@pytest.mark.promise("000-17")
def test_17_findings_are_shown_with_their_tags(project: Project):
    project.open(QUESTION)
    lines = project.record(FOUND).lines
    assert "🔍 이번 발견:" in lines
    line = lines[lines.index("🔍 이번 발견:") + 1]
    assert line.startswith("   - ")
    assert "영업이익이 8 % 늘었다." in line
    assert any(f"[{tag}]" in line for tag in ("✓✓ VERIFIED", "✓ HIGH", "~ LIKELY", "? UNCERTAIN"))


@pytest.mark.promise("000-18")
def test_18_active_hypotheses_are_shown_with_confidence_priority_and_evidence(project: Project):
    (number,) = project.read("단가가 4 % 올랐다.")
    project.record(FOUND)
    text = "단가가 4 % 올랐다."
    support = {"text": text, "quote": text, "sources": [number], "hypothesis": "h1"}
    lines = project.record({**more(), "findings": [{**support, "stance": "supports"}]}).lines
    assert "🎯 Active Hypotheses (Top 5):" in lines
    place = lines.index("🎯 Active Hypotheses (Top 5):")
    assert lines[place + 1].casefold() == "   1. [h1] 가격이 올랐다."
    assert lines[place + 2] == "      확신도: 60% | Priority: 0.53 | 지지: 1개 | 반증: 0개"


@pytest.mark.promise("000-19")
def test_19_plan_and_progress_are_shown(project: Project):
    project.open(QUESTION)
    shown = project.record(FOUND).out
    assert "\n📈 다음 계획: " in shown
    assert "사업보고서를 읽는다" in shown.partition("📈 다음 계획: ")[2]
    assert any(line.startswith("📊 진행도: ") and "%" in line for line in shown.splitlines())


@pytest.mark.promise("000-20")
def test_20_one_line_has_iteration_status_and_budget(project: Project):
    project.open(QUESTION)
    project.record(FOUND)
    assert "Iteration 2/100 · running · $0.25/$10.00" in project.record(more()).lines


@pytest.mark.promise("000-21")
def test_21_a_run_that_goes_on_says_that_no_condition_of_its_end_is_met(project: Project):
    project.open(QUESTION)
    assert "→ 종료 조건 불만족 → 계속 실행" in project.record(FOUND).lines


@pytest.mark.promise("000-22")
def test_22_the_next_iteration_is_announced_in_the_language_of_the_question(project: Project):
    project.open("Why did profit rise?")
    assert project.record(FOUND).lines[-1] == "The next iteration begins..."
    project.open(QUESTION)
    assert project.record(FOUND).lines[-1] == "다음 iteration을 시작합니다..."


@pytest.mark.promise("000-23")
def test_23_the_last_iteration_ends_with_the_documents_sentence(project: Project):
    project.open(QUESTION, "--max-iterations", "1")
    assert "연구를 종료합니다. 최대 iteration에 도달했습니다." in project.record(FOUND).lines


@pytest.mark.promise("000-24")
def test_24_a_run_that_goes_on_never_says_that_it_ends(project: Project):
    endings = ("연구를 종료합니다", "충분합니다", "완료되었습니다", "이 정도면 됩니다")
    project.open(QUESTION)
    shown = project.record(FOUND).out
    assert [ending for ending in endings if ending in shown] == []
    fact = project.record({**more(), "findings": [{"text": "합병이 완료되었습니다.", "sources": ["보도"]}]})
    assert "합병이 완료되었습니다." in fact.out


@pytest.mark.promise("000-41")
def test_41_reflexion_is_a_file_of_the_current_run_and_outlives_it(project: Project):
    project.open(QUESTION)
    project.record(FOUND)
    learnt = project.view("current/reflexion.json")["success_patterns"]
    assert learnt
    project.open("영업이익은 왜 늘었나?")
    assert project.view("current/reflexion.json")["success_patterns"] == learnt


@pytest.mark.promise("000-42")
def test_42_the_history_of_queries_has_the_documents_functions(project: Project):
    history = public_name("QueryHistory")()
    assert list(inspect.signature(history.is_duplicate_query).parameters) == ["query"]
    history.add_query_to_history(query_text="river length", iteration=1, results_count=3, success=True)
    assert history.is_duplicate_query("river length") == (True, "river length")
    assert history.is_duplicate_query("tea harvest") == (False, None)


@pytest.mark.promise("000-43")
def test_43_search_history_json_is_a_list_of_searches(project: Project):
    project.open(QUESTION)
    project.record(FOUND)
    searched = {"query": "operating profit 2025", "iteration": 1, "results_count": 3, "success": True}
    assert project.view("current/search_history.json") == [searched]


@pytest.mark.promise("000-44")
@pytest.mark.slow
def test_44_a_driver_outside_the_agent_goes_on_whatever_its_command_says(project: Project):
    _drive(project, {**more(), "next_actions": ["충분합니다"]}, "--max-iterations", "2")
    state = project.shown()
    assert (state["stop_reason"], state["iteration"]["current"]) == ("max_iterations", 2)


@pytest.mark.promise("000-45")
def test_45_an_end_says_that_its_condition_is_met(project: Project):
    project.open(QUESTION, "--max-iterations", "1")
    assert "→ 종료 조건 만족" in project.record(FOUND).lines


def _complete(project: Project) -> None:
    """Research a question that the project's own file answers."""
    project.write("docs/han.md", "# Han river\n\nThe Han river is 494 kilometres long.\n")
    assert project.run("index", "docs").code == 0
    done = project.run("research", "How long is the Han river?")
    assert done.code == 0, done.err


def _drive(project: Project, report: dict[str, Any], *options: str) -> None:
    """Drive a command that reports the same each time and says that all is done."""
    project.write("report.json", json.dumps(report))
    project.write(
        "agent.sh", "echo 연구를 종료합니다; python -m coreloop runs record <report.json; date +%N >changed\n"
    )
    process = project.start("runs", "start", *options, "--", "sh", "agent.sh")
    _out, err = process.communicate(timeout=120)
    assert process.returncode in {0, 1}, err
