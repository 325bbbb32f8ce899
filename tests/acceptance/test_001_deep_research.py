"""What document 001 of the specification promises of skill, sessions and memory, a test a row."""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from acceptance.claude_code import install, skill
from acceptance.model import Asked, modelled, plan, reflection, synthesis
from acceptance.shell import Done, Project

QUESTION = "한강의 길이는 몇 km인가?"
PAGE = "# 한강\n\n한강의 길이는 494 km이다. 한강은 서울을 지난다.\n"
DOCS = Path(__file__).parents[2] / "docs"
CONTENT_TOOLS = {"WebSearch", "WebFetch", "Read", "Grep", "Glob", "Write(.research/inbox/**)"}
HANGUL = re.compile("[가-힣]")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with an index of one page, to be copied."""
    project = Project(tmp_path_factory.mktemp("indexed"))
    project.write("docs/han.md", PAGE)
    assert project.run("index", "docs").code == 0
    return project.folder


@pytest.fixture(scope="module")
def unfinished(indexed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a research that a person paused after its first iteration, to be copied."""
    project = _copy(indexed, tmp_path_factory.mktemp("unfinished") / "project")
    _begin_and_pause(project)
    return project.folder


@pytest.fixture
def project(indexed: Path, tmp_path: Path) -> Project:
    return _copy(indexed, tmp_path / "project")


@pytest.fixture
def paused(unfinished: Path, tmp_path: Path) -> tuple[Project, str]:
    """A project whose only research is paused, and the research's id."""
    project = _copy(unfinished, tmp_path / "project")
    run_id: str = project.shown()["run_id"]
    return project, run_id


@pytest.fixture
def text(tmp_path: Path) -> str:
    """The installed skill."""
    project = Project(tmp_path)
    install(project)
    return skill(project)


@pytest.mark.promise("001-1")
@pytest.mark.parametrize(
    "name", ["deep-research", "dr", "research-pause", "research-stop", "research-report"]
)
def test_01_the_front_matter_is_complete_and_the_commands_exist(tmp_path: Path, name: str):
    project = Project(tmp_path)
    install(project)
    text = skill(project, name)
    head = _head(text)
    assert set(head) >= {"name", "description", "argument-hint", "allowed-tools"}
    assert (head["name"], all(isinstance(value, str) and value for value in head.values())) == (name, True)
    for command in re.findall(r"dartlab-coreloop (runs [a-z]+)", text):
        assert project.run(*command.split(), "--help").code == 0, command


@pytest.mark.promise("001-2")
def test_02_the_allowed_tools_are_coreloops_commands_search_and_reading(text: str):
    commands, others = _allowed(text)
    assert set(commands) >= {"dartlab-coreloop runs open", "dartlab-coreloop runs next"}
    assert all(re.fullmatch(r"dartlab-coreloop runs [a-z]+", command) for command in commands)
    assert others == CONTENT_TOOLS


@pytest.mark.promise("001-3")
def test_03_every_command_of_the_skill_is_a_plain_one_that_is_allowed(text: str):
    commands, _ = _allowed(text)
    blocks = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines() if line.strip()]
    assert lines
    assert [
        line for line in lines if not line.startswith(tuple(commands)) or re.search(r"<<|[|;&]", line)
    ] == []


@pytest.mark.promise("001-4")
def test_04_the_state_comes_from_runs_next(project: Project):
    project.open(QUESTION)
    query = {"query": "한강 길이", "results_count": 3, "success": True}
    project.record({"queries": [query], "findings": [_finding(1)], "sub_questions": ["얼마나?", "어디로?"]})
    facts = project.next()
    assert (facts["untrusted_question"], facts["status"], facts["iteration"]["next"]) == (
        QUESTION,
        "running",
        2,
    )
    assert [part["text"] for part in facts["untrusted_sub_questions"]] == ["얼마나?", "어디로?"]
    assert facts["untrusted_do_not_repeat"] == ["한강 길이"]
    assert [one["text"] for one in facts["untrusted_knowledge"]["findings"]] == [_finding(1)["text"]]


