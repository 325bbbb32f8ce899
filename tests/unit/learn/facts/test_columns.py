"""The columns of requests, calls and arguments: cases, versions, retries, and states that results showed."""

import json
from pathlib import Path
from typing import Any

import polars as pl

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.read_lines import MineSettings, read_facts
from coreloop.learn.facts.schema import Facts
from coreloop.learn.mine.folder import MiningOptions, open_mining
from coreloop.observe.case_keys import FILE_NAME, RequestIdentifiers, case_key, hash_identifier
from logs import call, line, record, write_log
from rows import each_row


def _facts(*records: dict[str, Any], key: bytes = b"") -> Facts:
    lines = ((0, number * 1000, line(one)) for number, one in enumerate(records))
    return read_facts(lines, MineSettings(case_key=key))[0]


def _requests(*records: dict[str, Any], key: bytes = b"") -> pl.DataFrame:
    return _facts(*records, key=key).requests.collect()


def _numbers(hashes: list[str]) -> list[int]:
    return [int(one, 16) for one in hashes]


@each_row("case", ["0000000a", ["0000000A"], ["a"], [1], ["0" * 8] * 9, [None], {"a": "0000000a"}])
def test_a_case_that_is_no_list_of_hashes_is_read_as_absent_and_counted(case: Any):
    facts, oddities = read_facts([(0, 7, line(record(case=case, tool_calls=[])))], MineSettings())
    assert facts.requests.collect()["case"].to_list() == [None]
    assert oddities[0].absent == {"case": (1, 7)}


@each_row("key", [b"k", b"l", b"m"])
def test_the_case_is_what_the_collector_would_choose_whatever_the_key(key: bytes):
    of_orders = [{"order_id": f"order-{number}"} for number in range(30)]
    args = [*of_orders, {"ids": ["order-20", "zip-1"]}, {"userId": "ann_42", "order_id": "order-25"}]
    expected = RequestIdentifiers()
    for one in args:
        expected.add(one)
    rows = _requests(record(tool_calls=[call("t", one) for one in args]), key=key)
    assert rows["case"].to_list() == [_numbers(expected.case(key))]
    chosen = ["ann_42", "order-20", "order-25", *(f"order-{number}" for number in range(5))]
    assert rows["case"].to_list() == [_numbers([hash_identifier(text, key) for text in chosen])]


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
    first, second, third = _requests(
        record(question=question), record(question=other), record(question="refund it")
    )["template"]
    assert first == second != third


def test_no_text_of_an_argument_and_no_word_of_a_question_is_in_the_tables():
    canary = "CANARY-4711"
    one = record(question=f"find {canary}", tool_calls=[call("t", {"a": canary, "b": [canary]})])
    facts = _facts(one)
    tables = (facts.requests, facts.calls, facts.arguments, facts.saw, facts.texts)
    assert not any(canary in json.dumps(table.collect().rows()) for table in tables)


def test_a_session_uses_the_key_of_the_project_and_makes_none(tmp_path: Path):
    workspace = Workspace(tmp_path, Settings())
    log = workspace.records_dir / "2026-04-25.jsonl"
    write_log(log, [record(tool_calls=[call("t", {"a": "order-1"})])])
    assert _cases(workspace) == [_numbers([hash_identifier("order-1", b"")])]
    assert not (workspace.audit_dir / FILE_NAME).exists()
    key = case_key(workspace.audit_dir)
    assert _cases(workspace) == [_numbers([hash_identifier("order-1", key)])]


def _cases(workspace: Workspace) -> list[list[int]]:
    with open_mining(workspace, MiningOptions()) as mined:
        return mined.files[0].facts.requests.collect()["case"].to_list()
