"""Drift is seen, and always asks for another way."""

from hypothesis import given
from hypothesis import strategies as st

from coreloop.runs import events as happened
from coreloop.runs.drift import ROTATION, Rotation, check_drift, next_strategy
from coreloop.runs.events import Event
from happenings import AT, created, fold

LABELS = sorted({label for row in ROTATION for label in row})
strategies = st.lists(st.sampled_from([*LABELS, "odd"]), max_size=4, unique=True).map(tuple)


def rule(*later: Event, searches: bool = True) -> str | None:
    turn = check_drift(fold([created(searches=searches), *later]))
    return turn and turn.rule


def test_a_finding_without_an_executed_search_is_no_news_where_runs_search():
    blocked = happened.Searched(at=AT, query="q", outcome="blocked")
    found = {"at": AT, "sub_question": "q1", "text": "another wording"}
    news = list[Event]()
    for number in range(5):
        news += [blocked, happened.FindingRecorded(source=f"dart:{number}", **found)]
        news += [happened.IterationCommitted(at=AT, iteration=1)]
    assert rule(*news) == "no_new_information"
    assert rule(*news, searches=False) is None


@given(
    strategies,
    st.integers(0, 1000),
    st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1),
)
def test_another_strategy_is_always_another(
    strategy: tuple[str, ...], start: int, rows: list[tuple[str, str]]
):
    rotation: Rotation = tuple(rows)
    assert next_strategy(strategy, rotation, start=start) != strategy
    assert next_strategy(strategy, ROTATION, start=start) != strategy