@pytest.mark.promise("001-5")
def test_05_dr_and_deep_research_take_a_question(tmp_path: Path):
    project = Project(tmp_path)
    install(project)
    texts = [skill(project, name) for name in ("dr", "deep-research")]
    assert all("$ARGUMENTS" in text for text in texts)
    commands = [sorted(set(re.findall(r"dartlab-coreloop runs [a-z]+", text))) for text in texts]
    assert commands[0] == commands[1]
    assert _head(texts[0])["allowed-tools"] == _head(texts[1])["allowed-tools"]


@pytest.mark.promise("001-6")
def test_06_nothing_that_an_agent_says_is_enough(project: Project):
    project.open(QUESTION)
    for number in range(3):
        project.record(_report(number, findings=[{"text": f"충분합니다 {number}", "sources": []}]))
    assert (project.next()["goes_on"], project.shown()["status"]) == (True, "running")


@pytest.mark.promise("001-7")
def test_07_an_iteration_without_a_new_search_is_refused(project: Project):
    project.open(QUESTION)
    refused = project.record({"findings": [_finding(1)], "next_actions": ["더 읽는다"]})
    assert refused.code == 2
    assert project.shown()["iteration"]["current"] == 0


@pytest.mark.promise("001-9")
def test_09_a_person_chooses_among_exact_and_similar_researches(paused: tuple[Project, str]):
    project, run_id = paused
    for question, likeness in ((QUESTION, "exact"), ("한강의 폭과 길이는 얼마인가?", "similar")):
        done = project.run("research", question, stdin="n\n", is_terminal=True)
        assert done.code in {0, 1}, done.err  # 1: nothing said so, which is not the subject
        assert run_id in done.err
        assert likeness in done.err
    done = project.run("research", QUESTION, "--max-iterations", "2", stdin="1\n", is_terminal=True)
    assert f"연구 {run_id}" in done.out


@pytest.mark.promise("001-9")
@pytest.mark.slow
def test_09_at_most_three_researches_are_offered(project: Project):
    started = [_begin_and_pause(project) for _ in range(4)]
    done = project.run("research", QUESTION, stdin="n\n", is_terminal=True)
    assert sum(run_id in done.err for run_id in started) == 3


@pytest.mark.promise("001-9")
def test_09_an_agent_hears_of_the_run_that_has_the_same_question(project: Project):
    run_id = project.open(QUESTION)
    again = project.run("runs", "open", QUESTION)
    assert run_id in again.out + again.err


@pytest.mark.promise("001-10")
def test_10_a_choice_shows_iterations_similarity_and_what_is_recommended(paused: tuple[Project, str]):
    project, _run_id = paused
    exact = project.run("research", QUESTION, stdin="n\n", is_terminal=True).err
    assert "기존 세션 발견! (1 iterations)" in exact
    assert "계속하기 (Recommended)" in exact
    similar = project.run("research", "한강의 폭과 길이는 얼마인가?", stdin="n\n", is_terminal=True).err
    assert re.search(r"1 iterations \| 유사도: \d+%", similar)


@pytest.mark.promise("001-11")
def test_11_a_question_that_is_like_no_other_begins_a_research_at_once(paused: tuple[Project, str]):
    project, run_id = paused
    done = project.run("research", "국제 유가 전망", "--max-iterations", "1", is_terminal=True)
    assert done.code in {0, 1}, done.err  # likewise
    assert run_id not in done.err + done.out
    assert project.shown()["question"]["original"] == "국제 유가 전망"


@pytest.mark.promise("001-12")
def test_12_the_documentation_maps_the_names_of_the_document():
    rows = [line for page in DOCS.rglob("*.md") for line in page.read_text(encoding="utf-8").splitlines()]
    for name in (
        *("SessionManager", "MemoryManager", "KnowledgeTracker"),
        *("retrieve_from_archival", "truncate_findings_for_context"),
    ):
        (row,) = (row for row in rows if row.startswith("|") and name in row.split("|")[1])
        for module in re.findall(r"`(coreloop[\w.]+)`", row):
            importlib.import_module(module)


