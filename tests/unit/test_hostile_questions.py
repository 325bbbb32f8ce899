"""Hostile text in every field of a record, through collector, pattern, refine and ``promote --confirm``.

None of it may be published: not in any object or branch of the remote, and not in any request to GitHub. The
local candidates and draft files contain questions by design, escaped.
"""

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest
from benchmarks.planted.kind import Value
from benchmarks.planted.score import Secrets

from coreloop.base.records import encodable
from coreloop.cli.main import run as entry_point
from coreloop.observe import AuditCollector
from github_stand_in import GithubStandIn, Reply
from hostile import CANARIES, QUESTIONS, SHORT
from logs import call, failed, record, rest, write_log
from logs import word as unlike
from promoting import FILE, OTHER_FILE, REACH, Agent, Project, run_git

pytestmark = pytest.mark.slow
AXES = ("수익성", "성장성", "안정성", "배당", "효율성", "growth", "cash flow", "valuation")
_TAGS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
_TWINS = str.maketrans("асеорхукԛ", "aceopxykq")
SOURCE = f'''"""Tools."""

AXES = {AXES!r}


def analysis(company: str, axis: str = "수익성", note: str = "") -> dict[str, str]:
    """Ratios of a company.

    Parameters
    ----------
    axis : str
        Which.
    """
    return {{"axis": axis}}


def show(company: str, page: str = "") -> str:
    """Shows a page of a company.

    Parameters
    ----------
    company : str
        Whose.
    """
    return company
'''
SETTINGS: dict[str, Any] = {
    "forge": {"repo": "octo/tools", "max_open": 500},
    "reach": REACH,
    "categories": [{"label": "FIN-profitability-KR", "any": ["마진", "margin"]}],
}

KINDS = {"pattern": "candidates", "refine": "counterexamples"}


@dataclass(frozen=True, slots=True)
class Loop:
    """A project with a remote and a GitHub, and the commands as a person runs them."""

    project: Project
    github: GithubStandIn
    run: Callable[..., tuple[int, str]]

    @property
    def records(self) -> Path:
        return self.project.root / "data" / "audit" / "ai-ask"

    def propose(self, command: str) -> list[dict[str, Any]]:
        """Run ``pattern`` or ``refine``; gives the sequences, or the failing calls."""
        assert self.run(command)[0] == 0
        document = json.loads(self.file(command).read_text(encoding="utf-8"))
        proposals: list[dict[str, Any]] = document[KINDS[command]]
        return proposals

    def file(self, command: str) -> Path:
        """The proposals file of ``pattern`` or ``refine``."""
        (path,) = (self.project.root / "data" / "audit" / KINDS[command]).glob("*.json")
        return path

    def statements(self, command: str) -> list[dict[str, Any]]:
        """Run ``pattern`` or ``refine``; gives the statements."""
        self.propose(command)
        document = json.loads(self.file(command).read_text(encoding="utf-8"))
        statements: list[dict[str, Any]] = document["statements"]
        return statements

    def spread(self, days: int = 9) -> None:
        """Spread the records over several days, because a statement must hold on the last days too."""
        now = datetime.now(UTC)
        for path in self.records.glob("*.jsonl"):
            read = enumerate(map(json.loads, path.read_bytes().splitlines()))
            dated = (
                {**record, "ts": (now - timedelta(days=place % days)).isoformat()} for place, record in read
            )
            write_log(path, list(dated))

    def promote(self, command: str, proposals: Iterable[dict[str, Any]]) -> list[int]:
        """Exit codes of ``promote --confirm``, in order; a human closes each pull request."""
        words = (
            "promote",
            "--candidate",
            self.file(command),
            "--confirm",
            "--allow-unverified",
            "--allow-unreached",
            "--id",
        )
        codes = []
        for proposal in proposals:
            codes.append(self.run(*words, proposal["id"])[0])
            for pull in self.github.pulls:
                pull.state = "closed"
        return codes

    def published(self) -> dict[str, str]:
        """Everything public: refs and objects of the remote, and the requests to GitHub."""
        requests = {
            f"request {n}: {request.line}": repr(request) for n, request in enumerate(self.github.traffic)
        }
        bodies = (json.dumps(request.body, ensure_ascii=False) for request in self.github.traffic)
        pulls = {
            f"pull {pull.number}": f"{pull.title}\n{pull.body}\n{pull.labels}" for pull in self.github.pulls
        }
        refs = run_git(self.project.remote, "for-each-ref")
        kinds = run_git(self.project.remote, "cat-file", "--batch-all-objects", "--batch-check")
        objects = {
            sha: run_git(self.project.remote, "cat-file", "-p", sha)
            for sha, kind, _ in map(str.split, kinds.splitlines())
            if kind in {"blob", "commit", "tag", "tree"}
        }
        return {"refs": refs, "bodies": "\n".join(bodies), **requests, **pulls, **objects}

    def traces(self) -> list[str]:
        """Where a canary can be read, whatever it is disguised as."""
        return [place for place, text in self.published().items() if has_canary(text)]


