"""Asking again: a real endpoint on this machine, in every state that an endpoint can be in."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import open_workspace
from coreloop.base.records import hash_sequence
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import merge
from coreloop.promote.proposal_entry import read_proposal
from coreloop.promote.replay import (
    Replay,
    ReplayRun,
    ReplayVerdict,
    ask_again,
    is_loopback,
)
from github_stand_in import Reply
from logs import call, record, repeated, write_log
from promoting import GOOD, ID, OTHER, Agent, candidate, write_candidates
from rows import each_row

HASH = hash_sequence("analysis(axis=수익성)>show()")
STEPS = GOOD["tool_calls"]
ASK = Callable[..., Replay]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ASK:
    """Replay a candidate against an agent, as promote --confirm does."""

    def ask(agent: Agent | str, *, confirmed: bool = True, runs: int | None = None, **changes: Any) -> Replay:
        url = agent if isinstance(agent, str) else agent.url
        monkeypatch.setattr("coreloop.promote.replay.TIMEOUT_S", changes.pop("timeout_s", 20))
        (tmp_path / "coreloop.yaml").write_text(json.dumps({"replay": {"url": url}}))
        path = write_candidates(tmp_path / "c.json", candidate(**changes))
        return ask_again(
            read_proposal(path, ID, Settings()), open_workspace(tmp_path), runs=runs, confirmed=confirmed
        )

    return ask


WEIGHED = [
    pytest.param([GOOD, OTHER, GOOD], "reproduced (2 of 3 runs agree: the agent took other steps)",
                 id="2 of 3"),
    pytest.param([OTHER, GOOD, OTHER], "inconclusive (1 of 3 runs agree: the agent took other steps)",
                 id="1 of 3"),
    pytest.param([OTHER] * 3, "not_reproduced (0 of 3 runs agree: the agent took other steps)", id="0 of 3"),
    pytest.param([OTHER, Reply(500), Reply(500)],
                 "inconclusive (0 of 3 runs agree: the agent took other steps; the endpoint answered 500)",
                 id="0 of 1 usable"),
]  # fmt: skip


@pytest.mark.parametrize(("answers", "summary"), WEIGHED)
def test_runs_are_weighed(ask: ASK, answers: list[Any], summary: str) -> None:
    with Agent(*answers) as agent:
        assert ask(agent).summary == summary


NOT_JSON = "the answer is not JSON of the expected form"
UNAVAILABLE = [
    pytest.param(Reply(500, {"tool_calls": STEPS}), "the endpoint answered 500", id="500"),
    pytest.param(Reply(200, b"<html>"), NOT_JSON, id="page"),
    pytest.param({}, "the answer names no tool calls", id="empty answer"),
    pytest.param(Reply(200, b"{}", {"Content-Length": "9"}), "the connection failed (RemoteProtocolError)",
                 id="cut"),
    pytest.param(Reply(200, b"{}", {"Content-Encoding": "gzip"}), "the compressed answer is damaged",
                 id="not gzip"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "reason"), UNAVAILABLE)
def test_unusable_answer_is_unavailable(ask: ASK, answer: Any, reason: str) -> None:
    with Agent(answer) as agent:
        assert ask(agent).summary == f"unavailable (0 of 3 runs agree: {reason})"


class Dripping(Agent):
    """Sends a byte now and then, so that no single wait is long."""

    def answer(self, asked: dict[str, Any], headers: dict[str, str]) -> Reply | None:
        super().answer(asked, headers)
        return None

    def drip(self, send: Callable[[bytes], object]) -> None:
        send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not self.stopping.wait(0.05):
            send(b" ")


@pytest.mark.slow
def test_server_that_drips_is_given_up(ask: ASK) -> None:
    with Dripping(None) as agent:
        said = ask(agent, timeout_s=0.3, runs=1).summary
    assert said.startswith("unavailable (0 of 1 ")
    assert "in time" in said


def test_proxy_of_the_environment_is_not_used(ask: ASK, monkeypatch: pytest.MonkeyPatch) -> None:
    with Agent(OTHER) as proxy, Agent(GOOD) as agent:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert ask(agent).verdict is ReplayVerdict.REPRODUCED
    assert proxy.asked == []


def test_every_question_is_marked_and_they_take_turns(ask: ASK) -> None:
    with Agent(GOOD) as agent:
        ask(agent)
    assert agent.asked == [
        {"question": text, "stream": False, "origin": "replay"}
        for text in ("첫째 질문?", "둘째 질문?", "첫째 질문?")
    ]
    assert {headers["x-coreloop-replay"] for headers in agent.headers} == {"1"}


EXTRA, LOOKUP = {"name": "scan", "args": {}}, {"name": "analysis", "args": {"axis": "성장성"}}
COMPARED = [
    pytest.param({"tool_calls": STEPS}, True, id="the calls"),
    pytest.param({"tool_calls": [EXTRA, STEPS[0], LOOKUP, STEPS[1], EXTRA]}, True, id="others in between"),
    pytest.param({"tool_calls": STEPS[::-1]}, False, id="other order"),
    pytest.param({"tool_calls": STEPS[:1]}, False, id="one is missing"),
    pytest.param({"tool_calls": [{**STEPS[0], "ok": None, "error": "x"}, STEPS[1]]}, False,
                 id="one with an error"),
    pytest.param({"tool_sequence_hash": HASH}, True, id="hash only"),
    pytest.param({"tool_sequence_hash": "seq:0"}, None, id="another hash: steps may stand in between"),
    pytest.param({"tool_sequence_hash": "seq:0", "tool_calls": STEPS}, True, id="calls before hash"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "agrees"), COMPARED)
def test_answer_is_compared_with_the_pattern(ask: ASK, answer: dict[str, Any], agrees: bool) -> None:
    with Agent(answer) as agent:
        assert ask(agent, runs=1).runs[0].agrees is agrees


def logged(folder: Path, *records: dict[str, Any]) -> Path:
    return write_log(folder / "data/audit/ai-ask/2026-05-01.jsonl", records)


CALLS = [call("analysis", {"axis": "수익성"}), call("show")]
LOGGED = [
    pytest.param({"tool_calls": CALLS}, True, id="calls"),
    pytest.param({"tool_calls": CALLS[:1], "tool_calls_omitted": 1, "tool_sequence_hash": HASH}, True,
                 id="tail is cut off, the hash is whole"),
    pytest.param({"tool_calls": CALLS, "tool_calls_omitted": 1, "tool_sequence_hash": "seq:0"}, True,
                 id="tail is cut off, the steps are there"),
    pytest.param({"tool_calls": CALLS[:1], "tool_calls_omitted": 9, "tool_sequence_hash": "seq:0"}, None,
                 id="tail is cut off, nobody knows"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "agrees"), LOGGED)
def test_request_of_which_only_the_id_comes_back_is_looked_up(ask, tmp_path, changes, agrees) -> None:
    logged(tmp_path, record(request_id="other"), record(request_id="r-1", **changes))
    with Agent({"request_id": "r-1"}) as agent:
        assert ask(agent, runs=1).runs[0].agrees is agrees


def test_record_that_comes_later_is_waited_for(ask: ASK, tmp_path: Path) -> None:
    """The server writes it when it has answered: after a first look has found other records only."""
    path = logged(tmp_path, record(request_id="other"))

    class Late(Agent):
        def answer(self, asked: dict[str, Any], headers: dict[str, str]) -> Reply | None:
            reply = super().answer(asked, headers)
            write_log(path, [record(request_id="r-1", tool_calls=CALLS)])
            return reply

    with Late({"request_id": "r-1"}) as agent:
        assert ask(agent, runs=1).runs[0].agrees is True


def test_replayed_requests_are_never_mined_even_without_the_mark(ask: ASK, tmp_path: Path) -> None:
    """The server passes no origin on: its records look like anybody's."""
    path = logged(tmp_path, *repeated(5), *(record(request_id=f"r-{at}") for at in range(3)))
    with Agent(*({**GOOD, "request_id": f"r-{at}"} for at in range(3))) as agent:
        ask(agent)
    opened = open_workspace(tmp_path)
    assert opened.replayed() == {"r-0", "r-1", "r-2"}
    assert opened.replays_file.stat().st_mode & 0o777 == 0o600
    settings = MineSettings.of(opened.settings, min_chunk_len=400, replayed=opened.replayed())
    [file] = read_folder(path.parent, settings)
    days = Days(date(2026, 4, 1), date(2026, 5, 1))
    assert merge([file], days).n_records() == 5


def test_dry_run_asks_this_machine_only(ask: ASK) -> None:
    with Agent(GOOD) as agent:
        assert ask(agent, confirmed=False).verdict is ReplayVerdict.REPRODUCED
    replayed = ask("http://agent.example/api/ask", confirmed=False)
    assert replayed == Replay(
        ReplayVerdict.UNAVAILABLE, (ReplayRun(None, "without --confirm only a loopback address is asked"),)
    )


@each_row(
    ("url", "is_local"),
    [
        ("http://127.0.0.1:8400/x", True), ("http://localhost/x", True), ("http://[::1]:80/", True),
        ("http://127.0.0.1@evil.example/", False), ("http://localhost.evil.example/", False),
        ("http://127.0.0.1.evil.example", False), ("http://10.0.0.1/", False), ("http://0.0.0.0/", False),
        ("127.0.0.1:8400", False), ("", False), ("http://[bad/", False),
    ],
)  # fmt: skip
def test_loopback_is_told_by_the_host(url: str, is_local: bool) -> None:
    assert is_loopback(url) is is_local
