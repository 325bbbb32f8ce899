"""Which question is another one, and which open sub-question is searched for."""

from pathlib import Path

from coreloop.answer.agent.plan import _with_open_part
from walking import walk_in


def test_the_open_sub_question_that_is_ordered_is_searched_for(tmp_path: Path):
    from coreloop.answer.agent.plan import ProposedQuery

    with walk_in(tmp_path) as walk:
        walk.plan()
        kept = [ProposedQuery(f"other {n}", "web") for n in range(5)]
        own = ProposedQuery("length of the Han river", "web", part="q1")
        chosen = _with_open_part(walk.state, kept, [*kept, own])
    assert own in chosen
    assert len(chosen) == len(kept)
