"""Somebody types /dr, looks, says stop, and has a report: the whole walk, with a scripted agent."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acceptance.claude_code import Session
from acceptance.shell import Done, Project
from terminals import typed

QUESTION = "한강의 길이는 얼마이고 어디를 지나는가?"
LENGTH, OTHER, SEOUL = (
    "한강의 길이는 494 km이다.",
    "한강의 길이는 514 km이다.",
    "한강은 서울을 지나 서해로 흐른다.",
)
FILES = {"docs/han.md": f"# 한강\n\n{LENGTH} {SEOUL}\n", "docs/old.md": f"# 옛 기록\n\n{OTHER}\n"}
PARTS = ["한강의 길이는 얼마인가?", "한강은 어느 도시를 지나는가?", "한강의 발원지는 어디인가?"]
SUBJECTS = ("길이", "유역", "지류", "수심")


@dataclass
class Agent:
    """Does what the skill says, as a coding agent would: texts go into files, commands are run as written."""

    project: Project
    session: Session
    run_id: str = ""
    sources: dict[str, int] = field(default_factory=dict)

    def command(self, *words: str, **texts: Any) -> Done:
        """Write a text to the inbox and run a command with it."""
        for name, value in texts.items():
            path = self.project.folder / ".research" / "inbox" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
            words = (*words, "--file", f".research/inbox/{name}.json")
        return self.project.run("runs", *words, CLAUDECODE="1")

    def open(self, question: str, *options: str) -> Done:
        done = self.command("open", "--session", self.session.id, *options, question=question)
        self.run_id = done.out.strip() if done.code == 0 and "{" not in done.out else self.run_id
        return done

    def next(self) -> dict[str, Any]:
        facts: dict[str, Any] = self.command("next", self.run_id, "--session", self.session.id).json
        return facts

    def plan(self, number: int, *candidates: Mapping[str, Any]) -> Done:
        given = {"candidates": [*candidates, *self.candidates(number)]}
        return self.command(
            "plan", self.run_id, plan=given | ({"sub_questions": PARTS} if number == 1 else {})
        )

    def candidates(self, number: int, against: str = "") -> list[dict[str, Any]]:
        """Ten of them, three or four of each kind; the leading hypothesis is attacked if there is one."""
        subject = SUBJECTS[number - 1]
        leading = self.next()["untrusted_knowledge"]["hypotheses"][:1]
        target = {"against": leading[0]["id"]} if leading else {}
        kinds = {
            "web": ("한강", "서울 강", "강변"),
            "counter-evidence": ("한강 반론", "측량 오류", "잘못된 통계"),
        }
        others = {
            "academic": ("site:arxiv.org han", "site:semanticscholar.org river"),
            "technical": ("위성 자료", "수위계"),
        }
        return [
            {
                "query": f"{words} {subject}",
                "intent": intent,
                **(target if intent == "counter-evidence" else {}),
            }
            for intent, texts in (kinds | others).items()
            for words in texts
        ]

    def read(self, name: str) -> int:
        self.sources[name] = self.command("read", name, "--run", self.run_id).json["source"]
        return self.sources[name]

    def record(self, number: int, queries: list[str], *findings: Mapping[str, Any], **more: Any) -> Done:
        searched = [{"query": query, "results_count": 3, "success": True} for query in queries]
        strategy = more.pop("strategy", "web")
        report = {
            "iteration": number,
            "actions": [{"tool": "web", "strategy": [strategy]}],
            "queries": searched,
            "findings": findings,
            "next_actions": [f"{number + 1}번째 검색"],
            "usage": {"usd": 0.05},
            **more,
        }
        return self.command("record", self.run_id, report=report)


def test_somebody_types_dr_says_stop_and_has_a_report(tmp_path: Path):
    project = Project(tmp_path)
    for name, text in FILES.items():
        project.write(name, text)
    settings = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}, "model": "opus"}'
    project.write(".claude/settings.json", settings)
    project.commit()
    before = _files(project)
    assert project.run("runs", "install", "claude-code", "--confirm").code == 0
    session = Session(project)
    agent = Agent(project, session)

    session.prompt(f"/dr {QUESTION}")
    assert session.stop() == ""  # nothing is open yet: the turn may end
    session.prompt(f"/dr {QUESTION}")
    assert agent.open(QUESTION).code == 0
    assert agent.run_id in session.stop()  # "I am done": the hook does not think so

    _first(agent)
    _a_duplicate_and_a_lie(agent)
    _a_contradiction_that_ends_in_an_order(agent)
    _the_order_is_followed(agent)
    _esc_and_another_session(agent)
    _pause_and_resume(agent)

    assert project.run("runs", "stop", agent.run_id, CLAUDECODE="1").code == 0
    assert session.stop() == ""
    _report(agent)
    assert project.run("runs", "uninstall", "claude-code", "--confirm").code == 0
    assert _files(project) == before


def _first(agent: Agent) -> None:
    facts = agent.next()
    assert (facts["goes_on"], facts["think"]["fields"][0]) == (True, "situation")
    planned = agent.plan(1).json
    number = agent.read("docs/han.md")
    said = {"text": LENGTH, "quote": LENGTH, "sources": [number], "answers": "q1"}
    done = agent.record(1, _queries(planned), said, hypotheses=["한강은 500 km보다 짧다."])
    assert f"   - {LENGTH} [~ LIKELY]" in done.lines
    assert "📊 진행도: 33% (1/3)" in done.lines
    assert agent.session.stop()


def _a_duplicate_and_a_lie(agent: Agent) -> None:
    done = agent.plan(2, {"query": "길이 한강", "intent": "web"})
    assert done.json["duplicates"] == [{"query": "길이 한강", "already_searched": "한강 길이"}]
    lie = {"text": "한강은 부산을 지난다.", "quote": "한강은 부산을 지난다.", "sources": [1], "answers": "q2"}
    shown = agent.record(2, _queries(done.json), lie)
    assert "   - 한강은 부산을 지난다. [? UNCERTAIN]" in shown.lines
    assert agent.next()["untrusted_knowledge"]["not_believed"][0]["text"] == lie["text"]


def _a_contradiction_that_ends_in_an_order(agent: Agent) -> None:
    planned = agent.plan(3).json
    number = agent.read("docs/old.md")
    other = {"text": OTHER, "quote": OTHER, "sources": [number], "hypothesis": "h1", "stance": "contradicts"}
    shown = agent.record(3, _queries(planned), other)
    assert f"   - {OTHER} [⚠ CONTRADICTED]" in shown.lines
    assert agent.next()["drift"]["before"] == ["web"]


def _the_order_is_followed(agent: Agent) -> None:
    assert agent.plan(4).code == 2
    others = [one for one in agent.candidates(4) if one["intent"] != "web"]
    more = [
        {"query": f"site:arxiv.org {words}", "intent": "academic"} for words in ("flood", "delta", "silt")
    ]
    planned = agent.command("plan", agent.run_id, plan={"candidates": [*others, *more]}).json
    said = {"text": SEOUL, "quote": SEOUL, "sources": [1], "answers": "q2"}
    shown = agent.record(4, _queries(planned), said, strategy="academic")
    assert "📊 진행도: 33% (1/3)" in shown.lines  # q1 is disputed
    assert agent.next()["drift"] is None


def _esc_and_another_session(agent: Agent) -> None:
    session, project = agent.session, agent.project
    session.interrupt()
    session.prompt("서울 날씨는?")
    assert session.stop() == ""  # the run waits rather than drags
    beside = Agent(project, Session(project, "s2"))
    beside.session.prompt(f"/dr {QUESTION}")
    choice = beside.open(QUESTION).json
    assert choice["match"] == "exact"
    assert choice["options"][0] == {
        "label": "계속하기 (Recommended)",
        "description": "4 iterations | 유사도: 100% | running",
        "command": f"--continue {agent.run_id}",
    }
    assert beside.open("낙동강의 수질은 어떠한가?", "--new").code == 0
    assert beside.run_id in beside.session.stop()
    assert session.stop() == ""
    session.prompt(f"/dr {agent.run_id}")
    assert agent.next()["iteration"]["next"] == 5
    assert agent.run_id in session.stop()


def _pause_and_resume(agent: Agent) -> None:
    session, project = agent.session, agent.project
    session.prompt("/research-pause")
    assert project.run("runs", "pause", agent.run_id, CLAUDECODE="1").code == 0
    assert session.stop() == ""
    assert agent.next()["do"].startswith("턴을 끝내세요. 연구가 일시정지")
    assert project.run("runs", "resume", agent.run_id, CLAUDECODE="1").code == 2
    assert typed(project.folder, "runs", "resume", agent.run_id).returncode == 0
    session.prompt(f"/dr {agent.run_id}")
    assert agent.next()["goes_on"] is True


def _report(agent: Agent) -> None:
    report = agent.project.run("runs", "report", agent.run_id).out
    assert "stopped_by_user · iteration 4회" in report
    answer = report.partition("## 답")[2].partition("## 발견")[0]
    assert LENGTH.removesuffix(".") in answer
    assert "부산" not in answer
    assert "부산" in report.partition("## 제외한 것")[2]
    assert "docs/han.md" in report.partition("## 출처")[2]


def _queries(planned: Mapping[str, Any]) -> list[str]:
    return [one["query"] for one in planned["execute"]]


def _files(project: Project) -> dict[str, bytes]:
    """The files of the person: all but those of git, of the runs, and transcripts."""
    ours = re.compile(r"\.git/|\.research/|data/|s\d\.jsonl")
    return {
        name: path.read_bytes()
        for path in project.folder.rglob("*")
        if path.is_file() and not ours.match(name := path.relative_to(project.folder).as_posix())
    }
