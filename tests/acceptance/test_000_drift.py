"""What document 000 of the specification promises against going in circles, a test a row."""

import re
from pathlib import Path
from typing import Any

import pytest

from acceptance.claude_code import install, skill
from acceptance.model import Asked, modelled, plan, reflection, synthesis
from acceptance.shell import Done, Project
from acceptance.walk import public_name
from rows import slow_after

QUESTION = "한강의 길이는?"
PAGE = "# 한강\n\n한강의 길이는 494 km이다. 한강은 서울을 지난다.\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a run that an agent drives itself."""
    project = Project(tmp_path)
    project.open(QUESTION)
    return project


@pytest.mark.promise("000-25")
def test_25_the_same_action_three_times_is_said(project: Project):
    done = [_act(project, "academic", news=True) for _ in range(3)]
    assert ["Loop Drift" in one.out for one in done] == [False, False, True]
    assert "⚠️ Loop Drift 감지: 같은 행동 3회 반복" in done[-1].lines


@pytest.mark.promise("000-25")
def test_25_five_iterations_without_news_are_said(project: Project):
    done = [_act(project, f"way {number}") for number in range(5)]
    assert ["Loop Drift" in one.out for one in done] == [False, False, False, False, True]
    assert "⚠️ Loop Drift 감지: 5회 연속 새 정보 없음" in done[-1].lines


@pytest.mark.promise("000-26", "000-27")
def test_26_a_research_drops_a_repeated_query_before_it_is_executed_and_says_so(project: Project):
    first, again = "quantum error correction breakthrough 2026", "quantum error correction 2026 breakthrough"
    shown = _research(project, first, again).err
    searched = [search["query"] for search in project.view("current/search_history.json")]
    assert first in searched
    assert again not in searched
    assert f"⚠️ Skip duplicate: '{again[:50]}" in shown
    assert f"   Already searched: '{first}'" in shown


@pytest.mark.promise("000-26")
def test_26_the_skill_has_its_candidates_tested_before_it_searches(project: Project):
    install(project)
    commands = sorted(set(re.findall(r"dartlab-coreloop runs ([a-z]+)", skill(project))))
    helps = [project.run("runs", command, "--help") for command in commands]
    assert all(done.code == 0 for done in helps)
    assert re.search("duplicate|candidate", "".join(done.out for done in helps), re.IGNORECASE)


@pytest.mark.promise("000-28")
@pytest.mark.parametrize(
    ("earlier", "query"),
    [
        ("삼성전자 영업이익 추이", "삼성전자의 영업이익 추이는"),
        ("korean river length", "length of the korean river"),
    ],
    ids=["particles", "function words"],
)
def test_28_words_find_a_repeated_query_without_embeddings(earlier: str, query: str):
    assert _is_duplicate(earlier, query)


@pytest.mark.promise("000-29")
def test_29_another_order_of_words_is_a_duplicate():
    assert _is_duplicate(
        "quantum error correction breakthrough 2026", "quantum error correction 2026 breakthrough"
    )


@pytest.mark.promise("000-30")
@pytest.mark.parametrize(
    ("earlier", "query", "is_duplicate"),
    [
        ("삼성전자 실적 2024", "삼성전자 실적 2025", False),
        ("filings on 2025-03-01", "filings on 2025-04-01", False),
        ("drugs that interact with aspirin", "drugs that do not interact with aspirin", False),
        ("quantum error correction", "site:arxiv.org quantum error correction", False),
        ("삼성전자 실적 2024", "삼성전자의 2024 실적은", True),
    ],
    ids=["year", "date", "negation", "site", "Korean particles"],
)
def test_30_another_year_date_negation_or_site_is_a_new_query(earlier: str, query: str, is_duplicate: bool):
    assert _is_duplicate(earlier, query) is is_duplicate


@pytest.mark.promise("000-31")
def test_31_a_narrower_query_is_new():
    assert not _is_duplicate("quantum error correction", "quantum computing error correction")


