"""Sources of arguments: what is remembered of results, and that no result can do harm."""

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.record_lines import MAX_LINE_BYTES
from coreloop.observe import AuditCollector, argument_sources, collector, dropped
from coreloop.observe.argument_sources import SESSIONS, SessionSources, Sources, copied
from coreloop.observe.case_keys import texts_in
from coreloop.observe.failure_texts import judge


@pytest.fixture(autouse=True)
def _no_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "SESSION_SOURCES", SessionSources())


def sources_of(args: dict[str, Any], *results: Any, question: str = "", tool: str = "get") -> Any:
    """``args_from`` of a call after others that gave some results."""
    memory = Sources()
    memory.add_question(question)
    for result in results:
        memory.remember(tool, result, None)
    return memory.look_up({name: texts_in(value) for name, value in args.items()}).args_from


def paths(value: Any, *results: Any, **more: Any) -> list[str]:
    args_from = sources_of({"a": value}, *results, **more)
    return [] if args_from is None else args_from["a"]


# paths


@pytest.mark.parametrize(
    ("result", "path"),
    [
        pytest.param("#W1", "get", id="a scalar"),
        pytest.param({"order_id": "#W1"}, "get.order_id", id="a field"),
        pytest.param({"orders": ["#W0", "#W1"]}, "get.orders[]", id="an item"),
        pytest.param({"a": [{"b": {"c": "#W1"}}]}, "get.a[].b.c", id="deep"),
        pytest.param({"variants": {"9690244451": {"id": "#W1"}}}, "get.variants.*.id", id="a key of digits"),
        pytest.param({"kim@example.com": "#W1"}, "get.*", id="a key that is no identifier"),
        pytest.param({"credit_card_9513926": "#W1"}, "get.*", id="a key with three digits"),
        pytest.param({7: "#W1"}, "get.*", id="a key that is no text"),
        pytest.param({"종목": "#W1"}, "get.종목", id="a Korean name"),
        pytest.param('{"orders": ["#W1"]}', "get.orders[]", id="JSON as a text"),
        pytest.param([{"type": "text", "text": '{"id": "#W1"}'}], "get.id", id="MCP's parts"),
        pytest.param(
            {"content": [{"type": "text", "text": "#W1"}], "isError": False}, "get", id="MCP's result"
        ),
        pytest.param({"content": [], "structuredContent": {"id": "#W1"}}, "get.id", id="MCP's structure"),
    ],
)
def test_a_path_has_names_and_no_data(result: Any, path: str) -> None:
    assert paths("#W1", result) == [path]


# values


def test_a_compared_value_without_a_source_is_recorded() -> None:
    assert sources_of({"a": "#W1", "b": True, "c": ["#W2", 5]}, {"x": "#W2"}) == {"a": [], "c": ["get.x"]}


def test_the_earliest_place_comes_first_and_four_are_recorded() -> None:
    results = [{name: "#W1"} for name in "abcdef"]
    assert paths("#W1", *results) == ["get.a", "get.b", "get.c", "get.d"]
    assert paths("#W1", {"b": "#W1"}, {"a": "#W1"}, {"b": "#W1"}) == ["get.b", "get.a"]


def test_a_value_of_the_calls_own_arguments_is_an_echo() -> None:
    memory = Sources()
    memory.remember("list", {"ids": ["#W1"]}, None)
    asked = memory.look_up({"id": ["#W1"]})
    memory.remember("get", {"id": "#W1", "user": "u77"}, asked)
    found = memory.look_up({"a": ["#W1"], "b": ["u77"]}).args_from
    assert found == {"a": ["list.ids[]"], "b": ["get.user"]}


# the question


@pytest.mark.parametrize(
    ("question", "value", "is_there"),
    [
        ("My name is Yusuf Rossi, zip 19122.", "yusuf", True),
        ("My name is Yusuf Rossi, zip 19122.", 19122, True),
        ("order #W1, please", "#W1", True),
        ("order #W12", "#W1", False),
        ("삼성전자의 배당", "삼성전자", True),
        ("005930을 분석", "005930", True),
        ("snake_case", "case", False),
    ],
)
def test_the_question_is_a_source_by_whole_words(question: str, value: Any, is_there: bool) -> None:
    assert paths(value, question=question) == (["question"] if is_there else [])


# incomplete memories


def test_after_a_call_without_result_empty_sources_are_not_recorded() -> None:
    memory = Sources()
    memory.add_question("zip 19122")
    memory.remember("get", ..., None)
    assert memory.look_up({"zip": ["19122"], "a": ["nobody"]}).args_from == {"zip": ["question"]}


# bounds


def test_a_session_forgets_after_an_hour_without_use() -> None:
    memory = Sources(0.0)
    memory.add_question("order #W2")
    memory.remember("get", {"x": "#W1"}, None)
    memory.use(2_600.0)
    asked = {"a": ["#W1"], "b": ["#W2"]}
    assert memory.look_up(asked).args_from == {"a": ["get.x"], "b": ["question"]}
    memory.use(6_200.0)
    assert memory.look_up(asked).args_from is None
    assert len(memory) == 0


