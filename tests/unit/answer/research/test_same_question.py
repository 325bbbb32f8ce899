"""Likeness: words find researches that ask the same, and in doubt a model judges them, as a step of a run."""

import io
import json
from functools import partial
from pathlib import Path

import click
import pytest

from coreloop.answer.deps import Deps
from coreloop.answer.research.earlier_researches import named_session, read_session, sessions_of
from coreloop.answer.research.research_state import Request
from coreloop.answer.research.run import begin_research
from coreloop.answer.research.same_question import LikeSessions, find_like, like_sessions
from coreloop.cli.choose_session import choose_session
from coreloop.runs.active_run import work_on
from coreloop.runs.events import StepCommitted
from model_stand_in import ModelStandIn, model_stand_in, streams
from researching import deps_in, project

LONG, OTHER, PAINTER = (
    "How long is the Han river?",
    "How long is the Nakdong river?",
    "Who painted the Mona Lisa?",
)
SAME = "What is the length of the Han?"


def test_the_same_question_is_exact_a_near_one_similar_and_others_are_left_out(tmp_path: Path):
    with deps_in(project(tmp_path)) as deps:
        for question in (LONG, OTHER, PAINTER):
            begin_research(question, Request(), deps)
        like = like_sessions("how long is the han river", sessions_of(deps.store))
    assert [(one.likeness, one.row.question) for one in like] == [("exact", LONG), ("similar", OTHER)]


def test_another_year_is_another_question(tmp_path: Path):
    with deps_in(project(tmp_path)) as deps:
        begin_research("What was the revenue of Han in 2018?", Request(), deps)
        (like,) = like_sessions("What was the revenue of Han in 2013?", sessions_of(deps.store))
        assert like.likeness == "similar"


def begin_all(deps: Deps, *questions: str) -> list[str]:
    return [begin_research(question, Request(), deps) for question in questions]


def find(deps: Deps, question: str) -> LikeSessions:
    return find_like(question, deps, partial(begin_research, question, Request(), deps))


def judging(server: ModelStandIn, **said: list[int]) -> None:
    server.acts.append(streams(json.dumps(said)))


def test_a_model_finds_what_words_do_not_and_the_new_run_pays_for_it(tmp_path: Path):
    with model_stand_in() as server, deps_in(project(tmp_path), url=server.url) as deps:
        run_ids = begin_all(deps, LONG, OTHER, PAINTER)
        judging(server, exact=[1])
        like = find(deps, SAME)
        assert [(one.likeness, one.row.run_id) for one in like.sessions] == [("exact", run_ids[0])]
        assert like.begun is not None
        state = read_session(deps.store, like.begun)
        steps = [event.key for _, event in deps.store.read(like.begun) if isinstance(event, StepCommitted)]
    assert (state.question, state.spent.tokens, steps) == (SAME, 15, ["likeness"])
    assert PAINTER not in str(server.bodies)


def test_the_run_is_free_while_a_person_thinks(tmp_path: Path):
    with model_stand_in() as server, deps_in(project(tmp_path), url=server.url) as deps:
        begin_all(deps, LONG)
        judging(server, similar=[1])
        begun = find(deps, SAME).begun
        assert begun is not None
        with work_on(deps.store, begun) as run:
            assert run.state.status == "running"


def test_a_model_is_not_asked_about_the_same_question_or_about_others(tmp_path: Path):
    with model_stand_in() as server, deps_in(project(tmp_path), url=server.url) as deps:
        begin_all(deps, LONG)
        assert [one.likeness for one in find(deps, LONG).sessions] == ["exact"]
        assert find(deps, PAINTER) == LikeSessions(())
    assert server.bodies == []


def test_numbers_that_no_research_has_are_ignored_and_exact_comes_before_similar(tmp_path: Path):
    with model_stand_in() as server, deps_in(project(tmp_path), url=server.url) as deps:
        begin_all(deps, LONG, OTHER)
        judging(server, exact=[2, 99, -1], similar=[1, 2, 0])
        like = find(deps, "The length of the river?")
    assert [one.likeness for one in like.sessions] == ["exact", "similar"]


def test_without_a_usable_reply_words_decide(tmp_path: Path):
    with model_stand_in() as server, deps_in(project(tmp_path), url=server.url) as deps:
        begin_all(deps, OTHER)
        server.acts += [streams("no"), streams("no"), streams("no")]
        like = find(deps, LONG)
    assert [(one.likeness, one.row.question) for one in like.sessions] == [("similar", OTHER)]


@pytest.mark.parametrize("said", ["1\n", "n\n", ""], ids=["continue", "new", "Ctrl-D"])
def test_the_new_run_goes_on_only_if_a_person_wants_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
):
    with model_stand_in() as server, deps_in(project(tmp_path), url=server.url) as deps:
        (earlier,) = begin_all(deps, LONG)
        judging(server, exact=[1])
        monkeypatch.setattr("sys.stdin", io.StringIO(said))
        begin = partial(begin_research, SAME, Request(), deps)
        try:
            chosen = choose_session(deps, SAME, None, begin=begin, is_asked=True)
        except click.Abort:
            chosen = None
        new, old = sessions_of(deps.store)
        assert (new.status, old.status) == ("running" if said == "n\n" else "stopped_by_user", "running")
        assert chosen == {"1\n": earlier, "n\n": new.run_id}.get(said)
        assert named_session(deps.store, "last") == (chosen or earlier)