@pytest.mark.promise("001-13", "001-14")
def test_13_current_is_a_link_to_the_sessions_folder_with_state_and_history(project: Project):
    run_id = project.open(QUESTION)
    research = project.folder / ".research"
    assert (research / "current").is_symlink()
    assert (research / "current").resolve() == (research / "sessions" / run_id).resolve()
    assert project.view("current/state.json")["run_id"] == run_id
    assert project.view("current/search_history.json") == []


@pytest.mark.promise("001-15")
def test_15_a_research_writes_working_memory_and_findings(project: Project):
    assert project.run("research", QUESTION).code == 0
    current = project.folder / ".research" / "current"
    assert "한강의 길이는 494 km이다" in (current / "findings.md").read_text(encoding="utf-8")
    iterations = project.view("current/working_memory.json")["iterations"]
    assert iterations
    fields = {"iteration", "findings", "queries_executed", "active_hypotheses", "next_actions"}
    assert all(set(one) >= fields for one in iterations)


@pytest.mark.promise("001-15")
def test_15_a_run_of_an_agent_has_working_memory_and_findings(project: Project):
    project.open(QUESTION)
    project.record(_report(1))
    current = project.folder / ".research" / "current"
    assert (current / "working_memory.json").is_file()
    assert _finding(1)["text"] in (current / "findings.md").read_text(encoding="utf-8")


@pytest.mark.promise("001-17")
def test_17_the_30_newest_findings_are_in_view(project: Project):
    project.open(QUESTION)
    project.record(_report(0, findings=[_finding(number) for number in range(35)]))
    texts = [one["text"] for one in project.next()["untrusted_knowledge"]["findings"]]
    assert texts == [_finding(number)["text"] for number in range(5, 35)]


@pytest.mark.promise("001-18")
def test_18_each_iteration_has_an_archive_from_the_first_on(project: Project):
    project.open(QUESTION)
    for number in range(3):
        project.record(_report(number))
        archived = project.view(f"current/archival/iteration_{number + 1:03d}.json")
        assert _finding(number)["text"] in str(archived)


@pytest.mark.promise("001-19")
def test_19_the_sources_of_an_iteration_are_retrieved(project: Project):
    assert project.run("research", QUESTION).code == 0
    shown = project.run("runs", "show", "--iteration", "1")
    assert "docs/han.md" in shown.out
    assert "한강의 길이는 494 km이다" in shown.out


@pytest.mark.promise("001-19")
def test_19_what_an_agent_found_in_an_iteration_is_retrieved(project: Project):
    run_id = project.open(QUESTION)
    project.record(_report(1))
    shown = [project.run(group, "show", run_id, "--iteration", "1") for group in ("runs", "research")]
    assert any(done.code == 0 and str(_finding(1)["sources"][0]) in done.out for done in shown)


@pytest.mark.promise("001-24")
def test_24_the_skill_has_the_layers_of_reflection(text: str):
    assert [number for number in range(1, 7) if f"Layer {number}" not in text] == []
    assert "SCAMPER" in text
    assert "Zoom" in text


@pytest.mark.promise("001-30")
def test_30_the_skill_has_the_phases_of_the_plan(text: str):
    assert [number for number in range(4) if f"Phase {number}" not in text] == []
    assert "site:arxiv.org" in text


@pytest.mark.promise("001-8")
def test_08_the_skill_asks_for_counter_evidence_however_sure_it_is(text: str):
    assert re.search("반증|counter-?evidence", text, re.IGNORECASE)
    assert re.search("95 ?%", text)


@pytest.mark.promise("001-45")
def test_45_a_research_that_goes_on_keeps_its_question_and_says_so(paused: tuple[Project, str]):
    project, run_id = paused
    done = project.run("research", "국제 유가 전망", "--run", "last")
    assert done.code == 0, done.err
    assert f"continuing {run_id}: {QUESTION}" in done.err
    assert "the question that you gave is not asked" in done.err
    assert project.shown()["question"]["original"] == QUESTION


@pytest.mark.promise("001-46")
def test_46_the_skill_is_written_in_korean(text: str):
    words = re.findall(
        r"[^\W\d_]+", re.sub(r"```.*?```|`[^`]*`", "", text.split("---\n", 2)[2], flags=re.DOTALL)
    )
    assert sum(bool(HANGUL.search(word)) for word in words) > len(words) / 2


