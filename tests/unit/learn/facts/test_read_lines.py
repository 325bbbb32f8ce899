"""Lines into facts: the columns of their rows, the sequence of a record, and the place of its question."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from coreloop.base.categories import Categories
from coreloop.base.project.settings import CategoryRule, Settings, ToolSettings
from coreloop.base.records import OTHER, hash_sequence, join_steps, step
from coreloop.learn.facts.columns import NO_SEQUENCE, as_int, id_hash
from coreloop.learn.facts.counting import (
    MineSettings,
    count_requests,
    group_calls,
    group_requests,
    mine_settings,
)
from coreloop.learn.facts.file import facts_of_lines, question_hash
from coreloop.learn.facts.oddities import Oddities, Oddity
from coreloop.learn.facts.read_lines import read_facts, read_files
from coreloop.learn.facts.schema import NAMES, SCHEMAS
from coreloop.observe.reading.decode import RecordLine, decode_line, raw_lines
from coreloop.observe.reading.outcome import RequestOutcome
from logs import call, failed, line, record, write_log
from rows import each_row


@dataclass
class Rolled:
    """The tables in memory, the texts by kind."""

    groups: pl.DataFrame
    requests: pl.DataFrame
    texts: dict[str, dict[int, str]]
    oddities: Oddities

    @property
    def sequences(self) -> list[str]:
        return list(self.texts.get("sequence", {}).values())

    @property
    def shapes(self) -> list[str]:
        return list(self.texts.get("shape", {}).values())


def _rolled(*records: dict[str, Any], settings: MineSettings | None = None) -> Rolled:
    return _of([(number * 100, line(row)) for number, row in enumerate(records)], settings)


def _of(lines: Iterable[tuple[int, bytes]], settings: MineSettings | None = None) -> Rolled:
    settings = settings or MineSettings()
    tables, oddities = read_facts(lines, settings)
    texts: dict[str, dict[int, str]] = {}
    for kind, hashed, text in tables.texts.collect().iter_rows():
        texts.setdefault(kind, {})[hashed] = text
    requests = count_requests(tables, settings).filter(pl.col("sequence") != NO_SEQUENCE)
    return Rolled(group_requests(tables, settings).collect(), requests.collect(), texts, oddities)


def _row(**changes: Any) -> dict[str, Any]:
    return _rolled(record(**changes)).groups.row(0, named=True)


def _sequence(*calls: Any, **changes: Any) -> str:
    rolled = _rolled(record(tool_calls=list(calls), **changes))
    return rolled.texts["sequence"][rolled.groups["sequence"][0]]


def _int(hashed: str) -> int:
    return int(hashed.rpartition(":")[2], 16)


def test_a_row_counts_the_records_that_share_its_keys():
    rolled = _rolled(
        record(ts="2026-04-25T10:00:00Z", chunk_len=500),
        record(ts="2026-04-25T09:00:00Z", chunk_len=700),
        record(ts="2026-04-25T08:00:00Z", chunk_len=300),
        record(ts="2026-04-25T11:00:00Z", chunk_len=600),
        settings=MineSettings(min_chunk_len=400),
    )
    neutral, success = rolled.groups.sort("outcome").to_dicts()
    assert (neutral["outcome"], neutral["n"], success["outcome"], success["n"]) == (-1, 1, 1, 3)
    assert success["chunk_len"] == 1800
    assert success["first_us"] == _microseconds(9)
    assert success["last_us"] == _microseconds(11)
    assert rolled.requests["offset"].to_list() == [0, 100, 200, 300]


def _microseconds(hour: int) -> int:
    return int(datetime(2026, 4, 25, hour, tzinfo=UTC).timestamp()) * 1_000_000


@each_row(
    "changes",
    [
        pytest.param({"ts": "2026-04-26T00:00:00Z"}, id="day"),
        pytest.param({"category_hash": "FIN-other"}, id="category"),
        pytest.param({"tool_calls": [call("show")]}, id="sequence"),
        pytest.param({"tool_calls": [call("analysis", {"axis": "수익성", "years": 3})]}, id="argument names"),
        pytest.param({"provider": "other"}, id="provider"),
        pytest.param({"error": "ValueError: no"}, id="what went wrong"),
    ],
)
def test_records_that_differ_in_a_key_have_two_rows(changes: dict[str, Any]):
    assert _rolled(record(), record(**changes)).groups.height == 2


def test_records_that_differ_in_other_fields_share_a_row():
    other = record(model="n", request_id="r", question="배당", session_hash="session:1", chunk_len=401)
    assert _rolled(record(), other).groups.height == 1


def test_each_request_has_its_question_and_session():
    same = record(question="  삼성전자 수익성 분석해줘!! ")
    rows = _rolled(record(), same, record(question="배당"), record(session_hash="session:0000000000000001"))
    assert [row["question"] for row in rows.requests.to_dicts()].count(rows.requests["question"][0]) == 3
    assert rows.requests["session"].to_list() == [0, 0, 0, 1]


def test_an_empty_session_counts_as_absent():
    rows = _rolled(record(session_hash=""), record(session_hash=None), record())
    assert rows.requests["session"].to_list() == [0, 0, 0]


def test_records_without_a_sequence_are_no_requests_of_a_pattern():
    rolled = _rolled(record(), record(tool_calls=[failed()]))
    assert (rolled.groups["n"].sum(), rolled.requests.height) == (2, 1)


def test_an_empty_file_gives_an_empty_file(tmp_path: Path):
    tables, oddities = read_facts(raw_lines(write_log(tmp_path / "a.jsonl", [])), MineSettings())
    for name in NAMES:
        frame = getattr(tables, name).collect()
        assert (dict(frame.schema), frame.height) == (dict(SCHEMAS[name]), 0)
    assert oddities == Oddities()


def test_skipped_lines_are_counted_by_reason_with_the_first_place(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(line(record()) + b"torn\n" * 3 + line(record(origin="replay")) + b"{}\n")
    size = len(line(record()))
    assert _of(raw_lines(path)).oddities.skipped == {
        "torn or not JSON": Oddity(3, size),
        "replay": Oddity(1, size + 15),
        "ts is missing": Oddity(1, path.stat().st_size - 3),
    }


def test_records_with_an_unusable_field_are_counted_once_for_each_field():
    odd = [call(overrides_used=7, args=True)] * 2
    rolled = _rolled(record(), record(tool_calls=odd), record(chunk_len=[], tool_calls=[call(args=True)]))
    assert rolled.groups["n"].sum() == 3
    assert rolled.oddities.absent == {"overrides_used": Oddity(1, 100), "args": Oddity(2, 100)}


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


def test_the_axis_has_one_spelling_composed_or_not():
    assert _sequence(call("a", {"axis": "배당"})) == _sequence(call("a", {"axis": "배당"}))


def test_shapes_hold_a_selectors_value_as_it_is_and_the_same_step_comes_of_it():
    names = ["영업이익(OP)", "<other>", ["x"]]
    rolled = _rolled(record(tool_calls=_calls(names)))
    (shape,) = rolled.shapes
    assert [part["selectors"]["axis"] for part in json.loads(shape)] == ["영업이익(OP)", "<other>", OTHER]
    steps = [step(part["name"], part["selectors"]) for part in json.loads(shape)]
    assert set(rolled.sequences) == {join_steps(steps)} == {_sequence(*_calls(names))}
    stored = {json.loads(text)["selectors"]["axis"] for text in rolled.texts["call"].values()}
    assert stored == {"영업이익(OP)", "<other>", OTHER}


def _calls(names: list[Any]) -> list[dict[str, Any]]:
    return [call("a", {"axis": name}) for name in names]


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


def test_a_recorded_hash_in_another_notation_is_accepted():
    short, other = (
        _row(tool_sequence_hash=text, tool_calls_omitted=2)["sequence"] for text in ("seq:a1b2c3d4", "seq:zz")
    )
    again = _row(tool_sequence_hash="seq:a1b2c3d4", tool_calls_omitted=9)["sequence"]
    assert short == again != other


def test_no_successful_call_is_no_sequence():
    assert _row(tool_calls=[])["sequence"] == NO_SEQUENCE
    assert _row(tool_calls=[failed()])["sequence"] == NO_SEQUENCE


def test_the_shape_of_steps_is_kept_with_argument_names_and_no_values():
    rolled = _rolled(
        record(
            tool_calls=[
                call("analysis", {"years": "secret", "axis": "수익성"}),
                call("show", {"q": "secret"}),
            ]
        )
    )
    (shape,) = rolled.shapes
    assert msgspec.json.decode(shape) == [
        {"name": "analysis", "selectors": {"axis": "수익성"}, "arg_keys": ["axis", "years"]},
        {"name": "show", "selectors": {}, "arg_keys": ["q"]},
    ]


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
    assert rolled.groups["category"].to_list() == [expected]


def test_a_question_that_no_rule_matches_does_not_disable_the_rules():
    settings = MineSettings(Categories([("FIN-dividend", ["배당"])]))
    asked = [record(category_hash="UNSPECIFIED", question=text) for text in ("안녕", "배당 알려줘", "배당?")]
    counts = [
        dict(_rolled(*lines, settings=settings).groups.select("category", "n").iter_rows())
        for lines in (asked, asked[::-1])
    ]
    assert counts == [{"UNSPECIFIED": 1, "FIN-dividend": 2}] * 2


def test_the_settings_of_a_project_become_those_of_mining():
    settings = mine_settings(
        Settings(
            categories=(CategoryRule(label="FIN-dividend", any=("배당",)),),
            tools={"scan": ToolSettings(selectors=("target",))},
        ),
        7,
    )
    assert settings.categories.label("배당?") == "FIN-dividend"
    assert settings.selectors == {"scan": ("target",)}
    assert settings.min_chunk_len == 7


def test_a_recorded_question_hash_stands_for_a_question_that_was_not_kept():
    rolled = _rolled(record(question=None, question_hash="sha256:00000000000000aa"))
    assert rolled.requests["question"].to_list() == [170]


def test_a_verdict_changes_what_its_request_counts_as():
    records = [record(), record(request_id="req-2"), record(request_id=None)]
    counts = _rolled(*records, settings=MineSettings(verdicts={"req-1": "V", "": "V"})).groups
    assert dict(counts.select("outcome", "n").iter_rows()) == {0: 1, 1: 2}


def test_a_replay_is_not_counted_but_stays_in_the_facts():
    records = [record(request_id=f"req-{number}") for number in range(3)]
    lines = [(number, line(row)) for number, row in enumerate(records)]
    settings = MineSettings(replayed=frozenset({"req-0"}))
    file = facts_of_lines(lines, settings, path=Path("a.jsonl"))
    assert file.facts.requests.collect().height == 3
    assert count_requests(file.facts, settings).collect().height == 2
    assert group_calls(file.facts, settings).collect()["n"].sum() == 2
    assert (file.oddities, list(file.days.values())) == (Oddities({"replay": Oddity(1, 0)}), [2])


@each_row(
    "field", ["request_id", "question_hash", "session_hash", "tool_sequence_hash"], ids=lambda name: name
)
@each_row(
    "text",
    ["", ":", "-000000000000001", "a:-00000000000001", " 1_0000000000000", "ffffffffffffffff", "가" * 16],
)
def test_a_hash_of_any_form_is_counted(field: str, text: str):
    rolled = _rolled(record(**{field: text}, tool_calls_omitted=1))
    assert (rolled.groups["n"].to_list(), rolled.requests.height) == ([1], 1)


ZONES = [UTC, timezone(timedelta(hours=9)), timezone(timedelta(hours=-11, minutes=-30)), None]
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.sampled_from(ZONES))


def _finer(at: datetime, digits: str) -> str:
    return at.isoformat(timespec="microseconds").replace(f".{at:%f}", f".{at:%f}{digits}")


@given(
    st.one_of(MOMENTS.map(datetime.isoformat), st.builds(_finer, MOMENTS, st.sampled_from(["4", "5", "999"])))
)
def test_a_time_is_the_same_in_a_row_and_in_its_line(text: str):
    row = record(ts=text)
    decoded = decode_line(line(row))
    assert isinstance(decoded, RecordLine)
    assert _rolled(row).requests["ts_us"].to_list() == [decoded.ts_us]


HEX = st.text("0123456789abcdefAF", min_size=14, max_size=17)
HASHES = st.one_of(
    st.builds(
        "{}{}{}".format, st.sampled_from(["", ":", "sha256:", "가", "a:b"]), HEX, st.sampled_from(["", "g"])
    ),
    st.text("0f:-+_ ٣가", max_size=20),
)


@pytest.mark.slow
@given(st.lists(HASHES, min_size=1))
def test_hashes_are_the_same_read_singly_or_as_a_column(texts: list[str]):
    tables, _ = read_facts([(0, line(record(request_id=text or None))) for text in texts], MineSettings())
    assert set(tables.requests.collect()["id"].drop_nulls()) == {id_hash(text) for text in texts if text}
    rolled = _rolled(*[record(question_hash=text) for text in texts if text])
    assert set(rolled.requests["question"]) == {as_int(text) for text in texts if text}


@each_row("chunk_len", [1e300, 2**63, 401.9, -1e300])
def test_no_length_is_too_much_for_a_sum(chunk_len: float):
    rows = _rolled(*[record(chunk_len=chunk_len)] * 3).groups
    assert rows["chunk_len"][0] == 3 * max(-(2**31), min(2**31, int(chunk_len)))


@each_row(
    "text",
    ["sha256:00000000000000aa", "sha256-00000000000000aa", "00000000000000aa", "SHA256:00000000000000aa"],
)
def test_a_question_is_the_same_in_a_row_and_in_its_line(text: str):
    """Otherwise its text could not be read again."""
    row = record(question_hash=text)
    decoded = decode_line(line(row), 0)
    assert isinstance(decoded, RecordLine)
    assert _rolled(row).requests["question"].to_list() == [question_hash(decoded.fields)]


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
    settings = mine_settings(
        Settings(handoff=("transfer",)), None, verdicts={"req-1": verdict} if verdict else {}
    )
    row = record(**changes)
    row["tool_calls"] = [{**made, **odd} for made in row["tool_calls"]]
    assert _rolled(row, settings=settings).groups["outcome"].to_list() == [expected]


def test_without_tools_that_hand_over_nothing_is_handed_over():
    assert _row(tool_calls=HANDED_OVER)["outcome"] == RequestOutcome.SUCCESS


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FULL = {
    **record(request_id="r", session_hash="session:1", tool_sequence_hash="seq:1"),
    "tool_calls": [
        call("t", {"a": 1}, args_from={"a": ["question"]}, saw={"a": {"status": "open"}}, duration_ms=3.5),
        failed("u"),
    ],
    "tool_calls_omitted": 0,
    "case": ["0a0b0c0d"],
    "tools_version": "v1",
    "descriptions": "desc:1",
    "rounds": 2,
    "duration_total_ms": 12,
    "input_tokens": 5,
    "output_tokens": 6,
    "cost_usd": 0.1,
}


@given(st.sampled_from(sorted(FULL)), ANY_JSON, st.booleans())
def test_a_record_with_any_value_in_a_field_is_read_as_its_line_is(name: str, value: Any, in_call: bool):
    made = json.loads(json.dumps(FULL))
    of_call = {"ts": "name", "error": "args", "provider": "args_from", "case": "saw"}
    field = {**of_call, "rounds": "result_size_bytes"}.get(name, "duration_ms")
    if in_call:
        made["tool_calls"][0][field] = value
    else:
        made[name] = value
    raw = json.dumps(made).encode()
    decoded = decode_line(raw)
    facts, oddities = read_facts([(0, line(FULL)), (5, raw)], MineSettings())
    requests, calls = facts.requests.collect(), facts.calls.collect()
    if isinstance(decoded, RecordLine):
        assert requests["ts_us"].to_list()[1:] == [decoded.ts_us]
        assert calls["tool"].to_list()[2:] == [made_call.name for made_call in decoded.calls]
        assert set(oddities.absent) - {"case", "args_from", "saw"} == set(decoded.absent) - {"case"}
    else:
        assert (requests.height, calls.height, list(oddities.skipped)) == (1, 2, [decoded.reason])


CHANGES = st.lists(st.tuples(st.sampled_from(sorted(FULL)), ANY_JSON), max_size=3)


@pytest.mark.slow
@given(st.lists(CHANGES, min_size=2, max_size=4))
def test_a_file_that_is_read_with_others_has_the_facts_that_it_has_alone(files: list[list[tuple[str, Any]]]):
    lines = [
        [(number, json.dumps({**FULL, name: value}).encode()) for number, (name, value) in enumerate(changes)]
        for changes in files
    ]
    settings = MineSettings(case_key=b"key")
    for read, alone in zip(read_files(lines, settings), lines, strict=True):
        facts, oddities = read_facts(alone, settings)
        assert read[1] == oddities
        for name in NAMES:
            assert_frame_equal(getattr(read[0], name).collect(), getattr(facts, name).collect())