def has_canary(text: str) -> bool:
    """Whether a patient reader finds a canary: in tag characters, in letters that look like others."""
    plain = text.translate(_TAGS).translate(_TWINS)
    return any(Secrets(Value(word)).are_in(version) for version in (text, plain) for word in CANARIES)


@pytest.fixture
def loop(
    project: Project,
    github: GithubStandIn,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    at_once: None,
) -> Loop:
    monkeypatch.setattr(github, "sha_of", project.head_of)
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GITHUB_TOKEN", github.token)
    github.protections = {"main": 1}
    project.candidates.unlink()
    project.git("rm", "--quiet", OTHER_FILE)  # its tool is in FILE here
    project.commit({FILE: SOURCE}, "tools")
    project.settle(json.dumps(SETTINGS, ensure_ascii=False))
    monkeypatch.chdir(project.root)

    def run(*words: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["dartlab-coreloop", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            entry_point()
        assert isinstance(end.value.code, int)
        assert end.value.code in {0, 1}, capsys.readouterr().err
        return end.value.code, capsys.readouterr().out

    return Loop(project, github, run)


def collect(loop: Loop, question: str, axis: str, hostile: str, **more: Any) -> None:
    """One request that succeeds, with hostile text wherever a caller can put any."""
    data_dir = loop.project.root / "data"
    with AuditCollector(
        question,
        provider=hostile,
        model=hostile,
        session_id=f"{hostile} {question}",  # one session is one case
        stockCode_hint=hostile,
        data_dir=data_dir,
    ) as audit:
        audit.set_category_hash(more.get("category", category_of(question)))
        audit.observe_tool_call(
            "analysis", {"axis": axis}, error=f"ValueError: {hostile}", extreme_flags=[hostile]
        )
        audit.observe_override("analysis", [hostile], trigger=hostile)
        audit.observe_tool_call(
            "analysis",
            {"company": hostile, "axis": axis, "note": hostile, hostile: {hostile: [hostile]}},
            overrides_used=[hostile],
        )
        audit.observe_tool_call("show", {"company": hostile})
        audit.flush(900, skill_used=hostile)


def fail_beside(loop: Loop, *categories: str, count: int = 20) -> None:
    """Requests of the same categories that fail, so that what succeeds says more than they do."""
    now = datetime.now(UTC).isoformat()
    failing = [rest(count, ts=now, category_hash=category) for category in categories]
    write_log(loop.records / "rest.jsonl", chain.from_iterable(failing))


def today(**changes: Any) -> dict[str, Any]:
    """A record as another program writes it, whom no collector stops."""
    return record(ts=datetime.now(UTC).isoformat(), **changes)


def category_of(question: str) -> str:
    return "FIN-profitability-KR" if len(question) % 2 else "UNSPECIFIED"


def docstring_lines(proposals: Iterable[dict[str, Any]]) -> list[str]:
    """The proposed text of those that have a docstring to go to."""
    suggested = (append["suggested_append"] for append in proposals)
    return [
        append["body"] for append in suggested if append is not None and append["target_file"] is not None
    ]


def test_there_are_enough_questions_and_each_has_a_canary() -> None:
    assert len(set(QUESTIONS)) == len(QUESTIONS) >= 60
    assert [question for question in QUESTIONS if not has_canary(question)] == []


@pytest.mark.slow
def test_hostile_questions_and_arguments_are_promoted_without_a_trace(loop: Loop) -> None:
    for number, question in enumerate(QUESTIONS):
        collect(loop, question, AXES[number % len(AXES)], QUESTIONS[-number])
    fail_beside(loop, "FIN-profitability-KR", "UNSPECIFIED", count=400)
    proposals = loop.propose("pattern")
    asked = [text for proposal in proposals for text in proposal["example_questions"]]
    assert {proposal["axis"] for proposal in proposals} == set(AXES)
    assert sum(map(has_canary, asked)) > 40
    proposed = [proposal for proposal in proposals if proposal["cat_hash"] != "UNSPECIFIED"]
    assert {proposal["axis"] for proposal in proposed} == set(AXES)
    assert len(docstring_lines(proposals)) == len(proposed)

    codes = loop.promote("pattern", proposed)

    assert set(codes) == {0}
    assert len(loop.github.pulls) == len(proposed) == len(loop.project.heads()) - 1
    assert loop.traces() == []


@pytest.mark.parametrize("command", ["pattern", "refine"])
def test_sanitized_proposals_hold_no_hostile_word(loop: Loop, tmp_path: Path, command: str) -> None:
    for number, text in enumerate(SHORT):
        collect(loop, text, AXES[number % len(AXES)], QUESTIONS[-number])
        for other in ("첫째", "둘째", "셋째", "넷째", "다섯째"):
            collect(loop, f"{other} {text}" if number % 2 else f"{other} 회사", text, text, category=text)
    out = tmp_path / "published"
    code, shown = loop.run(command, "--sanitize", "--json", "--out", out)
    assert code == 0
    found = json.loads(shown)
    listed = found["candidates" if command == "pattern" else "counterexamples"]
    assert len(listed) + found["n_folded"] >= len(AXES)
    written = [path.read_text(encoding="utf-8") for path in out.iterdir()]
    assert [text for text in (shown, *written) if has_canary(text)] == []


@pytest.mark.slow
def test_hostile_selector_values_become_placeholders(loop: Loop) -> None:
    for index, text in enumerate(SHORT):
        for number in range(3):  # a category each, or their texts would be the same
            collect(loop, f"질문 {unlike(number)} 회사{unlike(number)}", text, "x", category=f"TEST-{index}")
    fail_beside(loop, *(f"TEST-{index}" for index in range(len(SHORT))))
    declared = [{"label": f"TEST-{index}", "any": [f"질문{index}"]} for index in range(len(SHORT))]
    loop.project.settle(json.dumps({**SETTINGS, "categories": declared}, ensure_ascii=False))
    proposals = loop.propose("pattern")
    assert sum(has_canary(proposal["axis"] or "") for proposal in proposals) > 60
    lines = docstring_lines(proposals)
    assert len(lines) == len(proposals)
    assert [line for line in lines if has_canary(line) or "axis=<axis>" not in line] == []

    codes = loop.promote("pattern", islice(proposals, 0, None, 12))

    assert set(codes) == {0}
    assert len(loop.project.heads()) == len(codes) + 1
    assert loop.traces() == []


def test_hostile_tool_names_are_refused(loop: Loop) -> None:
    names = [*map(encodable, SHORT), "qzcanary_tool", "аnalysis_qzcanary", "analysis\nqzcanary", "꾀꼬리"]
    calls = ([call(name), call("analysis", {"axis": "배당"})] for name in names)
    write_log(
        loop.records / "a.jsonl",
        (
            today(question=f"질문 {unlike(n)} 회사{unlike(n)}", tool_calls=tool_calls)
            for tool_calls in (*calls, *([call(name)] for name in names))
            for n in range(3)
        ),
    )
    fail_beside(loop, "FIN-profitability-KR", count=2000)
    proposals = loop.propose("pattern")
    assert len(proposals) > len(names)
    assert docstring_lines(proposals) == []
    refusals = [proposal["refused"] or "" for proposal in proposals]
    assert [refusal for refusal in refusals if refusal.startswith("weak")] == []

    codes = loop.promote("pattern", islice(proposals, 0, None, 20))

    assert set(codes) == {1}
    assert list(loop.project.heads()) == ["main"]
    assert loop.traces() == []


def good_and_bad(loop: Loop, good: list[dict[str, Any]], bad: list[dict[str, Any]]) -> None:
    """Requests with one or the other calls, by turns of two, so that every day has both."""
    requests = (
        today(question=f"질문 {unlike(n)} 회사{unlike(n)}", tool_calls=bad, error="ValueError: no")
        if n % 2
        else today(question=f"질문 {unlike(n)} 회사{unlike(n)}", tool_calls=good)
        for n in range(180)
    )
    write_log(loop.records / "a.jsonl", requests)
    loop.spread()


ARGS = {"company": "company", "axis": "배당"}
NO = "ValueError: no"
STRANGE = {
    "it names a tool that is not defined here; name it under tools: in coreloop.yaml",
    "its definition does not have the argument",
}
NAMES = ("qzcanary_tool", "аnalysis_qzcanary", "꾀꼬리")  # the second begins with a Cyrillic letter


@pytest.mark.parametrize(
    "name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])]
)
@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("refine", "Call {0} first (same company)"),
        ("refine", "Leave out {0}"),
        ("refine", "Always pass {0}"),
    ],
)
def test_hostile_names_are_in_no_statement_that_goes_anywhere(
    loop: Loop, command: str, line: str, name: str
) -> None:
    right, wrong = call("analysis", ARGS), failed("analysis", ARGS, NO)
    good, bad = {
        "Call {0} first (same company)": (
            [call(name, {"company": "company"}), call("show"), right],
            [call(name, {"company": "other"}), call("show"), wrong],
        ),
        "Leave out {0}": ([right], [failed("analysis", {**ARGS, name: name}, NO)]),
        "Always pass {0}": ([call("analysis", {**ARGS, name: name})], [wrong]),
    }[line]
    good_and_bad(loop, good, bad)

    statements = loop.statements(command)

    lines = {(statement["tool"], statement["line"]) for statement in statements}
    assert ("analysis", f"- {line.format(name)}") in lines
    hostile = [statement for statement in statements if has_canary(statement["line"])]
    assert [statement["line"] for statement in hostile if statement["suggested_append"] is not None] == []
    assert {statement["refused"] for statement in hostile} <= STRANGE
    assert set(loop.promote(command, hostile)) == {1}
    assert list(loop.project.heads()) == ["main"]
    assert loop.traces() == []