@pytest.mark.promise("000-32")
def test_32_a_research_whose_queries_are_all_duplicates_asks_from_another_angle(project: Project):
    _research(project, "한강 길이")
    history = project.view("current/search_history.json")
    first, second = ({one["query"] for one in history if one["iteration"] == number} for number in (1, 2))
    assert second
    assert not first & second


@pytest.mark.promise("000-32")
def test_32_an_agent_whose_queries_are_all_duplicates_is_told_another_strategy(project: Project):
    query = {"query": "quantum error correction", "results_count": 3, "success": True}
    for _ in range(2):
        project.record({"actions": [_action("academic")], "queries": [query]})
    assert project.next()["drift"]["after"] == ["web"]


@pytest.mark.promise("000-33")
@pytest.mark.parametrize(
    ("before", "after"),
    slow_after(
        4,
        [
            ("academic", "web"),
            ("web", "academic"),
            ("positive", "counter-evidence"),
            ("recent", "historical"),
            ("broad", "niche"),
            ("niche", "broad"),
            ("English", "Korean"),
            ("Korean", "Chinese"),
        ],
    ),
)
def test_33_duplicates_and_sameness_turn_a_strategy_round(project: Project, before: str, after: str):
    _repeat(project, before)
    assert project.next()["drift"]["after"] == [after]


@pytest.mark.promise("000-34")
@pytest.mark.parametrize(
    ("before", "after"),
    slow_after(1, [("web", "code search"), ("hypothesis test", "counter-evidence"), ("forward", "backward")]),
)
def test_34_the_same_action_turns_to_another_kind_of_work(project: Project, before: str, after: str):
    orders = []
    for _ in range(3):  # the web has two ways out, which take turns
        _repeat(project, before)
        orders.append(project.next()["drift"]["after"])
        _act(project, *orders[-1], news=True)
    assert [after] in orders


@pytest.mark.promise("000-35")
def test_35_technical_turns_to_business(project: Project):
    _repeat(project, "technical")
    assert [label.casefold() for label in project.next()["drift"]["after"]] == ["business"]


@pytest.mark.promise("000-36")
def test_36_the_third_same_action_in_a_row_forces_a_change_and_counts_anew(project: Project):
    seen = []
    for strategy in ("academic", "academic", "academic", "web"):
        _act(project, strategy, news=True)
        seen.append((project.next()["drift"] is not None, _drift(project)["consecutive_same_action"]))
    assert seen == [(False, 1), (False, 2), (True, 0), (False, 1)]


@pytest.mark.promise("000-37")
def test_37_the_fifth_iteration_without_news_forces_another_approach_and_news_reset_the_count(
    project: Project,
):
    seen = []
    for number in range(10):
        _act(project, f"way {number}", news=number == 4)
        order = project.next()["drift"]
        seen.append(order["rule"] if order else None)
    assert seen == [None] * 9 + ["no_new_information"]


@pytest.mark.promise("000-38")
def test_38_an_agent_that_ignores_a_change_of_strategy_is_refused(project: Project):
    _repeat(project, "academic")
    assert project.next()["drift"]["after"] == ["web"]
    query = {"query": "subject 4", "results_count": 1, "success": True}
    refused = project.record({"actions": [_action("academic")], "queries": [query]})
    assert refused.code == 2
    assert project.shown()["iteration"]["current"] == 3


@pytest.mark.promise("000-39")
def test_39_a_run_that_is_stuck_gets_the_failures_of_similar_situations(project: Project):
    _get_stuck_and_out(project)
    project.open(QUESTION)
    for number in range(5):
        _act(project, f"way {number}")
    assert project.next()["drift"]["rule"] == "no_new_information"
    assert project.next()["untrusted_reflexion"]["failures"]


@pytest.mark.promise("000-40")
def test_40_reflexion_json_has_what_helped_and_failures_with_what_solved_them(project: Project):
    _get_stuck_and_out(project)
    reflexion = project.view("current/reflexion.json")
    patterns, failures = reflexion["success_patterns"], reflexion["failures"]
    assert patterns
    assert failures
    assert all(set(one) == {"strategy", "situations", "success_rate"} for one in patterns)
    assert all(set(one) == {"iteration", "situation", "root_cause", "solution", "result"} for one in failures)


