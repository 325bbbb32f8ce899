"""Records: each mode removes private data from every place, and the result can still be mined."""

import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Settings, ToolSettings
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import DEFAULT_SELECTORS
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.failures import find_counterexamples
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import merge
from coreloop.learn.sequences import find_candidates
from coreloop.sanitize.export import Choices, check_dir, sanitize_dir
from coreloop.sanitize.find_in_record import Finder
from coreloop.sanitize.find_in_text import Numbering
from coreloop.sanitize.hash_and_drop import Pseudonymizer
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.sanitize_record import Masker
from coreloop.sanitize.vocabulary import MIN_RECORDS, KnownWords, learn
from logs import call, failed, override, record, write_log
from rows import each_row, slow_after

KEY = b"k" * 32
MAIL = "hong@example.com"
KNOWN = KnownWords(
    tools={"analysis": ("company", "axis", "years")},
    values={"analysis": frozenset({"수익성"})},
    seen={"show": frozenset({"topic"})},
    rules=(("FIN-profitability-KR", ("수익성",)),),
)


def masked(original: dict[str, Any], **choices: Any) -> dict[str, Any]:
    return Masker(Pseudonyms(KEY), Numbering(), **choices).record(original)


def hashed(original: dict[str, Any], words: KnownWords = KNOWN, **choices: Any) -> dict[str, Any]:
    return Pseudonymizer(Pseudonyms(KEY), words, **choices).record(original)


PLACES = {
    "question": lambda value: record(question=value),
    "an argument": lambda value: record(tool_calls=[call("show", {"memo": value})]),
    "a selector": lambda value: record(tool_calls=[call("analysis", {"axis": value})]),
    "deep in an argument": lambda value: record(tool_calls=[call("show", {"a": [{"b": {"c": [value]}}]})]),
    "an argument's name": lambda value: record(tool_calls=[call("show", {value: 1})]),
    "a key deep in an argument": lambda value: record(tool_calls=[call("show", {"a": [{value: 1}]})]),
    "a tool": lambda value: record(tool_calls=[failed(value)]),
    "a call's error": lambda value: record(tool_calls=[failed("show", {}, f"ValueError: {value}")]),
    "a call's flag": lambda value: record(tool_calls=[call("show", {}, extreme_flags=[value])]),
    "a call's unknown field": lambda value: record(tool_calls=[call("show", {}, note=value)]),
    "an override's trigger": lambda value: record(override_calls=[{**override(), "trigger": value}]),
    "an override's key": lambda value: record(override_calls=[{**override(), "override_keys": [value]}]),
    "an error": lambda value: record(error=value),
    "an error that is an object": lambda value: record(error={"message": value}),
    "a violation": lambda value: record(violation=value),
    "a judgment": lambda value: record(judgment={"verdict": "P", "cause": value}),
    "a verdict": lambda value: record(judgment={"verdict": value}),
    "a verdict that is a list": lambda value: record(judgment={"verdict": [value]}),
    "a category": lambda value: record(category_hash=value),
    "a provider": lambda value: record(provider=value),
    "a model": lambda value: record(model=value),
    "a skill": lambda value: record(skill_used=value),
    "an unknown field": lambda value: record(extra={"list": [value]}),
    "a field's name": lambda value: {**record(), value: True},
    "an id": lambda value: record(session_id=value),
    "calls that are not a list": lambda value: {**record(), "tool_calls": value},
    "a call that is only a name": lambda value: {**record(), "tool_calls": [value]},
}


@each_row("place", PLACES.values(), ids=PLACES)
@each_row("mode", [masked, hashed], ids=["mask", "hash"])
def test_nothing_private_is_left_in_any_place(mode, place):
    private = place(MAIL)
    assert MAIL in json.dumps(private)
    result = mode(private)
    assert MAIL not in json.dumps(result)
    finder = Finder()
    finder.record(result)
    assert finder.counts.total() == 0


NUMBERS = {
    "a card": ("memo", 4111111111111111),
    "a resident": ("memo", 9001011234568),
    "a resident with a lost zero": ("memo", 102033234560),
    "a telephone under its key": ("phone", 1012345678),
    "an account under its key": ("account", 12345678901234),
    "a password": ("password", 12345678),
    "a float": ("memo", 4111111111111111.0),
}


@each_row(("key", "value"), NUMBERS.values(), ids=NUMBERS)
def test_a_number_is_checked_in_decimal_notation(key: str, value: float):
    original = record(tool_calls=[call("show", {key: value})])
    for mode in (masked, hashed):
        assert isinstance(mode(original)["tool_calls"][0]["args"].popitem()[1], str)


def test_values_under_sensitive_keys_are_secrets():
    args = {
        "password": "hunter2",
        "apiKey": "q1w2e3r4t5",
        "headers": [{"name": "X-Api-Key", "value": "abcdef123456"}],
        "argv": ["run", "--token", "abcdef123456", "--verbose"],
        "max_tokens": 512,
        "token": "삼성전자",
    }
    result = masked(record(tool_calls=[call("show", args)]))["tool_calls"][0]["args"]
    assert result == {
        "password": "[SECRET-1]",
        "apiKey": "[SECRET-2]",
        "headers": [{"name": "X-Api-Key", "value": "[SECRET-3]"}],
        "argv": ["run", "--token", "[SECRET-3]", "--verbose"],
        "max_tokens": 512,
        "token": "삼성전자",
    }


