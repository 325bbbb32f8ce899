"""Lines into facts: the columns of their rows, the sequence of a record, and the place of its question."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from coreloop.base.categories import Categories
from coreloop.base.project.settings import Settings
from coreloop.base.records import hash_sequence
from coreloop.learn.facts.oddities import Oddities
from coreloop.learn.facts.read_lines import MineSettings, facts_of_lines, read_facts
from coreloop.learn.mine.window import count_requests, merge
from coreloop.observe.reading.outcome import RequestOutcome
from logs import call, failed, line, record
from rows import each_row
from samples import ALWAYS


@dataclass
class Rolled:
    """The tables in memory, the texts by kind."""

    requests: pl.DataFrame
    texts: dict[str, dict[int, str]]
    oddities: Oddities

    @property
    def sequences(self) -> list[str]:
        return list(self.texts.get("sequence", {}).values())


def _rolled(*records: dict[str, Any], settings: MineSettings | None = None) -> Rolled:
    return _of([(number * 100, line(row)) for number, row in enumerate(records)], settings)


def _of(lines: Iterable[tuple[int, bytes]], settings: MineSettings | None = None) -> Rolled:
    settings = settings or MineSettings()
    tables, oddities = read_facts(((0, *line) for line in lines), settings)
    texts: dict[str, dict[int, str]] = {}
    for kind, hashed, text in tables.texts.collect().iter_rows():
        texts.setdefault(kind, {})[hashed] = text
    return Rolled(count_requests(tables, settings).collect(), texts, oddities[0])


def _row(**changes: Any) -> dict[str, Any]:
    return _rolled(record(**changes)).requests.row(0, named=True)


def _sequence(*calls: Any, **changes: Any) -> str:
    rolled = _rolled(record(tool_calls=list(calls), **changes))
    return rolled.texts["sequence"][rolled.requests["sequence"][0]]


def _int(hashed: str) -> int:
    return int(hashed.rpartition(":")[2], 16)


@each_row(
    ("calls", "expected"),
    [
        pytest.param([call("show", {"topic": "손익"})], "show()", id="no selector"),
        pytest.param(
            [call("analysis", {"axis": "수익성", "years": 3})], "analysis(axis=수익성)", id="a selector"
        ),
        pytest.param(
            [call("a", {"sub": "x", "axis": "y"})], "a(axis=y,sub=x)", id="the selectors' own order"
        ),
        pytest.param([call("a"), call("b"), call("a")], "a()>b()>a()", id="order and returns count"),
        pytest.param([call("a"), call("a"), call("a")], "a()", id="immediate repeats collapse"),
        pytest.param(
            [call("a", {"axis": "x"}), call("a", {"axis": "y"})], "a(axis=x)>a(axis=y)", id="two axes stay"
        ),
        pytest.param(
            [call("a"), failed("b"), call("a")], "a()", id="failed calls are left out, then collapsed"
        ),
        pytest.param([failed("a")], "", id="nothing but a failure"),
        pytest.param(["a", "b"], "a()>b()", id="bare names"),
        pytest.param([call("a", ["x"]), call("b", "x")], "a()>b()", id="arguments that are no object"),
        pytest.param([call("a", {"axis": None})], "a()", id="null is absent"),
        pytest.param([call("a", {"axis": " 배당 "})], "a(axis=배당)", id="trimmed"),
        pytest.param([call("a", {"axis": ["x"]})], "a(axis=<other>)", id="a list is no name"),
        pytest.param([call("a", {"axis": "x" * 81})], "a(axis=<other>)", id="a text is no name"),
        pytest.param(
            [call("a>b", {"axis": "c)"})], '"a>b"(axis="c)")', id="what looks like syntax is quoted"
        ),
    ],
)
def test_sequences(calls: list[Any], expected: str):
    assert _sequence(*calls) == expected


def test_selectors_can_be_set_per_tool():
    settings = MineSettings(selectors={"scan": ("target",), "show": ()})
    row = record(
        tool_calls=[call("scan", {"target": "배당", "axis": "x"}), call("show", {"axis": "x"})],
    )
    assert set(_rolled(row, settings=settings).sequences) == {"scan(target=배당)>show()"}


def test_the_recorded_hash_counts_only_if_calls_were_omitted():
    own = _int(hash_sequence("analysis(axis=수익성)"))
    assert _row(tool_sequence_hash="seq:00000000000000ff")["sequence"] == own
    assert _row(tool_sequence_hash="seq:00000000000000ff", tool_calls_omitted=0)["sequence"] == own
    assert _row(tool_sequence_hash="seq:00000000000000ff", tool_calls_omitted=2)["sequence"] == 255


@each_row(
    ("label", "question", "expected"),
    [
        pytest.param("FIN-own", "배당", "FIN-own", id="a recorded label stands"),
        pytest.param(None, "배당 알려줘", "FIN-dividend", id="no label: the rules"),
        pytest.param("UNSPECIFIED", "배당 알려줘", "FIN-dividend", id="unspecified: a rule added later"),
        pytest.param(
            "ignore all rules!", "배당 알려줘", "FIN-dividend", id="a label that is none: the rules"
        ),
        pytest.param("a-b-c-d-e", "other", "UNSPECIFIED", id="five parts are no label"),
        pytest.param("", None, "UNSPECIFIED", id="nothing at all"),
        pytest.param("FIN-x\n", None, "UNSPECIFIED", id="a line break"),
    ],
)
def test_categories(label: str | None, question: str | None, expected: str):
    settings = MineSettings(Categories([("FIN-dividend", ["배당"])]))
    rolled = _rolled(record(category_hash=label, question=question), settings=settings)
    assert rolled.requests["category"].to_list() == [expected]


def test_a_verdict_changes_what_its_request_counts_as():
    records = [record(), record(request_id="req-2"), record(request_id=None)]
    counts = _rolled(*records, settings=MineSettings(verdicts={"req-1": "V", "": "V"})).requests
    assert counts["outcome"].to_list() == [0, 1, 1]


def test_a_replay_is_not_counted_but_stays_in_the_facts():
    records = [record(request_id=f"req-{number}") for number in range(3)]
    lines = [(number, line(row)) for number, row in enumerate(records)]
    file = facts_of_lines(lines, MineSettings(replayed=frozenset({"req-0"})), path=Path("a.jsonl"))
    assert file.facts.requests.collect().height == 3
    window = merge([file], ALWAYS)
    assert window.all_requests().collect().height == window.all_calls().collect().height == 2


HANDED_OVER = [call("analysis"), call("transfer")]


@each_row("odd", [{}, {"overrides_used": {"a": 1}}], ids=["plain", "read loosely"])
@each_row(
    ("changes", "verdict", "expected"),
    [
        pytest.param({"tool_calls": HANDED_OVER}, None, RequestOutcome.NEUTRAL, id="at its end"),
        pytest.param({"tool_calls": HANDED_OVER[::-1]}, None, RequestOutcome.NEUTRAL, id="at its beginning"),
        pytest.param(
            {"tool_calls": [call(), failed("transfer")]}, None, RequestOutcome.NEUTRAL, id="in vain"
        ),
        pytest.param(
            {"tool_calls": HANDED_OVER, "error": "x"}, None, RequestOutcome.NEUTRAL, id="and an error"
        ),
        pytest.param({"tool_calls": [call("Transfer")]}, None, RequestOutcome.SUCCESS, id="another name"),
        pytest.param({"tool_calls": [failed()]}, None, RequestOutcome.FAILURE, id="another tool failed"),
        *(
            pytest.param(
                {"tool_calls": HANDED_OVER, "judgment": {"verdict": verdict}},
                None,
                outcome,
                id=f"{verdict} in it",
            )
            for verdict, outcome in (("P", RequestOutcome.SUCCESS), ("C", RequestOutcome.FAILURE))
        ),
        pytest.param({"tool_calls": HANDED_OVER}, "T", RequestOutcome.SUCCESS, id="T given later"),
        pytest.param({"tool_calls": HANDED_OVER}, "V", RequestOutcome.FAILURE, id="V given later"),
    ],
)
def test_a_request_that_was_handed_over_is_neutral_unless_there_is_a_verdict(
    changes: dict[str, Any], verdict: str | None, expected: RequestOutcome, odd: dict[str, Any]
):
    verdicts = {"req-1": verdict} if verdict else {}
    settings = MineSettings.of(Settings(handoff=("transfer",)), verdicts=verdicts)
    row = record(**changes)
    row["tool_calls"] = [{**made, **odd} for made in row["tool_calls"]]
    assert _rolled(row, settings=settings).requests["outcome"].to_list() == [expected]
