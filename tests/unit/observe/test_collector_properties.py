"""Any request becomes a valid line within the size cap."""

import json
from datetime import date
from hashlib import sha256
from itertools import groupby

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coreloop.base.records import step
from coreloop.observe import AuditCollector, dropped
from observing import MOMENT, Speechless, ns

TEXT = st.text(max_size=30) | st.text(max_size=5).map(lambda text: text * 300)
NUMBERS = st.integers() | st.integers(-(2**200), 2**200) | st.floats()
SCALARS = st.none() | st.booleans() | NUMBERS | TEXT | st.binary(max_size=9) | st.dates() | st.datetimes()
UNUSUAL = st.sampled_from(
    [object(), Speechless(), date(2026, 4, 25), {1, "a"}, frozenset({Speechless()}), 1j, ...]
)
KEYS = TEXT | st.integers() | st.none() | st.booleans() | st.floats() | st.dates() | st.binary(max_size=3)
VALUES = st.recursive(
    SCALARS | UNUSUAL,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.sets(st.integers() | st.text(max_size=3), max_size=4)
    ),
    max_leaves=10,
)
NAMES = st.sampled_from(["analysis", "show", "가나다", "a>b", ""])
CALLS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES, "args": st.dictionaries(KEYS, VALUES, max_size=5)},
        optional={
            "ok": st.booleans(),
            "error": TEXT | st.builds(ValueError, TEXT),
            "duration_ms": NUMBERS,
            "result_size_bytes": NUMBERS,
            "overrides_used": st.lists(TEXT, max_size=2),
            "extreme_flags": st.lists(TEXT, max_size=2),
            "axis": VALUES,
        },
    ),
    min_size=1,
    max_size=5,
)
OVERRIDES = st.lists(
    st.fixed_dictionaries(
        {
            "tool": TEXT,
            "keys": st.lists(TEXT, max_size=3),
            "trigger": st.none() | TEXT,
            "succeeded": st.booleans(),
        }
    ),
    max_size=9,
)


def cyclic(args):
    args["cycle"] = {"again": args}
    return args


@pytest.mark.slow
@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(
    question=TEXT,
    hint=st.none() | TEXT,
    calls=CALLS,
    times=st.integers(1, 40),
    overrides=OVERRIDES,
    violations=st.lists(TEXT, max_size=3),
    error=st.none() | TEXT,
    with_cycle=st.booleans(),
)
def test_any_request_is_valid_lines_with_all_of_its_calls(
    tmp_path_factory, question, hint, calls, times, overrides, violations, error, with_cycle
):
    data_dir = tmp_path_factory.mktemp("any")
    request = AuditCollector(
        question,
        stockCode_hint=hint,
        provider=hint,
        model=hint,
        data_dir=data_dir,
        clock_ns=lambda: ns(MOMENT),
    )
    for call in calls:
        if "axis" in call:
            call["args"]["axis"] = call.pop("axis")
        if with_cycle:
            cyclic(call["args"])
    observed = calls * times
    for call in observed:
        request.observe_tool_call(**call)
    for override in overrides:
        request.observe_override(**override)
    for violation in violations:
        request.observe_violation(violation)
    request.flush(error=error)

    (day,) = (data_dir / "audit" / "ai-ask").iterdir()
    lines = day.read_bytes().splitlines(keepends=True)
    assert max(map(len, lines)) <= 4096
    assert lines[-1].endswith(b"\n")
    record, *parts = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert dropped().keys() <= {"unserialisable"}

    recorded = [call for line in (record, *parts) for call in line.get("tool_calls", ())]
    assert len(record["tool_calls"]) + record.get("tool_calls_omitted", 0) == len(observed)
    assert [call["name"] for call in recorded] == [call["name"] for call in observed]
    assert [call["ok"] for call in recorded] == [call.get("ok", not call.get("error")) for call in observed]
    steps = [step(call["name"], call["args"]) for call in recorded if call["ok"]]
    sequence = ">".join(unique_step for unique_step, _ in groupby(steps))
    assert record["tool_sequence_hash"] == "seq:" + sha256(sequence.encode()).hexdigest()[:16]
    assert (record["error"] is None) == (not error)
    assert (record["violation"] is None) == (not violations)
