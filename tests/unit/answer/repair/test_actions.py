"""The jobs of signals: the same for the same content, and without text of users."""

from typing import get_args

from coreloop.answer.repair.actions import ACTIONS, Reason, Targets, actions_for, jobs_for
from coreloop.answer.search.index.tree import File

BOTH = tuple(action for round_ in (1, 2) for action in actions_for(["insufficient_evidence"], round_))
TARGETS = Targets(
    run_id="01M8438MCTASSPZCKHJS9F19NB",
    question_key="k",
    files=(File("docs/a.md", 9, 1),),
    links=({"code_symbol": "a.py::total", "schema_ref": "b.yaml#/total", "reason": "both"},),
)


def test_every_signal_has_actions():
    assert set(ACTIONS) == set(get_args(Reason))


def test_the_same_content_makes_the_same_jobs_without_text_of_users():
    jobs = list(jobs_for(BOTH, TARGETS))
    assert [job.key for job in jobs] == [
        "index.file docs/a.md 9-1",
        "evidence.inject k docs/a.md 9-1",
        "index.module docs/a.md 9-1",
        "evidence.inject k docs/a.md 9-1",
        "schema.link.suggest a.py::total b.yaml#/total",
    ]
    changed = Targets(run_id="r", question_key="k", files=(File("docs/a.md", 9, 2),))
    assert {job.key for job in jobs_for(BOTH, changed)}.isdisjoint(job.key for job in jobs)
    assert {key for job in jobs for key in job.payload} == {
        *("path", "recursive", "run"),
        *("code_symbol", "schema_ref", "reason"),
    }
