"""Sessions: a like question is found, and a person says what to continue."""

import io
from pathlib import Path

import pytest

from coreloop.cli.choose_session import choose_session
from coreloop.errors import RunNotFoundError
from coreloop.research.knowledge import Request
from coreloop.research.run import begin_research, run_research
from coreloop.research.sessions import like_sessions, named_session, read_session, sessions_of
from coreloop.runs.create import create_run
from researching import desk_in, project

ASKED = ("How long is the Han river?", "How long is the Nakdong river?", "Who painted the Mona Lisa?")


def test_the_same_question_is_exact_a_near_one_similar_and_others_are_left_out(tmp_path: Path):
    with desk_in(project(tmp_path)) as desk:
        for question in ASKED:
            begin_research(question, Request(), desk)
        like = like_sessions("how long is the han river", sessions_of(desk.store))
    assert [(likeness, row.question) for likeness, row in like] == [
        ("exact", ASKED[0]),
        ("similar", ASKED[1]),
    ]


def test_the_newest_research_is_named_by_last_and_other_runs_are_none(tmp_path: Path):
    with desk_in(project(tmp_path)) as desk:
        with pytest.raises(RunNotFoundError, match="no research yet"):
            named_session(desk.store, "last")
        newest = max(begin_research(question, Request(), desk) for question in ASKED)
        other = create_run(desk.store, "?", kind="agent")
        assert named_session(desk.store, "last") == newest
        with pytest.raises(RunNotFoundError, match="is no research, but agent"):
            read_session(desk.store, other)


@pytest.mark.parametrize(("said", "continues"), [("1\n", True), ("new\n", False), ("7\n1\n", True)])
def test_on_a_terminal_a_person_chooses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, continues: bool
):
    with desk_in(project(tmp_path)) as desk:
        run_id = begin_research(ASKED[0], Request(), desk)
        monkeypatch.setattr("sys.stdin", io.StringIO(said))
        chosen = choose_session(desk.store, ASKED[0], None, is_asked=True)
    assert chosen == (run_id if continues else None)


def test_nobody_is_asked_without_a_terminal_or_about_what_is_over(tmp_path: Path):
    with desk_in(project(tmp_path)) as desk:
        run_research(ASKED[0], desk=desk)
        assert choose_session(desk.store, ASKED[0], None, is_asked=True) is None
        begin_research(ASKED[0], Request(), desk)
        assert choose_session(desk.store, ASKED[0], None, is_asked=False) is None
        assert choose_session(desk.store, ASKED[0], "new", is_asked=True) is None


def test_another_year_is_another_question(tmp_path: Path):
    with desk_in(project(tmp_path)) as desk:
        begin_research("What was the revenue of Han in 2018?", Request(), desk)
        (like,) = like_sessions("What was the revenue of Han in 2013?", sessions_of(desk.store))
        assert like[0] == "similar"