@pytest.mark.promise("000-46")
def test_46_state_json_counts_drift(project: Project):
    for number in range(2):
        _act(project, "academic")
        drift = _drift(project)
        assert set(drift) == {"last_action_hash", "consecutive_same_action", "no_new_info_count"}
        assert (drift["consecutive_same_action"], drift["no_new_info_count"]) == (number + 1, number + 1)
        assert drift["last_action_hash"]


@pytest.mark.promise("000-47")
def test_47_new_queries_and_a_change_of_angle_are_said(project: Project):
    shown = _research(project, "한강 길이").err
    assert "✓ NEW: '한강 길이'" in shown
    assert "⚠️ All queries duplicate. Changing search angle..." in shown


@pytest.mark.promise("000-48")
def test_48_a_run_that_is_stuck_says_what_failed_before(project: Project):
    _get_stuck_and_out(project)
    project.open(QUESTION)
    shown = [_act(project, f"way {number}").out for number in range(5)][-1]
    assert "⚠️ 막힘 감지" in shown
    assert all(f"\n{label}: " in shown for label in ("과거 실패", "원인", "해결책"))


@pytest.mark.promise("000-49")
def test_49_first_principles_are_among_the_other_approaches(project: Project):
    _repeat(project, "historical")
    assert project.next()["drift"]["after"] == ["first principles"]


@pytest.mark.promise("000-50")
def test_50_what_helped_in_a_similar_situation_is_told_again(project: Project):
    _act(project, "counter-evidence", news=True)
    project.open(f"{QUESTION} 몇 km인가?")
    (pattern,) = project.next()["untrusted_reflexion"]["success_patterns"]
    assert (pattern["strategy"], pattern["situations"]) == ("counter-evidence", [QUESTION])
    project.open("국제 유가 전망")
    assert project.next()["untrusted_reflexion"]["success_patterns"] == []


def _action(*strategy: str) -> dict[str, Any]:
    return {"tool": "web", "strategy": list(strategy)}


def _repeat(project: Project, strategy: str) -> None:
    """Three iterations in a row that do the same, each with something new."""
    for _ in range(3):
        _act(project, strategy, news=True)


def _act(project: Project, *strategy: str, news: bool = False) -> Done:
    """Record an iteration whose search found nothing, or something new."""
    number = project.shown()["iteration"]["current"] + 1
    query = {"query": f"subject {number}", "results_count": int(news), "success": True}
    source = f"https://site{number}.example/page"
    findings = [{"text": f"Fact {number}.", "sources": [source]}] if news else []
    report = {"actions": [_action(*strategy)], "queries": [query], "findings": findings}
    done = project.record(report)
    assert done.code == 0, done.err
    return done


def _get_stuck_and_out(project: Project) -> None:
    """Five iterations without news, the change of approach that is ordered, and what it finds."""
    for number in range(5):
        _act(project, f"way {number}")
    _act(project, *project.next()["drift"]["after"], news=True)
    project.next()


def _drift(project: Project) -> dict[str, Any]:
    drift: dict[str, Any] = project.shown()["loop_drift"]
    return drift


def _is_duplicate(earlier: str, query: str) -> bool:
    history = public_name("QueryHistory")()
    history.add_query_to_history(earlier, 1, 3, True)
    is_duplicate, similar = history.is_duplicate_query(query)
    assert similar == (earlier if is_duplicate else None)
    return bool(is_duplicate)


def _research(project: Project, *queries: str) -> Done:
    """Research for two iterations with a model that proposes the same queries again and again."""
    project.write("docs/han.md", PAGE)
    assert project.run("index", "docs").code == 0

    def reflect(_asked: Asked) -> dict[str, Any]:
        return reflection(queries=queries)

    replies = {
        "PlanResponse": plan(*queries, parts=(QUESTION,)),
        "ReflectionResponse": reflect,
        "SynthesisResponse": synthesis("모른다."),
    }
    with modelled(project, **replies):
        done = project.run("research", QUESTION, "--max-iterations", "2")
    assert done.code in {0, 1}, done.err  # 1: nothing said so
    return done
