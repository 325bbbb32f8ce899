"""Hostile text in every field of a record, through collector, pattern, refine and ``promote --confirm``.

Nothing of it may stand in what others read: in no object or branch of the remote, and in nothing that GitHub
was told. The local candidates and draft files hold questions by design, escaped.
"""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from coreloop.cli.main import run as entry_point
from coreloop.forge.pygithub_transport import Connection
from coreloop.observe import AuditCollector
from coreloop.records import encodable
from github_stand_in import GithubStandIn, Reply
from hostile import CANARIES, QUESTIONS, SHORT
from logs import call, record, write_log
from logs import word as unlike
from planted.fold import survives
from planted.value import Core
from promoting import FILE, Agent, Project, run_git

AXES = ("수익성", "성장성", "안정성", "배당", "효율성", "growth", "cash flow", "valuation")
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


def show(company: str) -> str:
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
    "categories": [{"label": "FIN-profitability-KR", "any": ["마진", "margin"]}],
}


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
        """Run ``pattern`` or ``refine``; gives the proposals."""
        code, out = self.run(command, "--json")
        assert code == 0
        document = json.loads(out)
        proposals: list[dict[str, Any]] = document[
            "candidates" if command == "pattern" else "counterexamples"
        ]
        return proposals

    def promote(self, command: str, proposals: Iterable[dict[str, Any]]) -> list[int]:
        """Exit codes of ``promote --confirm``, one after the other."""
        folder = "candidates" if command == "pattern" else "counterexamples"
        (path,) = (self.project.root / "data" / "audit" / folder).glob("*.json")
        words = (
            "promote",
            "--candidate",
            path,
            "--confirm",
            "--allow-unverified",
            "--allow-unreached",
            "--id",
        )
        return [self.run(*words, one["id"])[0] for one in proposals]

    def published(self) -> dict[str, str]:
        """All that others can read: refs and every object of the remote, and what GitHub was told."""
        told = {f"request {n}: {one.line}": repr(one) for n, one in enumerate(self.github.traffic)}
        bodies = (json.dumps(one.body, ensure_ascii=False) for one in self.github.traffic)
        pulls = {f"pull {one.number}": f"{one.title}\n{one.body}\n{one.labels}" for one in self.github.pulls}
        refs = run_git(self.project.remote, "for-each-ref")
        kinds = run_git(self.project.remote, "cat-file", "--batch-all-objects", "--batch-check")
        objects = {
            sha: run_git(self.project.remote, "cat-file", "-p", sha)
            for sha, kind, _ in map(str.split, kinds.splitlines())
            if kind in {"blob", "commit", "tag", "tree"}
        }
        return {"refs": refs, "bodies": "\n".join(bodies), **told, **pulls, **objects}

    def traces(self) -> list[str]:
        """Where a canary can be read, whatever it is disguised as."""
        return [place for place, text in self.published().items() if has_canary(text)]


def has_canary(text: str) -> bool:
    return any(survives(Core(word), {"": text}) for word in CANARIES)


