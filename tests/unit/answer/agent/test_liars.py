"""Agents that claim to be done: none of them completes a run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from coreloop.answer.agent.agent_state import to_complete
from coreloop.answer.agent.plan import next_for_agent
from coreloop.answer.agent.record import RecordedIteration
from coreloop.base.errors import UsageError
from coreloop.cli.iteration_block import iteration_lines
from coreloop.runs.agent.agent_runs import agree
from walking import FILES, LENGTH, PARTS, QUESTION, SEOUL, SURVEY, Walk, commit, executed, finding, walk_in

MINE = "The Han river is 494 kilometres long, flows through Seoul, and was measured by a survey."


def own_sources(walk: Walk) -> None:
    walk.plan()
    walk.record(*(finding(MINE, f"https://mine.example/{part}", part) for part in ("q1", "q2", "q3")))


def invented_text_with_a_true_address(walk: Walk) -> None:
    walk.plan()
    walk.read("https://nowhere.invalid/han", f"{LENGTH} {SEOUL} {SURVEY}")
    walk.record(*(finding(text, 1, f"q{n}") for n, text in enumerate((LENGTH, SEOUL, SURVEY), 1)))


def file_that_it_wrote(walk: Walk) -> None:
    walk.plan()
    (walk.root / "docs" / "mine.md").write_text(f"{LENGTH} {SEOUL} {SURVEY}")
    commit(walk.root)
    walk.read("docs/mine.md")
    walk.record(*(finding(text, 1, f"q{n}") for n, text in enumerate((LENGTH, SEOUL, SURVEY), 1)))


def quotes_that_are_not_there(walk: Walk) -> None:
    walk.plan()
    walk.read("docs/han.md")
    walk.record(*(finding(f"{part} Yes, by survey.", 1, f"q{n}") for n, part in enumerate(PARTS, 1)))


def true_quotes_that_do_not_answer(walk: Walk) -> None:
    walk.plan(parts=("Why did oil prices fall in 2014?", "Who won the election?", "When was steel invented?"))
    walk.read("docs/han.md")
    walk.record(*(finding(LENGTH, 1, f"q{n}") for n in (1, 2, 3)))


def one_trivial_sub_question(walk: Walk) -> None:
    walk.read("docs/han.md")
    with pytest.raises(UsageError, match="at least 3 sub-questions"):
        walk.plan(parts=(PARTS[0],))
    walk.record(finding(LENGTH, 1, PARTS[0]), sub_questions=[PARTS[0]])


def no_search_of_the_plan(walk: Walk) -> None:
    walk.plan()
    answer_all(walk, queries=executed("something else"))


def answer_all(walk: Walk, **more: object) -> None:
    """Answer the three sub-questions truly."""
    numbers = {name: walk.read(name).read.number for name in FILES}
    said = ((LENGTH, "docs/han.md"), (SEOUL, "docs/han.md"), (SURVEY, "docs/survey.md"))
    found = [finding(text, numbers[name], f"q{n}") for n, (text, name) in enumerate(said, 1)]
    walk.record(*found, **more)


@pytest.mark.parametrize(
    "lie",
    [
        own_sources,
        invented_text_with_a_true_address,
        file_that_it_wrote,
        quotes_that_are_not_there,
        true_quotes_that_do_not_answer,
        one_trivial_sub_question,
        no_search_of_the_plan,
    ],
)
def test_no_lie_completes_a_run(lie: Callable[[Walk], None], tmp_path: Path):
    with walk_in(tmp_path) as walk:
        lie(walk)
        assert walk.state.status == "running"


DAM = "Why did the dam at Paldang fail?"
KOREAN_DAM = "팔당댐은 왜 무너졌는가?"
TRIVIAL = {
    "Water is wet.": "Is water wet?",
    "Seoul is a city.": "Is Seoul a city?",
    "The sky is blue.": "Is the sky blue?",
}
KOREAN = {
    "물은 언제나 젖어 있다.": "물은 젖어 있는가?",
    "서울은 한국의 도시이다.": "서울은 도시인가?",
    "하늘은 낮에 파랗다.": "하늘은 파란가?",
}
OF_ALL_SORTS = "If not this, what was it about, and for whom or by whom could it all have been?"
LYING_PLANS = {
    "what has nothing to do with it": (DAM, TRIVIAL, "{0}"),
    "one word of it": (DAM, TRIVIAL, "Did it fail: {0}"),
    "in Korean, with particles": (KOREAN_DAM, KOREAN, "{0}"),
    "stop words alone": (f"{DAM} {OF_ALL_SORTS}", TRIVIAL, f"{{0}} {OF_ALL_SORTS}"),
    "the question with a trivial rest": (DAM, TRIVIAL, f"{DAM} {{0}}"),
    "the rest behind and": (DAM, TRIVIAL, f"{DAM[:-1]}, and {{0}}"),
    "a Korean rest": (KOREAN_DAM, KOREAN, "팔당댐은 왜 무너졌고, {0}"),
    "another language": (KOREAN_DAM, TRIVIAL, "{0}"),
    "a translation that is none": (KOREAN_DAM, TRIVIAL, f"{KOREAN_DAM} / {{0}}"),
}


@pytest.mark.parametrize("lie", LYING_PLANS)
def test_true_answers_to_other_questions_complete_no_run(lie: str, tmp_path: Path):
    question, said, form = LYING_PLANS[lie]
    with walk_in(tmp_path, {f"docs/{n}.md": text for n, text in enumerate(said)}) as walk:
        walk.open(question)
        planned = walk.plan(parts=tuple(form.format(part) for part in said.values()))
        numbers = [walk.read(f"docs/{n}.md").read.number for n in range(len(said))]
        found = [finding(text, n, f"q{n}") for n, text in zip(numbers, said, strict=True)]
        walk.record(*found, queries=executed(*(one.query for one in planned.execute)))
        assert (walk.state.status, walk.state.counted) == ("running", [])
        assert f"runs confirm q1 q2 q3 --run {walk.run_id}" in to_complete(walk.state)[-1]
        agree(walk.store, walk.run_id, ["q1", "q2", "q3"])
        assert len(walk.state.counted) == 3


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (DAM, ("What did the inspection of the Paldang dam find?", "When was the dam at Paldang built?")),
        (DAM, ("Which salts, metals and stones made the Paldang dam brittle?",)),
        (KOREAN_DAM, ("팔당 댐의 설계에는 어떤 결함이 있었나?", "팔당댐을 누가 점검했는가?")),
        ("삼성전자와 SK하이닉스의 배당 정책은 어떻게 다른가?", ("삼성전자의 배당성향은 얼마인가?",)),
        ("매출, 영업이익은 왜 늘었나?", ("매출, 비용은 각각 얼마인가?",)),
        (QUESTION, PARTS),
    ],
)
def test_honest_sub_questions_count(question: str, parts: tuple[str, ...], tmp_path: Path):
    with walk_in(tmp_path) as walk:
        walk.open(question)
        walk.record(sub_questions=parts)
        assert [part.text for part in walk.state.counted] == list(parts)


def test_a_contradiction_that_is_open_leaves_its_sub_question_unanswered(tmp_path: Path):
    other = "The Han river is 514 kilometres long."
    with walk_in(tmp_path, {**FILES, "docs/old.md": f"# Han river\n\n{other}\n"}) as walk:
        planned = walk.plan()
        number = walk.read("docs/old.md").read.number
        walk.record(finding(other, number))
        answer_all(walk, queries=executed(*(one.query for one in planned.execute)))
        assert (walk.state.status, to_complete(walk.state)) == (
            "running",
            ["settle the contradiction about q1"],
        )
        lines = list(iteration_lines(RecordedIteration(state=walk.state, iteration=2)))
        assert "📊 Progress: 66% (2/3)" in lines
        states = [part["state"] for part in next_for_agent(walk.store, walk.state)["sub_questions"]]
        assert states == ["open: its findings contradict others", "answered", "answered"]


def test_nothing_but_a_person_or_a_limit_ends_an_exhaustive_run(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        walk.open(mode="exhaust", max_iterations=2)
        planned = walk.plan()
        answer_all(walk, queries=executed(*(one.query for one in planned.execute)))
        assert walk.state.status == "running"
        assert to_complete(walk.state) == ["go on: only a person or a limit ends this run"]
        walk.record()
        assert (walk.state.status, walk.state.stop_reason) == ("stopped", "max_iterations")
