"""Plans: the first queries, other words, other angles, and what is kept of many candidates."""

from coreloop.answer.models.contracts import PlannedQuery, PlanResponse
from coreloop.answer.research.next_queries import (
    COUNTER_EVIDENCE,
    angled,
    converge,
    first_queries,
    is_stuck,
    next_queries,
    reword,
)
from coreloop.answer.research.research_state import FailedQuery, Knowledge, PlanQuery
from coreloop.runs.duplicates import Search
from coreloop.runs.limits import Limits
from coreloop.runs.state import State
from rows import each_row


def plan_of(*queries: str) -> PlanResponse:
    return PlanResponse(queries=tuple(PlannedQuery(query=query, intent="") for query in queries))


def test_a_simple_plan_has_three_queries_others_six_and_none_twice():
    plan = plan_of(*"aabcdefgh", "A")
    assert [query.query for query in first_queries("?", plan, "simple")] == ["a", "b", "c"]
    assert len(first_queries("?", plan, "deep")) == 6


def test_an_iteration_has_five_queries_or_what_the_limit_leaves():
    knowledge = Knowledge(plan_queries=[PlanQuery(f"q{n}", iteration=1) for n in range(9)])
    assert len(next_queries(State(), knowledge)) == 5
    assert len(next_queries(State(limits=Limits(queries=2)), knowledge)) == 2
    assert next_queries(State(iteration=1), knowledge) == []


@each_row(
    ("query", "forms"),
    [
        (
            "causes of price increase",
            {"broader": "causes price", "other angle": "causes price increase definition"},
        ),
        ("price", {"synonyms": "cost", "other angle": "price definition"}),
        ("삼성전자 매출 감소", {"synonyms": "삼성전자 매출 하락", "broader": "삼성전자 매출"}),
    ],
)
def test_a_query_is_reworded_by_synonyms_fewer_words_or_another_angle(query: str, forms: dict[str, str]):
    made = {how: text for text, how in reword(query)}
    assert {how: made.get(how) for how in forms} == forms


def test_an_angle_takes_the_next_word_that_was_not_tried():
    first = angled("river length", (COUNTER_EVIDENCE,))
    assert first == "river length criticism"
    assert angled("river length", (COUNTER_EVIDENCE,), [first]) == "river length problem"
    assert angled("강의 길이는?", (COUNTER_EVIDENCE,)) == "강의 길이 반론"


def test_what_was_searched_is_not_kept_again():
    candidates = [PlanQuery("river length"), PlanQuery("river source"), PlanQuery("length of the river")]
    assert [query.query for query in converge(candidates, ["river length"])] == ["river source"]


def test_three_empty_searches_in_a_row_are_stuck_and_failed_ones_do_not_count():
    empty = [Search(f"e{n}", 1, 0, False) for n in range(3)]
    assert is_stuck(State(search_history=empty), Knowledge())
    assert not is_stuck(State(search_history=[*empty, Search("found", 1, 4, True)]), Knowledge())
    failed = Knowledge(failed_queries=[FailedQuery("e1", "failed", "", 1)])
    assert not is_stuck(State(search_history=empty), failed)