@pytest.fixture
def loop(
    project: Project,
    github: GithubStandIn,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Loop:
    monkeypatch.setattr(github, "sha_of", project.head_of)
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GITHUB_TOKEN", github.token)
    github.protections = {"main": 1}
    # this GitHub needs no pauses between requests
    at_once = partial(Connection, seconds_between_requests=0, seconds_between_writes=0)
    monkeypatch.setattr("coreloop.forge.pygithub_transport.Connection", at_once)
    project.candidates.unlink()
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
        session_id=hostile,
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


def today(**changes: Any) -> dict[str, Any]:
    """A record as another program writes it, whom no collector stops."""
    return record(ts=datetime.now(UTC).isoformat(), **changes)


def category_of(question: str) -> str:
    return "FIN-profitability-KR" if len(question) % 2 else "UNSPECIFIED"


def docstring_lines(proposals: Iterable[dict[str, Any]]) -> list[str]:
    """The proposed text of those that have a docstring to go to."""
    suggested = (one["suggested_append"] for one in proposals)
    return [one["body"] for one in suggested if one is not None and one["target_file"] is not None]


def test_there_are_enough_questions_and_each_has_a_canary() -> None:
    assert len(set(QUESTIONS)) == len(QUESTIONS) >= 60
    assert [question for question in QUESTIONS if not has_canary(question)] == []


@pytest.mark.slow
def test_hostile_questions_and_arguments_are_promoted_without_a_trace(loop: Loop) -> None:
    for number, question in enumerate(QUESTIONS):
        collect(loop, question, AXES[number % len(AXES)], QUESTIONS[-number])
    found = loop.propose("pattern")
    asked = [text for one in found for text in one["example_questions"]]
    assert {one["axis"] for one in found} == set(AXES)
    assert sum(map(has_canary, asked)) > 40
    assert len(docstring_lines(found)) == len(found)

    codes = loop.promote("pattern", found)

    assert set(codes) == {0}
    assert len(loop.github.pulls) == len(found) == len(loop.project.heads()) - 1
    assert loop.traces() == []


def test_draft_for_people_shows_questions_as_single_escaped_lines(loop: Loop) -> None:
    for number, question in enumerate(QUESTIONS):
        collect(loop, question, AXES[number % len(AXES)], "x")
    loop.propose("pattern")
    (path,) = (loop.project.root / "data" / "audit" / "candidates").glob("*.md")
    lines = path.read_text(encoding="utf-8").split("\n")
    shown = [line for line in lines if has_canary(line)]
    assert len(shown) > 30
    assert [line for line in shown if not line.startswith("    ")] == []
    assert [line for line in lines if any(unicodedata.category(char)[0] == "C" for char in line)] == []


@pytest.mark.parametrize("command", ["pattern", "refine"])
def test_sanitized_proposals_hold_no_hostile_word(loop: Loop, tmp_path: Path, command: str) -> None:
    for number, text in enumerate(SHORT):
        collect(loop, text, AXES[number % len(AXES)], QUESTIONS[-number])
        for other in ("첫째", "둘째", "셋째", "넷째", "다섯째"):
            collect(loop, f"{other} {text}" if number % 2 else f"{other} 회사", text, text, category=text)
    out = tmp_path / "published"
    code, shown = loop.run(command, "--sanitize", "--json", "--out", out)
    assert code == 0
    assert len(json.loads(shown)["candidates" if command == "pattern" else "counterexamples"]) >= len(AXES)
    written = [path.read_text(encoding="utf-8") for path in out.iterdir()]
    assert [text for text in (shown, *written) if has_canary(text)] == []


def test_hostile_selector_values_become_placeholders(loop: Loop) -> None:
    for index, text in enumerate(SHORT):
        for number in range(3):  # a category each, or their texts would be the same
            collect(loop, f"질문 {unlike(number)} 회사{unlike(number)}", text, "x", category=f"TEST-{index}")
    found = loop.propose("pattern")
    assert sum(has_canary(one["axis"] or "") for one in found) > 60
    lines = docstring_lines(found)
    assert len(lines) == len(found)
    assert [line for line in lines if has_canary(line) or "axis=<axis>" not in line] == []

    codes = loop.promote("pattern", islice(found, 0, None, 12))

    assert set(codes) == {0}
    assert len(loop.project.heads()) == len(codes) + 1
    assert loop.traces() == []


def test_hostile_tool_names_are_refused(loop: Loop) -> None:
    names = [*map(encodable, SHORT), "qzcanary_tool", "аnalysis_qzcanary", "analysis\nqzcanary", "꾀꼬리"]
    calls = ([call(name), call("analysis", {"axis": "배당"})] for name in names)
    write_log(
        loop.records / "a.jsonl",
        (
            today(question=f"질문 {unlike(n)} 회사{unlike(n)}", tool_calls=one)
            for one in (*calls, *([call(name)] for name in names))
            for n in range(3)
        ),
    )
    found = loop.propose("pattern")
    assert len(found) > len(names)
    assert docstring_lines(found) == []

    codes = loop.promote("pattern", islice(found, 0, None, 20))

    assert set(codes) == {1}
    assert list(loop.project.heads()) == ["main"]
    assert loop.traces() == []


def test_hostile_labels_name_no_category(loop: Loop) -> None:
    for number, text in enumerate(QUESTIONS):
        collect(loop, f"질문 {unlike(number)} 회사{unlike(number)}", "배당", "x", category=text)
    (collected,) = loop.propose("pattern")
    assert (collected["cat_hash"], collected["n_observed"]) == ("UNSPECIFIED", len(QUESTIONS))
    write_log(
        loop.records / "a.jsonl",
        (
            today(question=f"질문 {unlike(n)} 회사{unlike(n)}", category_hash=text)
            for text in map(encodable, SHORT)
            for n in range(3)
        ),
    )
    found = loop.propose("pattern")
    assert [(one["cat_hash"], one["n_observed"]) for one in found] == [
        ("UNSPECIFIED", 3 * len(SHORT)),
        ("UNSPECIFIED", len(QUESTIONS)),
    ]
    assert loop.promote("pattern", found) == [0, 0]
    assert loop.traces() == []


@pytest.mark.slow
def test_hostile_errors_become_classes(loop: Loop) -> None:
    for text in QUESTIONS:
        for question in ("첫째", "둘째"):
            with AuditCollector(question + text, data_dir=loop.project.root / "data", provider=text) as audit:
                audit.observe_tool_call("show", {"company": text, text: 1}, error=f"ValueError: {text}")
                audit.observe_tool_call(
                    "analysis", {"axis": text[:80], "company": text}, error=f"KeyError: {text}"
                )
                audit.observe_violation(text)
                audit.flush(900, error=text)
    found = loop.propose("refine")
    assert sum(has_canary(json.dumps(one, ensure_ascii=False)) for one in found) > 100
    lines = docstring_lines(found)
    assert len(lines) > 100
    assert [line for line in lines if has_canary(line)] == []

    codes = loop.promote("refine", islice((one for one in found if one["suggested_append"]), 0, None, 25))

    assert set(codes) == {0}
    assert len(loop.project.heads()) == len(codes) + 1
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


@pytest.mark.parametrize("answer", ANSWERS)
def test_hostile_answer_to_a_replay_is_not_quoted(loop: Loop, answer: Reply) -> None:
    with Agent(answer) as agent:
        loop.project.settle(json.dumps({**SETTINGS, "replay": {"url": agent.url, "timeout_s": 5}}))
        for number, question in enumerate(QUESTIONS[:6]):
            collect(loop, question, "배당", QUESTIONS[number], category="UNSPECIFIED")
        assert loop.promote("pattern", loop.propose("pattern")) == [0]
    assert agent.asked
    assert len(loop.github.pulls) == 1
    assert loop.traces() == []


def test_canary_that_is_declared_is_found_in_everything_that_is_published(loop: Loop) -> None:
    # the harness sees what it looks for: these two are the maintainer's own words, and may be written
    word = CANARIES[0]
    settings = {**SETTINGS, "axis_slugs": {word: word}, "categories": [{"label": "A", "any": [CANARIES[1]]}]}
    loop.project.settle(json.dumps(settings, ensure_ascii=False))
    clean = set(loop.published())
    for number in range(3):
        collect(loop, f"질문 {unlike(number)} 회사{unlike(number)}", word, "x", category="A")
    assert loop.promote("pattern", loop.propose("pattern")) == [0]

    traces = loop.traces()

    new = set(loop.published()) - clean
    assert {"refs", "bodies", "pull 1"} <= set(traces)
    (commit,) = (sha for sha in new if loop.published()[sha].startswith("tree "))
    assert commit not in traces  # a message names neither axis nor keyword
    blobs = [
        text for sha, text in loop.published().items() if sha in new & set(traces) and '"""Tools."""' in text
    ]
    assert [all(word in text for word in CANARIES) for text in blobs] == [True]