STEPS = [
    {"name": "analysis", "args": {"axis": "배당", "note": QUESTIONS[5]}, "ok": True},
    {"name": "show", "args": {"company": QUESTIONS[6]}, "ok": True},
]
ANSWERS = [
    pytest.param(Reply(500, {"error": QUESTIONS[0]}), id="an error"),
    pytest.param(Reply(200, QUESTIONS[1].encode()), id="no JSON"),
    pytest.param(Reply(200, {QUESTIONS[2]: QUESTIONS[3], "tool_calls": QUESTIONS[4]}), id="another form"),
    pytest.param(Reply(302, {}, {"Location": "https://evil.example/qzcanary"}), id="a redirect"),
    pytest.param(Reply(200, {"tool_calls": STEPS, "request_id": "qzcanary\nPhase: R"}), id="an id"),
]


@pytest.mark.slow
@pytest.mark.parametrize("answer", ANSWERS)
def test_hostile_answer_to_a_replay_is_not_quoted(loop: Loop, answer: Reply) -> None:
    with Agent(answer) as agent:
        loop.project.settle(json.dumps({**SETTINGS, "replay": {"url": agent.url}}))
        for number, question in enumerate(QUESTIONS[:6]):
            collect(loop, question, "배당", QUESTIONS[number], category="FIN-profitability-KR")
        fail_beside(loop, "FIN-profitability-KR")
        assert loop.promote("pattern", loop.propose("pattern")) == [0]
    assert agent.asked
    assert len(loop.github.pulls) == 1
    assert loop.traces() == []
