"""All statements of a run, tested together and ranked."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounded import bounded
from coreloop.pattern.statements import MAX_NEAREST, find_statements, keywords_by_tool
from coreloop.proposals.advice import parse_advice
from logs import call
from samples import KEYWORDS, asked, sample_of


def _looked(count: int = 120, **more: Any) -> list[dict[str, Any]]:
    return [
        asked(n, *([call("look")] if n // 10 % 2 else []), call("pay"), ok=bool(n // 10 % 2), **more)
        for n in range(count)
    ]


def test_an_empty_sample_gives_no_statement():
    search = find_statements(sample_of([]))
    assert (search.statements, search.q_values, search.n_tests, search.nearest) == ((), (), 0, ())


def test_statements_about_calls_come_before_statements_about_requests():
    made = [
        asked(
            n,
            *([call("look")] if n // 10 % 2 else []),
            call("user"),
            call("pay", {"id": n}) | {"args_from": {"id": ["user.x"]}},
            ok=bool(n // 10 % 2),
        )
        for n in range(120)
    ]
    assert [statement.kind for statement in find_statements(sample_of(made)).statements] == [
        "source",
        "order",
    ]


def test_sequences_are_corrected_with_the_others():
    sample = sample_of(_looked())
    alone, more = find_statements(sample), find_statements(sample, [0.5] * 500)
    assert more.n_tests == alone.n_tests + 500
    assert len(more.q_values) == 500
    assert more.statements[0].q_value > alone.statements[0].q_value


def test_too_many_tests_drown_a_difference_and_it_is_listed_as_near():
    rng = Random(2)
    made = [
        asked(
            n,
            *([call("look")] if n // 10 % 2 else []),
            call("pay"),
            ok=rng.random() < (0.75 if n // 10 % 2 else 0.4),
        )
        for n in range(200)
    ]
    sample = sample_of(made)
    assert [statement.line for statement in find_statements(sample).statements] == ["- First: look"]
    drowned = find_statements(sample, [0.9] * 100_000)
    assert drowned.statements == ()
    assert drowned.nearest[0].reason.endswith("above the limit of 0.05")


def test_a_contrast_with_too_few_requests_is_listed_with_what_it_lacks():
    search = find_statements(sample_of(_looked(34)))
    assert search.statements == ()
    assert search.nearest[0].line == "- First: look"
    assert search.nearest[0].reason == "needs 6 more requests"
    assert len(search.nearest) <= 2 * MAX_NEAREST


def test_keys_do_not_depend_on_the_order_of_the_records():
    made = _looked()
    keys = [
        [statement.key for statement in find_statements(sample_of(rows)).statements]
        for rows in (made, made[::-1])
    ]
    assert keys[0] == keys[1] != []


def test_the_words_of_a_tool_are_those_that_its_line_says():
    made = [
        asked(
            n, call(("pay", "look")[n // 10 % 2]), question=f"{('refund', 'cancel')[n // 10 % 2]} {'x' * n}"
        )
        for n in range(120)
    ]
    assert keywords_by_tool(find_statements(sample_of(made)).statements) == {
        "pay": ("refund",),
        "look": ("cancel",),
    }


@pytest.mark.slow
def test_noise_is_silent_but_for_a_run_in_ten():
    loud = 0
    for seed in range(20):
        rng, made = Random(seed), []
        for number in range(300):
            places = ([], ["t0.x"], ["t1.y"], ["t2.z"])
            calls = [
                call(f"t{rng.randrange(6)}", {"a": 1}) | {"args_from": {"a": rng.choice(places)}}
                for _ in range(4)
            ]
            about = " ".join(keyword for keyword in KEYWORDS if rng.random() < 0.4)
            made.append(asked(number, *calls, ok=rng.random() < 0.7, question=f"{about} {'x' * number}"))
        loud += bool(find_statements(sample_of(made)).statements)
    assert loud <= 2


_tool = st.sampled_from(("pay", "look", "lo", "lo.ok", "a\nb", "<tool>", "", "x" * 200))
_place = st.lists(
    st.sampled_from(("look.x", "lo.ok.y", "lo.ok", "question", "a\nb.c", "<tool>.x", "")), max_size=3
)


@given(st.lists(st.tuples(_tool, _place), min_size=1, max_size=8), st.integers(0, 100))
def test_every_line_of_plain_tools_is_of_a_known_form(sources: list[tuple[str, list[str]]], seed: int):
    rng, made = Random(seed), []
    for number in range(120):
        calls = [
            call(tool, {"id": 1}) | {"args_from": {"id": places}}
            for tool, places in rng.sample(sources, min(2, len(sources)))
        ]
        made.append(
            asked(
                number,
                *calls,
                ok=any(made_call["name"] == "look" for made_call in calls),
                question=f"refund {'x' * number}",
            )
        )
    lines = [statement.line for statement in find_statements(sample_of(made)).statements]
    assert all(parse_advice(line) for line in lines), lines


def test_many_different_sources_take_little_time():
    made = []
    for number in range(1500):
        args = {f"a{place}": number for place in range(10)}
        places = {name: [f"look.f{number}x{place}" for place in range(4)] for name in args}
        made.append(asked(number, call("look"), call("pay", args) | {"args_from": places}))
    sample = sample_of(made)
    with bounded():
        assert find_statements(sample).statements == ()
