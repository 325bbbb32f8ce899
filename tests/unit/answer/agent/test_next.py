"""What an agent is told before its next iteration."""

from pathlib import Path

from coreloop.answer.agent.plan import layer_due, next_for_agent
from walking import finding, walk_in


def test_a_sure_hypothesis_is_to_be_refuted(tmp_path: Path):
    facts = [f"The {name} survey says the river is long." for name in ("first", "second", "third", "fourth")]
    with walk_in(tmp_path, {f"docs/{n}.md": text for n, text in enumerate(facts)}) as walk:
        walk.record(hypotheses=["The river is long."])
        stance = {"hypothesis": "h1", "stance": "supports"}
        for number, text in enumerate(facts):
            walk.read(f"docs/{number}.md")
            walk.record(finding(text, number + 1, **stance))
        assert layer_due(walk.state)["tool"] == "falsification"


def test_a_korean_question_is_worked_on_in_korean(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        walk.open("한강의 길이는 얼마인가?")
        facts = next_for_agent(walk.store, walk.state)
        assert facts["do"].startswith("iteration을 한 번 진행하세요: 질문을 서브질문으로 나누기.")
        assert facts["think"]["do"].startswith("Layer 1 현황")
        assert facts["to_complete"] == ["서브질문을 3개 이상 계획하기"]
        walk.read("docs/han.md")
        said = [
            finding("한강은 부산을 지난다.", 1),
            finding("한강은 길다.", "me"),
        ]
        assert [doubt.reason for doubt in walk.record(*said).unbelieved] == [
            "인용문이 출처 1에 없습니다. 글자 그대로 인용하세요",
            "coreloop가 읽지 않은 출처입니다(me). runs read로 읽고 출처 번호를 적으세요",
        ]
