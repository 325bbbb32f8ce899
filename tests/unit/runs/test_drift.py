"""Drift is seen at the second question, third action and fifth iteration, and always asks for another way."""

from hypothesis import given
from hypothesis import strategies as st

from coreloop.runs import events as happened
from coreloop.runs.drift import ROTATION, Rotation, check_drift, next_strategy
from coreloop.runs.events import Event
from happenings import AT, created, fold, histories
from rows import each_row

LABELS = sorted({label for row in ROTATION for label in row})
strategies = st.lists(st.sampled_from([*LABELS, "odd"]), max_size=4, unique=True).map(tuple)
SEARCHED = happened.Searched(at=AT, query="q", outcome="found", results_count=3)
DROPPED = happened.QueryDropped(at=AT, query="q", similar="q")


def action(tool: str = "web", *strategy: str) -> happened.ActionTaken:
    return happened.ActionTaken(at=AT, tool=tool, strategy=strategy)


def rule(*later: Event, searches: bool = True) -> str | None:
    turn = check_drift(fold([created(searches=searches), *later]))
    return turn and turn.rule


def turned(events: list[Event]) -> happened.Turned:
    turn = check_drift(fold([created(), *events]))
    assert turn is not None
    return turn


def iterations(count: int, *each: Event) -> list[Event]:
    return [
        event
        for number in range(1, count + 1)
        for event in (*each, happened.IterationCommitted(at=AT, iteration=number))
    ]


def finding(source: str) -> happened.FindingRecorded:
    return happened.FindingRecorded(at=AT, sub_question="q1", text="another wording", source=source)


def test_a_question_asked_a_second_time_asks_for_another_angle():
    assert rule(SEARCHED) is None
    assert rule(DROPPED) == "duplicates"


def test_the_count_of_actions_starts_again_after_a_turn():
    events: list[Event] = [action()] * 3
    events.append(turned(events))
    assert rule(*events) is None
    assert rule(*events, action(), action()) is None
    assert rule(*events, action(), action(), action()) == "same_action"


def test_the_count_of_iterations_starts_again_after_a_turn():
    events = iterations(5, SEARCHED)
    events.append(turned(events))
    assert rule(*events, *iterations(4, SEARCHED)) is None
    assert rule(*events, *iterations(5, SEARCHED)) == "no_new_information"


def test_a_finding_without_an_executed_search_is_no_news_where_runs_search():
    blocked = happened.Searched(at=AT, query="q", outcome="blocked")
    news = [event for number in range(5) for event in iterations(1, blocked, finding(f"dart:{number}"))]
    assert rule(*news) == "no_new_information"
    assert rule(*news, searches=False) is None


@given(histories())
def test_a_turn_answers_every_drift(events: list[Event]):
    for _ in range(3):  # at most one turn per rule
        turn = check_drift(fold(events))
        if turn is None:
            return
        assert turn.after != turn.before
        events = [*events, turn]
    assert check_drift(fold(events)) is None


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


@each_row(
    ("strategy", "start", "expected"),
    [
        (("academic", "English"), 0, ("web", "English")),
        (("academic", "English"), 1, ("academic", "Korean")),
        (("Korean",), 0, ("Chinese",)),
        (("web",), 2, ("code search",)),
        (("forward",), 0, ("backward",)),
        (("odd",), 3, ("odd", "historical")),
        ((), 0, ("web",)),
    ],
)
def test_the_table_says_what_comes_next(strategy: tuple[str, ...], start: int, expected: tuple[str, ...]):
    assert next_strategy(strategy, ROTATION, start=start) == expected


def test_a_run_that_turns_again_and_again_tries_every_way():
    tried, strategy = set[str](), ("web", "English", "recent", "broad", "forward", "positive")
    for start in range(30):
        strategy = next_strategy(strategy, ROTATION, start=start)
        tried |= set(strategy)
    assert {"Chinese", "historical", "niche", "backward", "counter-evidence", "first principles"} <= tried