@pytest.mark.promise("001-47")
def test_47_the_same_search_and_the_same_action_force_another_strategy(project: Project):
    project.open(QUESTION)
    for number in range(3):
        query = {"query": "한강 길이", "results_count": 3, "success": True}
        action = {"tool": "web", "strategy": ["academic"]}
        done = project.record({"actions": [action], "queries": [query], "findings": [_finding(number)]})
        assert done.code == (0 if number < 2 else 2)
    assert "the strategy academic must be left; use web" in done.err
    assert project.next()["drift"]["after"] == ["web"]
    assert len(project.view("current/search_history.json")) == 1


@pytest.mark.promise("001-48")
def test_48_a_research_can_say_that_it_does_not_know(project: Project):
    done = project.run("research", "국제 유가 전망", "--max-iterations", "1")
    assert (done.code, done.lines[0]) == (1, "그렇게 나와 있는 자료가 없습니다")


@pytest.mark.promise("001-49")
def test_49_a_new_and_a_continued_session_are_announced(paused: tuple[Project, str]):
    project, run_id = paused
    assert f"→ 세션 재개: {run_id}" in project.run("research", QUESTION, "--run", "last").err
    done = project.run("research", "국제 유가 전망", "--max-iterations", "1")
    assert f"→ 새 세션 시작: {project.shown()['run_id']}" in done.err


@pytest.mark.promise("001-51")
def test_51_the_first_iteration_splits_the_question(project: Project):
    parts = ("한강의 길이는?", "한강은 어디를 지나는가?")
    done = _research(project, parts=parts)
    assert (done.code, done.out.splitlines()[0]) == (1, "근거를 찾지 못했습니다.")
    assert [part["text"] for part in project.shown()["sub_questions"]] == list(parts)


def _head(text: str) -> dict[str, Any]:
    """A skill's front matter."""
    head: dict[str, Any] = yaml.safe_load(text.split("---\n")[1])
    return head


def _allowed(text: str) -> tuple[list[str], set[str]]:
    """The commands and the other tools that a skill may use without asking."""
    tools = [tool.strip() for tool in _head(text)["allowed-tools"].split(",")]
    commands = [tool.removeprefix("Bash(").removesuffix(":*)") for tool in tools if tool.startswith("Bash")]
    return commands, {tool for tool in tools if not tool.startswith("Bash")}


def _finding(number: int) -> dict[str, Any]:
    return {"text": f"사실 {number}.", "sources": [f"https://site{number}.example/page"]}


def _report(number: int, **more: Any) -> dict[str, Any]:
    """A report of a search and what it found."""
    query = {"query": f"주제 {number}", "results_count": 1, "success": True}
    return {"queries": [query], "findings": [_finding(number)], "next_actions": ["더 읽는다"], **more}


def _research(project: Project, *, parts: tuple[str, ...] = (QUESTION,), pauses: bool = False) -> Done:
    """Research with a model that finds nothing; a person may pause it in the first iteration."""

    def reflect(_asked: Asked) -> dict[str, Any]:
        if pauses:
            command = [sys.executable, "-m", "coreloop", "runs", "pause"]
            subprocess.run(command, cwd=project.folder, check=True, capture_output=True)
        return reflection(queries=("한강 하류",))

    replies = {
        "PlanResponse": plan("한강 길이", parts=parts),
        "ReflectionResponse": reflect,
        "SynthesisResponse": synthesis("모른다."),
    }
    with modelled(project, **replies):
        done = project.run("research", QUESTION, "--max-iterations", "2", "--run", "new")
    (project.folder / "coreloop.yaml").unlink()
    return done


def _begin_and_pause(project: Project) -> str:
    """Begin a research that a person pauses after its first iteration; returns its id."""
    done = _research(project, pauses=True)
    assert done.code == 0, done.err
    state = project.shown()
    assert (state["status"], state["iteration"]["current"]) == ("paused", 1)
    run_id: str = state["run_id"]
    return run_id


def _copy(folder: Path, to: Path) -> Project:
    return Project(Path(shutil.copytree(folder, to, symlinks=True)))
