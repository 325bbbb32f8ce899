"""``hash`` and ``drop``: whatever is planted, in whatever shape of JSON, is gone afterwards."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from coreloop.base.records import OverrideCall, Record, RecordedJudgment, ToolCall
from coreloop.sanitize.hash_and_drop import Pseudonymizer
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.vocabulary import KnownWords, is_model
from rows import each_row

KNOWN = KnownWords(
    tools={"analysis": ("company", "axis", "years", "phone", "birth_year", "point")},
    values={"analysis": frozenset({"수익성"})},
    seen={"show": frozenset({"topic"})},
    rules=(("FIN-profitability-KR", ("수익성",)),),
)
# None of these letters is in a pseudonym, or they never come in this order in a tag.
WORD = st.text("zqxvwyZQX가나다라", min_size=4, max_size=12)
INTEGER = st.integers(10_000_000, 2**63 - 1) | st.integers(1_000_000_000, 1_099_999_999)
FRACTION = st.floats(-180, 180, width=64).filter(lambda number: len(re.sub(r"\D", "", repr(number))) >= 9)
NUMBER = st.one_of(INTEGER, INTEGER.map(lambda number: -number), INTEGER.map(float), FRACTION)
LEAF = st.one_of(
    WORD, NUMBER, NUMBER.map(str), st.builds("{} {}".format, WORD, NUMBER), st.booleans(), st.none()
)
UNKNOWN_KEYS = st.one_of(
    WORD, NUMBER.map(str), st.sampled_from(["size", "ts", "user_id", "name", "value", "axis"])
)
TREE = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(UNKNOWN_KEYS, inner, max_size=4)
        | st.fixed_dictionaries({"truncated": inner | st.just(value=True), "size": inner, "preview": inner})
    ),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["axis", "company", "years", "topic"]) | UNKNOWN_KEYS, TREE, max_size=4
)
TOOLS = st.sampled_from(["analysis", "show"]) | WORD


def _object(kind: type, **known: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with any fields of a kind and unknown ones, and any tree as their values."""
    fields = {name: known[name] | TREE if name in known else TREE for name in kind.__annotations__}
    some = st.fixed_dictionaries({}, optional=fields)
    return st.builds(
        lambda first, second: {**first, **second}, st.dictionaries(UNKNOWN_KEYS, TREE, max_size=2), some
    )


SOURCES = st.dictionaries(
    UNKNOWN_KEYS, st.lists(st.builds("{}.{}[].{}".format, TOOLS, WORD, WORD) | TREE, max_size=3)
)
CALLS = _object(ToolCall, name=TOOLS, args=ARGUMENTS, args_from=SOURCES)
RECORDS = _object(
    Record,
    tool_calls=st.lists(CALLS | TREE, max_size=3),
    override_calls=st.lists(_object(OverrideCall, tool=TOOLS), max_size=2),
    judgment=_object(RecordedJudgment),
)

CHOICES = st.fixed_dictionaries({"drop": st.booleans(), "keep_times": st.booleans()})


def parts(node: Any) -> Iterator[Any]:
    """Every key, text and number of a tree."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            yield from parts(value)
    elif isinstance(node, list):
        for item in node:
            yield from parts(item)
    elif node is not None and not isinstance(node, bool):
        yield node


def planted(node: Any) -> set[str]:
    """The planted words and numbers of a record, as they are written."""
    texts = [part if isinstance(part, str) else json.dumps(part) for part in parts(node)]
    return {
        found
        for text in texts
        for found in re.findall(r"[zqxvwyZQX가나다라]{4,}|[0-9][0-9.e+-]{6,}", text)
        if not found.endswith(".")
    }


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(original=RECORDS, choices=CHOICES)
@example(original={"ts": 9001011234568, "judgment": {"judged_at": "9001-01-12 34:56", "zqzq": 1}}, choices={})
@example(original={"ts": "2026-04-25T09:30:00.9001011234568"}, choices={"keep_times": True})
@example(original={"chunk_len": 1012345678, "rounds": 37.5665351}, choices={})
@example(
    original={"tool_calls": [{"name": "show", "args": {"topic": [37.5665351, 126.9779692]}}]}, choices={}
)
def test_nothing_planted_survives(original: dict[str, Any], choices: dict[str, bool]) -> None:
    hashed = Pseudonymizer(Pseudonyms(b"k" * 32), KNOWN, **choices).record(original)
    result = json.dumps(hashed, ensure_ascii=False)
    assert {value for value in planted(original) if value in result} == set()


@each_row(
    "model",
    [
        "m",
        "kim-minsu",
        "gpt-for-minsu",
        "ft:gpt-4o:acme:x",
        "gpt-010-1234-5678",
        "gpt-1012345678",
        "minsu/gpt-5",
    ],
)
def test_other_models_are_not_kept(model: str) -> None:
    assert not is_model(model)