FAR = "여권 확인을 " + MAIL + "로 부탁한 사람의 번호 S98765432"
LONG_NAME = f"{MAIL} {'a' * 20}@{'b' * 20}.example.com token"


@pytest.mark.parametrize(
    "original",
    slow_after(
        1,
        [
            pytest.param(record(question=FAR), id="a word that labels bring near"),
            pytest.param(
                record(extra={"name": LONG_NAME, "value": "q1w2e3r4t5"}), id="a name that labels make short"
            ),
            pytest.param(
                record(extra={"memo": ["--password 010-1234-5678", "hunter22"]}),
                id="an option before a value",
            ),
        ],
    ),
)
def test_an_export_has_no_findings(original: dict[str, Any], tmp_path: Path):
    write_log(tmp_path / "in" / "a.jsonl", [original])
    sanitize_dir(tmp_path / "in", tmp_path / "out", Choices(mode="mask"))
    assert not check_dir(tmp_path / "out").findings


def test_ids_get_pseudonyms_by_field_and_times_are_cut_to_the_hour():
    original = record(question_hash="sha256:ae89748d2c4839b8", session_hash="s", request_id="s")
    original["judgment"] = {**original["judgment"], "judged_at": "2026-04-26T10:20:30Z", "judged_by": "minsu"}
    for result in (masked(original), hashed(original)):
        assert result["ts"] == "2026-04-25T09:00:00+00:00"
        assert result["judgment"]["judged_at"] == "2026-04-26T10:00:00Z"
        letters = [result[key].rpartition("-")[2] for key in ("question_hash", "session_hash", "request_id")]
        assert [len(text) for text in set(letters)] == [32, 32, 32]
        assert result["judgment"]["judged_by"] != "minsu"
        assert masked(original)["session_hash"] == result["session_hash"]
    other = Masker(Pseudonyms(b"o" * 32), Numbering()).record(original)
    assert other["session_hash"] != masked(original)["session_hash"]
    assert hashed(original, keep_times=True)["ts"] == original["ts"]


def test_hash_keeps_the_closed_vocabulary_and_only_that():
    args = {"axis": "수익성", "company": "들찬푸드", "minsu": 1}
    result = hashed(record(tool_calls=[call("analysis", args), failed("minsu_kim")]))
    first, second = result["tool_calls"]
    assert first["name"] == "analysis"
    assert list(first["args"])[:2] == ["axis", "company"]
    assert first["args"]["axis"] == "수익성"
    assert first["args"]["company"].startswith("text-")
    assert "minsu" not in json.dumps(result)
    assert second["name"].startswith("tool-")
    assert (result["category_hash"], result["provider"]) == ("FIN-profitability-KR", "openai")
    assert hashed(record(model="ft:gpt-4o:acme:x"))["model"].startswith("model-")


def test_errors_of_one_cause_keep_one_pseudonym_whomever_they_are_about():
    names = ("홍길동", "Jane Roe", "Luis Ortega")
    calls = [failed("show", {"who": name}, f"no chart of {name}") for name in names]
    assert len({call["error"] for call in hashed(record(tool_calls=calls))["tool_calls"]}) == 1


def test_names_of_answered_calls_are_kept_and_names_of_failed_calls_are_not(tmp_path: Path):
    calls = [call("scan", {"market": "KR", "한글": 1}), failed("kim_minsu", {"x": 1})]
    rows = [record(tool_calls=calls)] * MIN_RECORDS
    path = write_log(tmp_path / "a.jsonl", rows)
    words = learn([path], Workspace(tmp_path, Settings(tools={"named": ToolSettings()})))
    assert words.knows_tool("scan")
    assert words.knows_tool("named")
    assert not words.knows_tool("kim_minsu")
    assert words.seen == {"scan": frozenset({"market"})}
    assert all(words.knows_argument("scan", name) for name in ("market", *DEFAULT_SELECTORS))


def _mined(folder: Path) -> tuple[Any, ...]:
    window = merge(
        read_folder(folder, MineSettings(min_chunk_len=0)), Days(date(2000, 1, 1), date(2100, 1, 1))
    )
    mined = find_candidates(window, min_success_rate=0.9)
    counterexamples = find_counterexamples(window, min_failures=1).entries
    patterns = sorted(
        (candidate.n_observed, candidate.success_rate, candidate.cat_hash) for candidate in mined.entries
    )
    failures = Counter()
    for counterexample in counterexamples:
        failures[counterexample.kind] += counterexample.n_failures
    return mined.n_groups, patterns, failures, len(counterexamples)


def test_a_hashed_log_is_mined_like_the_log_itself(tau_log: Path, tmp_path: Path):
    rows = [orjson.loads(raw) for raw in tau_log.read_bytes().splitlines()]
    rows = [row for row in rows if not row.get("tool_calls_omitted")]  # their sequence hash gets a pseudonym
    write_log(tmp_path / "in" / "a.jsonl", rows)
    words = learn([tmp_path / "in" / "a.jsonl"], Workspace(tmp_path, Settings()))
    choices = Choices(mode="hash", vocabulary=words, keep_times=True)
    sanitize_dir(tmp_path / "in", tmp_path / "out", choices)
    before, after = _mined(tmp_path / "in"), _mined(tmp_path / "out")
    assert after[0] == before[0]
    assert len(after[1]) >= len(before[1])  # similar questions become different, so a few more pass the gate
    assert after[2] == before[2]
    assert after[3] >= before[3]  # a truncated text no longer matches the full one
    assert check_dir(tmp_path / "out").findings.total() == 0
