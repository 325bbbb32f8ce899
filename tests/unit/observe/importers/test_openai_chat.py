"""Message lists of OpenAI's chat API: made-up ones of every form, and 690 real episodes."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import NO_RESULT
from coreloop.observe.importers import openai_chat
from coreloop.observe.importers.append_requests import run_import
from coreloop.observe.importers.files import find_trace_files
from coreloop.observe.importers.traced_request import TracedRequest
from coreloop.observe.reading.decode import raw_lines
from foreign_traces import LONG_AGO, recorded, requests, skips, write_lines
from retail_shop import dated

Episodes = list[tuple[dict[str, Any], dict[str, Any]]]
TS = "2026-04-25T09:30:00Z"


def call(id: str, name: str = "show", args: Any = '{"topic": "배당"}') -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": args}}


def asks(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def gives(id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def says(text: Any, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": text}


def only(path: Path, *messages: dict[str, Any], **more: Any) -> TracedRequest:
    chat = {"messages": list(messages), "ts": TS, **more}
    [request] = requests("openai-chat", write_lines(path / "chats.jsonl", [chat]))
    return request


def test_a_message_list_is_one_request(tmp_path: Path) -> None:
    request = only(
        tmp_path,
        says("be kind", "system"),
        says("배당은?"),
        asks(call("a")),
        gives("a", "100원"),
        says([{"type": "text", "text": "배당은 100원"}], "assistant"),
        says("thanks"),
        request_id="r-1",
        model="gpt-x",
        session_id="s-1",
    )
    assert (request.question, request.answer_chars, request.rounds) == ("배당은?", 8, 2)
    assert (request.ids, request.model, request.session_id) == (("r-1",), "gpt-x", "s-1")
    [made] = request.calls
    assert (made.name, made.args, made.error) == ("show", {"topic": "배당"}, None)
    assert (made.result, made.result_size_bytes) == ("100원", 6)


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize(
    "form",
    [
        lambda chats: chats,
        lambda chats: [{"messages": chat, "reward": 0.0} for chat in chats],
        lambda chats: {"messages": chats},
        lambda chats: {"conversations": chats, "version": 2},
        lambda chats: {"data": [{"id": n, "messages": chat} for n, chat in enumerate(chats)]},
        lambda chats: [{"id": n, "conversation": {"messages": chat}} for n, chat in enumerate(chats)],
        lambda chats: [{"task_id": n, "reward": 0.0, "traj": chat} for n, chat in enumerate(chats)],
    ],
    ids=["lists", "objects", "messages", "conversations", "data", "envelopes", "trajectories"],
)
def test_file_may_hold_its_chats_in_lists_and_objects(
    tmp_path: Path, form: Callable[[Any], Any], newline: str
) -> None:
    chats = [[says(f"질문 {n}"), asks(call("a")), gives("a", "100원")] for n in range(2)]
    path = tmp_path / "대화 기록.json"
    path.write_text(json.dumps(form(chats), indent=2), encoding="utf-8", newline=newline)
    files = find_trace_files([path], openai_chat.SUFFIXES, now_s=0.0)
    parts = openai_chat.read(files)
    read = [part for part in parts if isinstance(part, TracedRequest)]
    assert [request.question for request in read] == ["질문 0", "질문 1"]
    assert [len(request.calls) for request in read] == [1, 1]
    assert all((request.violation == "reward=0.0") == ("reward" in str(form(chats))) for request in read)


def test_the_older_form_has_no_ids(tmp_path: Path) -> None:
    asked = {"role": "assistant", "function_call": {"name": "show", "arguments": "{}"}}
    request = only(tmp_path, says("?"), asked, {"role": "function", "name": "show", "content": "fine"})
    assert [(made.name, made.result) for made in request.calls] == [("show", "fine")]


# messages of Anthropic's API


def uses(*calls: tuple[str, str, Any]) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": id, "name": name, "input": args} for id, name, args in calls]
    return {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, *blocks]}


def returns(*results: tuple[str, Any], said: str | None = None, **more: Any) -> dict[str, Any]:
    blocks = [
        {"type": "tool_result", "tool_use_id": id, "content": content, **more} for id, content in results
    ]
    return {"role": "user", "content": [*blocks, *([{"type": "text", "text": said}] if said else [])]}


def test_blocks_of_anthropic_are_calls_and_results(tmp_path: Path) -> None:
    request = only(
        tmp_path,
        says([{"type": "text", "text": "Where does Kim sit?"}]),
        uses(("t1", "find", {"who": "Kim"}), ("t2", "get", {"id": "u77"})),
        returns(("t2", "{}"), ("t1", [{"type": "text", "text": '{"user": "u77"}'}])),
        uses(("t3", "get", {"id": "u77"})),
        returns(("t3", "room 4"), said="and u78?"),
        uses(("t4", "get", {"id": "u78"})),
        says([{"type": "text", "text": "Room 4."}], "assistant"),
        model="claude-x",
    )
    assert (request.question, request.answer_chars, request.rounds) == ("Where does Kim sit?", 7, 4)
    assert [(made.name, made.args, made.unknown) for made in request.calls] == [
        ("find", {"who": "Kim"}, None),
        ("get", {"id": "u77"}, None),
        ("get", {"id": "u77"}, None),
        ("get", {"id": "u78"}, NO_RESULT),
    ]
    assert not any(made.error for made in request.calls)
    assert [made.result_size_bytes for made in request.calls] == [15, 2, 6, None]
    assert [made.get("args_from") for made in recorded(request)["tool_calls"]] == [
        {"who": ["question"]},
        {"id": []},
        {"id": ["find.user"]},
        {"id": ["question"]},
    ]


@pytest.mark.parametrize(
    ("content", "flag", "error"),
    [
        ("no such room", {"is_error": True}, "no such room"),
        ([{"type": "text", "text": "no such room"}], {"is_error": True}, "no such room"),
        (None, {"is_error": True}, "failed"),
        ("room 4", {"is_error": False}, None),
        ("Error: no room", {}, "Error: no room"),
        ([{"type": "text", "text": '{"error": "no room"}'}], {}, "no room"),
        ([{"type": "image", "source": {}}], {}, None),
    ],
)
def test_errors_of_blocks(tmp_path: Path, content: Any, flag: dict[str, Any], error: str | None) -> None:
    request = only(tmp_path, says("?"), uses(("t1", "get", {})), returns(("t1", content), **flag))
    assert [made["error"] for made in recorded(request)["tool_calls"]] == [error]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("Error: user not found", "Error: user not found"),
        ('{"error": "no such id"}', "no such id"),
        ('{"error": {"code": 403, "message": "not yours"}}', "not yours"),
        ('{"error": {}}', None),
        ('{"error": null, "id": 5}', None),
        ('{"errors": 0}', None),
        ("fine", None),
        ([{"type": "text", "text": "Error: no"}], "Error: no"),
    ],
)
def test_errors_are_recognized_by_the_result(tmp_path: Path, content: Any, error: str | None) -> None:
    request = only(tmp_path, says("?"), asks(call("a")), gives("a", content))
    assert [made["error"] for made in recorded(request)["tool_calls"]] == [error]


def test_a_call_without_a_result_is_unknown_and_so_is_the_answer_that_it_may_be(tmp_path: Path) -> None:
    request = only(tmp_path, says("?"), {**asks(call("a")), "content": "I look."})
    assert [(made.error, made.unknown) for made in request.calls] == [(None, NO_RESULT)]
    assert request.answer_chars is None
    assert only(tmp_path, says("?"), says("", "assistant")).answer_chars == 0


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({}, (None, None)),
        ({"reward": 0}, ("task_failed", "reward=0.0")),
        ({"success": True}, (None, None)),
        ({"success": False}, ("task_failed", "success=false")),
        ({"reward": "high"}, (None, None)),
    ],
)
def test_the_outcome_comes_from_the_grade(tmp_path: Path, more: dict[str, Any], outcome: Any) -> None:
    request = only(tmp_path, says("?"), **more)
    assert (request.error, request.violation) == outcome


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"messages": [], "ts": TS}, "list without a message"),
        ({"messages": "?"}, "not of this format"),
        ("{torn", "torn or not JSON"),
        (
            '{"messages": [{"role": "user", "content": ' + "[" * 1000 + "]" * 1000 + "}]}",
            "list without a message",
        ),
    ],
)
def test_anything_but_a_request_is_skipped_with_the_reason(tmp_path: Path, value: Any, reason: str) -> None:
    path = write_lines(tmp_path / "chats.jsonl", [{"messages": [says("?")], "ts": TS}, value])
    assert skips("openai-chat", path) == [reason]


# the real episodes


def saved_at_each_step(name: str, *, n_calls: int = 3, result: str = "ok") -> list[list[dict[str, Any]]]:
    """The lists of one conversation, each of which an API gives its ids anew."""
    lists = []
    for n in range(n_calls + 1):
        steps = [[asks(call(f"{name}{n}{at}")), gives(f"{name}{n}{at}", result)] for at in range(n)]
        answer = [says("done", "assistant")] if n == n_calls else []
        lists.append([says("q"), *(message for step in steps for message in step), *answer])
    return lists


def test_a_conversation_that_is_saved_at_each_step_counts_once(tmp_path: Path) -> None:
    first, other = saved_at_each_step("a"), saved_at_each_step("b", n_calls=2, result="none")
    backwards = saved_at_each_step("c", result="late")[::-1]
    for number, lists in enumerate(([*first[:2], *other], backwards[:2], [*first[2:], *backwards[2:]])):
        chats = [{"ts": f"2026-04-25T09:00:{at:02}Z", "messages": saved} for at, saved in enumerate(lists)]
        write_lines(tmp_path / f"{number}.jsonl", chats)
    files = sorted(tmp_path.glob("*.jsonl"))
    read = requests("openai-chat", *files)
    assert sorted(len(request.calls) for request in read) == [2, 3, 3]
    assert {request.answer_chars for request in read} == {4}
    assert Counter(skips("openai-chat", *files)) == {"beginning of a chat that was saved again later": 8}


def test_a_graded_chat_counts_also_if_another_one_begins_with_it(tmp_path: Path) -> None:
    chats = [
        {"ts": "2026-04-25T09:00:00Z", "reward": 0, "messages": saved} for saved in saved_at_each_step("a")
    ]
    assert len(requests("openai-chat", write_lines(tmp_path / "chats.jsonl", chats))) == 4


@pytest.fixture(scope="module")
def trajectories(shared_data: Path) -> Path:
    path = shared_data / "tau_retail_trajectories.jsonl.xz"
    if not path.is_file():
        pytest.skip(f"no {path}; name its folder with CORELOOP_SHARED_DATA")
    return path


@pytest.fixture(scope="module")
def episodes(trajectories: Path, tau_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Episodes:
    """The imported records, each with another converter's record of the same episode."""
    folder = tmp_path_factory.mktemp("imported")
    chats = dated(trajectories, tau_log, tmp_path_factory.mktemp("chats") / "chats.jsonl")
    workspace = Workspace(tmp_path_factory.mktemp("project"), Settings())
    report = run_import("openai-chat", [chats], workspace, out=folder, now_s=LONG_AGO)
    assert (report.added, report.skipped, report.dropped) == (690, Counter(), Counter())
    theirs = {
        record["ts"][:19]: record for record in map(json.loads, tau_log.read_text("utf-8").splitlines())
    }
    lines = [line for day in folder.glob("*.jsonl") for line in day.read_bytes().splitlines(keepends=True)]
    assert max(map(len, lines)) <= 4096
    requests = [json.loads(raw) for day in folder.glob("*.jsonl") for _, raw in raw_lines(day)]
    return [(ours, theirs[ours["ts"][:19]]) for ours in requests]


