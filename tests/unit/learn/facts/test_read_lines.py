"""Lines into facts: the sequence of a record, its category, case and template, and how it counts."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from coreloop.base.categories import Categories
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import hash_sequence
from coreloop.learn.facts.read_lines import MineSettings, case_of
from coreloop.learn.mine.folder import mine
from coreloop.learn.mine.window import EVERY_DAY, Window, merge
from coreloop.observe.case_keys import FILE_NAME, RequestIdentifiers, case_key, hash_identifier, texts_in
from coreloop.observe.reading.decode import RecordLine, decode_line
from coreloop.observe.reading.outcome import RequestOutcome
from logs import call, failed, line, record, write_log
from rows import each_row
from samples import rolled


def _window(*records: dict[str, Any], settings: MineSettings | None = None) -> Window:
    return merge([rolled(records, settings=settings or MineSettings())], EVERY_DAY)


def _column(window: Window, name: str) -> list[int]:
    return [number for group in window.requests for number in group.column(name)]


@each_row(
    ("calls", "expected"),
    [
        pytest.param(
            [call("analysis", {"axis": "수익성", "years": 3})], "analysis(axis=수익성)", id="a selector"
        ),
        pytest.param([call("a"), call("b"), call("a")], "a()>b()>a()", id="order and returns count"),
        pytest.param([call("a"), call("a"), call("a")], "a()", id="immediate repeats collapse"),
        pytest.param([call("a", {"axis": "x"}), call("a", {"axis": "y"})], "a(axis=x)>a(axis=y)", id="both"),
        pytest.param([call("a"), failed("b"), call("a")], "a()", id="failed calls are left out"),
        pytest.param([failed("a")], "", id="nothing but a failure"),
        pytest.param(["a", "b"], "a()>b()", id="bare names"),
        pytest.param([call("a", ["x"]), call("b", "x")], "a()>b()", id="arguments that are no object"),
    ],
)
def test_sequences(calls: list[Any], expected: str):
    window = _window(record(tool_calls=calls))
    assert window.steps(window.requests[0]).text == expected


def test_selectors_can_be_set_per_tool():
    settings = MineSettings(selectors={"scan": ("target",), "show": ()})
    row = record(tool_calls=[call("scan", {"target": "배당", "axis": "x"}), call("show", {"axis": "x"})])
    assert set(_window(row, settings=settings).texts.values()) == {"scan(target=배당)>show()"}


@each_row(("omitted", "counts"), [(None, False), (0, False), (2, True)])
def test_the_recorded_hash_counts_only_if_calls_were_omitted(omitted: int | None, counts: bool):
    recorded = "seq:00000000000000ff"
    window = _window(record(tool_sequence_hash=recorded, tool_calls_omitted=omitted))
    own = hash_sequence("analysis(axis=수익성)")
    assert window.steps(window.requests[0]).sequence == (recorded if counts else own)


@each_row(
    ("label", "question", "expected"),
    [
        pytest.param("FIN-own", "배당", "FIN-own", id="a recorded label stands"),
        pytest.param(None, "배당 알려줘", "FIN-dividend", id="no label: the rules"),
        pytest.param("UNSPECIFIED", "배당 알려줘", "FIN-dividend", id="unspecified: a rule added later"),
        pytest.param("ignore all rules!", "배당 알려줘", "FIN-dividend", id="no label at all"),
        pytest.param("", None, "UNSPECIFIED", id="nothing at all"),
    ],
)
def test_categories(label: str | None, question: str | None, expected: str):
    settings = MineSettings(Categories([("FIN-dividend", ["배당"])]))
    (group,) = _window(record(category_hash=label, question=question), settings=settings).requests
    assert group.alike.category == expected


def test_a_verdict_changes_what_its_request_counts_as():
    records = [record(request_id="0"), record(request_id="req-2"), record(request_id=None)]
    window = _window(*records, settings=MineSettings(verdicts={"0": "V", "": "V"}))
    assert _column(window, "outcome") == [0, 1, 1]


def test_a_replay_is_not_counted_but_stays_in_the_facts():
    records = [record(request_id=f"req-{number}") for number in range(3)]
    file = rolled(records, settings=MineSettings(replayed=frozenset({"req-0"})))
    assert [n for part in file.parts for _, n, _ in part.groups] == [3]
    window = merge([file], EVERY_DAY)
    assert sum(group.n for group in window.requests) == window.calls.total() == window.n_records() == 2


HANDED_OVER = [call("analysis"), call("transfer")]
BAD, NEITHER, GOOD = RequestOutcome.FAILURE, RequestOutcome.NEUTRAL, RequestOutcome.SUCCESS


@each_row("odd", [{}, {"overrides_used": {"a": 1}}], ids=["plain", "read loosely"])
@each_row(
    ("calls", "changes", "verdict", "expected"),
    [
        pytest.param(HANDED_OVER, {}, None, NEITHER, id="at its end"),
        pytest.param(HANDED_OVER[::-1], {}, None, NEITHER, id="at its beginning"),
        pytest.param([call(), failed("transfer")], {}, None, NEITHER, id="in vain"),
        pytest.param(HANDED_OVER, {"error": "x"}, None, NEITHER, id="and an error"),
        pytest.param([call("Transfer")], {}, None, GOOD, id="another name"),
        pytest.param([failed()], {}, None, BAD, id="another tool failed"),
        pytest.param(HANDED_OVER, {"judgment": {"verdict": "P"}}, None, GOOD, id="P in it"),
        pytest.param(HANDED_OVER, {"judgment": {"verdict": "C"}}, None, BAD, id="C in it"),
        pytest.param(HANDED_OVER, {}, "T", GOOD, id="T given later"),
        pytest.param(HANDED_OVER, {}, "V", BAD, id="V given later"),
    ],
)
def test_a_request_that_was_handed_over_is_neutral_unless_there_is_a_verdict(
    calls: Any, changes: dict[str, Any], verdict: str | None, expected: RequestOutcome, odd: dict[str, Any]
):
    verdicts = {"req-1": verdict} if verdict else {}
    settings = MineSettings.of(Settings(handoff=("transfer",)), verdicts=verdicts)
    row = record(tool_calls=[{**made, **odd} for made in calls], **changes)
    assert _column(_window(row, settings=settings), "outcome") == [expected]


@each_row("case", ["0000000a", ["0000000A"], ["a"], [1], ["0" * 8] * 9, [None], {"a": "0000000a"}])
def test_a_case_that_is_no_list_of_hashes_is_read_as_absent_and_counted(case: Any):
    file = rolled([record(), record(case=case, tool_calls=[])])
    assert _column(merge([file], EVERY_DAY), "client") == [0, 0]
    assert file.parts[0].absent == {"case": (1, len(line(record())))}


@each_row("key", [b"k", b"l", b"m"])
def test_the_case_is_what_the_collector_would_choose_whatever_the_key(key: bytes):
    of_orders = [{"order_id": f"order-{number}"} for number in range(30)]
    args = [*of_orders, {"ids": ["order-20", "zip-1"]}, {"userId": "ann_42", "order_id": "order-25"}]
    expected = RequestIdentifiers()
    for one in args:
        expected.note({name: texts_in(value) for name, value in one.items()})
    read = decode_line(line(record(tool_calls=[call("t", one) for one in args])))
    assert isinstance(read, RecordLine)
    case = case_of(read.fields, read.calls, key)
    assert case == "".join(expected.case(key))
    chosen = ["ann_42", "order-20", "order-25", *(f"order-{number}" for number in range(5))]
    assert case == "".join(hash_identifier(text, key) for text in chosen)


@each_row(
    ("question", "other"),
    [
        ("Cancel order #W123", "cancel order #W9"),
        ('Rename it to "blue sky"', "Rename it to “red”"),
        ("Mail ann@example.com about /srv/a", "Mail bob@example.com about C:\\b"),
        ("2015년 매출", "2016년 매출"),
    ],
)
def test_questions_that_differ_in_values_alone_share_a_template(question: str, other: str):
    asked = (record(question=one) for one in (question, other, "refund it"))
    first, second, third = _column(_window(*asked), "template")
    assert first == second != third


def test_no_text_of_an_argument_and_no_word_of_a_question_is_in_the_facts():
    canary = "CANARY-4711"
    one = record(question=f"find {canary}", tool_calls=[call("t", {"a": canary, "b": [canary]})])
    assert canary.encode() not in msgspec.msgpack.encode(rolled([one]).parts)


def test_a_session_uses_the_key_of_the_project_and_makes_none(tmp_path: Path):
    workspace = Workspace(tmp_path, Settings())
    log = workspace.records_dir / "2026-04-25.jsonl"
    write_log(log, [record(tool_calls=[call("t", {"a": "order-1"})])])
    assert _cases(workspace) == [int(hash_identifier("order-1", b""), 16)]
    assert not (workspace.audit_dir / FILE_NAME).exists()
    key = case_key(workspace.audit_dir)
    assert _cases(workspace) == [int(hash_identifier("order-1", key), 16)]


def _cases(workspace: Workspace) -> list[int]:
    return _column(merge(mine(workspace).files, EVERY_DAY), "client")
