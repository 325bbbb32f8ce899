"""What an agent is told before its next iteration: the thought that is due, and what keeps a run going."""

from pathlib import Path

import orjson

from coreloop.answer.agent.next import layer_due, next_for_agent
from walking import LENGTH, Walk, executed, finding, walk_in


def test_the_situation_is_due_always_and_the_other_layers_in_turn(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        seen = []
        for number in range(6):
            seen.append(layer_due(walk.state)["fields"])
            walk.record(finding("News.", f"https://site{number}.example"))
    assert all(fields[0] == "situation" for fields in seen)
    assert seen[0] == seen[5] == ["situation", "direct", "roles", "outsider"]
    assert [fields[1] for fields in seen[1:5]] == ["thesis", "self_check", "tool", "paths"]


def test_a_sure_hypothesis_is_to_be_refuted(tmp_path: Path):
    facts = [f"The {name} survey says the river is long." for name in ("first", "second", "third", "fourth")]
    with walk_in(tmp_path, {f"docs/{n}.md": text for n, text in enumerate(facts)}) as walk:
        walk.record(hypotheses=["The river is long."])
        stance = {"hypothesis": "h1", "stance": "supports"}
        for number, text in enumerate(facts):
            walk.read(f"docs/{number}.md")
            walk.record(finding(text, number + 1, **stance))
        assert layer_due(walk.state)["tool"] == "falsification"


def test_what_keeps_a_run_going_is_said(tmp_path: Path):
    def left(walk: Walk) -> list[str]:
        facts = next_for_agent(walk.store, walk.state)
        orjson.dumps(facts)
        lines: list[str] = facts["to_complete"]
        return lines

    with walk_in(tmp_path) as walk:
        assert left(walk) == ["plan at least 3 sub-questions"]
        planned = walk.plan()
        assert left(walk)[:3] == ["answer q1", "answer q2", "answer q3"]
        assert "execute a chosen query with the intent counter-evidence" in left(walk)
        assert [one.query for one in next_for_agent(walk.store, walk.state)["chosen"]]
        walk.read("docs/han.md")
        walk.record(finding(LENGTH, 1, "q1"), queries=executed(*(one.query for one in planned.execute)))
        assert left(walk) == ["answer q2", "answer q3"]


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