@pytest.mark.slow
def test_real_episodes_come_out_as_in_their_records(
    episodes: Episodes,
) -> None:
    for ours, theirs in episodes:
        for key in ("question", "model", "rounds", "error", "violation"):
            assert ours[key] == theirs[key]
        assert ours["chunk_len"] in (None, theirs["chunk_len"])  # the other converter knows no unknown answer
        assert len(ours["tool_calls"]) == len(theirs["tool_calls"])
        for our, their in zip(ours["tool_calls"], theirs["tool_calls"], strict=False):
            assert (our["name"], our["ok"], our["args_hash"]) == (
                their["name"],
                their["ok"],
                their["args_hash"],
            )


@pytest.mark.parametrize(
    ("tool", "argument", "path", "share"),
    [
        ("get_order_details", "order_id", "get_user_details.orders[]", 0.85),
        ("get_user_details", "user_id", "find_user_id_by_name_zip", 0.7),
        ("find_user_id_by_name_zip", "zip", "question", 0.95),
        ("exchange_delivered_order_items", "new_item_ids", "get_product_details.variants.*.item_id", 0.85),
        ("get_product_details", "product_id", "get_order_details.items[].product_id", 0.85),
    ],
)
def test_sources_in_real_episodes(
    episodes: Episodes, tool: str, argument: str, path: str, share: float
) -> None:
    calls = [
        made for ours, _ in episodes for made in ours["tool_calls"] if made["name"] == tool and made["ok"]
    ]
    known = [made["args_from"][argument] for made in calls if argument in made.get("args_from", {})]
    assert len(known) >= 0.6 * len(calls)  # long records give up the sources of their first calls
    assert sum(path in paths for paths in known) >= share * len(known) > 50