def test_a_process_holds_a_bounded_number_of_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = SessionSources()
    first = sessions.open("first", 0.0)
    for number in range(SESSIONS):
        sessions.open(number, 1.0)
    assert sessions.open("first", 2.0) is not first
    assert sessions.open(SESSIONS - 1, 3.0) is sessions.open(SESSIONS - 1, 3.0)
    monkeypatch.setattr(argument_sources, "PROCESS_LEAVES", 100)
    full = sessions.open("full", 4.0)
    full.remember("get", [f"v{n}" * 3 for n in range(200)], None)
    sessions.open("next", 5.0)
    assert sessions.open("full", 6.0) is not full


def test_a_result_that_contains_itself_ends() -> None:
    loop: list[Any] = ["#W1"]
    loop.append(loop)
    loop.append({"x": loop})
    assert paths("#W1", loop)[0] == "get[]"


class Hostile(str):
    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __hash__(self) -> int:
        raise AssertionError("hashed")

    __str__ = strip = __len__ = __hash__  # type: ignore[assignment]


class HostileMeta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise AssertionError("asked")


class HostileDict(dict[str, Any]):
    def items(self) -> Any:
        raise AssertionError("read")

    __iter__ = __len__ = __getitem__ = items  # type: ignore[assignment]


class HostileClass(metaclass=HostileMeta):
    def __getattribute__(self, name: str) -> Any:
        raise AssertionError("asked")


HOSTILE = [Hostile("#W1"), HostileDict(x="#W1"), HostileClass()]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_no_code_of_a_result_is_run(number: int) -> None:
    result = HOSTILE[number]
    sources_of({"a": "#W1"}, result, [result], {"x": result})
    assert judge(result, None, {}) is None
    assert judge({"success": result, "status": result, "message": result}, None, {}) is None
    failed = {"success": False, "error": result, "reason": {"message": result}, 1: result}
    assert judge(failed, None, {}) is not None


_HOSTILE_VALUES = st.integers(0, len(HOSTILE) - 1).map(lambda number: HOSTILE[number])
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | _HOSTILE_VALUES
_RESULTS = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=5)
    ),
    max_leaves=20,
)

_ARGUMENTS = st.dictionaries(st.text(max_size=5), st.text(max_size=9) | st.lists(st.integers()), max_size=4)


@given(results=st.lists(_RESULTS, max_size=4), args=_ARGUMENTS)
def test_no_result_raises_and_no_value_is_written(
    tmp_path_factory: pytest.TempPathFactory, results: list[Any], args: dict[str, Any]
) -> None:
    folder, before = tmp_path_factory.mktemp("log"), dropped()
    audit = AuditCollector("왜?", data_dir=folder)
    for result in [*results, ["Geheim-4711"]]:
        audit.observe_tool_call("get", args, result=result)
    audit.observe_tool_call("get", {"a": "Geheim-4711"})
    audit.flush(chunk_len=1)
    [day] = (folder / "audit" / "ai-ask").glob("*.jsonl")
    [line] = day.read_bytes().splitlines(keepends=True)
    calls = json.loads(line)["tool_calls"]
    assert len(calls) == len(results) + 2
    assert len(line) <= MAX_LINE_BYTES
    bugs = {reason: n for reason, n in dropped().items() if reason.startswith("bug_")}
    assert bugs == {reason: n for reason, n in before.items() if reason.startswith("bug_")}
    assert "Geheim" not in json.dumps(calls[:-1])


# the collector


@pytest.fixture
def audit(tmp_path: Path) -> Any:
    return functools.partial(AuditCollector, data_dir=tmp_path)


@pytest.fixture
def records(tmp_path: Path) -> Any:
    def read() -> list[dict[str, Any]]:
        [day] = (tmp_path / "audit" / "ai-ask").glob("*.jsonl")
        return [json.loads(line) for line in day.read_bytes().splitlines()]

    return read


def test_a_session_spans_its_requests(audit: Any, records: Any) -> None:
    for session in ("s-1", "s-2"):
        first = audit("I am u77", session_id=session)
        first.observe_tool_call("get_user", {"id": "u77"}, result={"orders": [f"#{session}"]})
        first.flush(1)
    second = audit("and my order?", session_id="s-1")
    second.observe_tool_call("get_order", {"id": "#s-1", "user": "u77", "other": "#s-2"}, result={})
    second.flush(1)
    audit("and my order?").flush(1)
    assert [record["tool_calls"][0].get("args_from") for record in records()[:3]] == [
        {"id": ["question"]},
        {"id": ["question"]},
        {"id": ["get_user.orders[]"], "user": ["question"], "other": []},
    ]


@pytest.mark.parametrize(
    ("n_calls", "n_texts"), [(1, 0), (20, 0), (1, 3000)], ids=["at the end", "a long request", "beside texts"]
)
def test_a_result_that_changes_later_is_read_as_it_was(
    audit: Any, records: Any, n_calls: int, n_texts: int
) -> None:
    request, result = audit("x"), {"rows": [{"id": "#W1"}]}
    envelope = {"content": [{"type": "text", "text": "row"}] * n_texts, "structuredContent": result}
    for _ in range(n_calls):
        request.observe_tool_call("get", {}, result=envelope if n_texts else result)
    result["rows"][0]["id"] = "#W2"
    request.observe_tool_call("get", {"a": "#W1", "b": "#W2"})
    request.flush(1)
    assert records()[-1]["tool_calls"][-1]["args_from"] == {"a": ["get.rows[].id"], "b": []}


def test_a_long_text_in_a_result_does_not_wait_in_memory() -> None:
    assert len(copied({"image": "x" * 1_000_000})["image"]) < 100_000
