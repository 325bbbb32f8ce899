"""Sessions: which research a name means, and what a person chooses to continue."""

from functools import partial
from pathlib import Path

import pytest

from coreloop.answer.research.earlier_researches import named_session, read_session
from coreloop.answer.research.research_state import Request
from coreloop.answer.research.run import begin_research, run_research
from coreloop.base.errors import RunNotFoundError
from coreloop.cli.choose_session import choose_session
from coreloop.runs.manage import create_run
from researching import deps_in, project

ASKED = ("How long is the Han river?", "How long is the Nakdong river?", "Who painted the Mona Lisa?")


def test_the_newest_research_is_named_by_last_and_other_runs_are_none(tmp_path: Path):
    with deps_in(project(tmp_path)) as deps:
        with pytest.raises(RunNotFoundError, match="no research yet"):
            named_session(deps.store, "last")
        newest = max(begin_research(question, Request(), deps) for question in ASKED)
        other = create_run(deps.store, "?", kind="agent")
        assert named_session(deps.store, "last") == newest
        with pytest.raises(RunNotFoundError, match="is no research, but agent"):
            read_session(deps.store, other)


def test_nobody_is_asked_without_a_terminal_or_about_what_is_over(tmp_path: Path):
    with deps_in(project(tmp_path)) as deps:
        run_research(ASKED[0], deps=deps)
        begin = partial(begin_research, ASKED[0], Request(), deps)
        begun = [choose_session(deps, ASKED[0], None, begin=begin, is_asked=True)]
        begun.append(choose_session(deps, ASKED[0], None, begin=begin, is_asked=False))
        begun.append(choose_session(deps, ASKED[0], "new", begin=begin, is_asked=True))
        assert len({*begun, *(row.run_id for row in deps.store.runs(limit=9))}) == 4
