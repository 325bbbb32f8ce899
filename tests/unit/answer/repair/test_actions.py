"""Every signal in every round."""

from typing import get_args

from coreloop.answer.repair.actions import ACTIONS, Reason, Target, Targets, actions_for, jobs_for
from rows import each_row

FIND_ONE = ("index.file", "evidence.inject", "answer.strict")
FIND_TWO = ("index.module", "evidence.inject", "answer.other_model", "schema.link.suggest")
EXPECTED = {
    ("insufficient_evidence", 1): FIND_ONE,
    ("insufficient_evidence", 2): FIND_TWO,
    ("search_miss", 1): FIND_ONE,
    ("search_miss", 2): FIND_TWO,
    ("thumbs_down", 1): FIND_ONE,
    ("thumbs_down", 2): FIND_TWO,
    ("citation_missing", 1): ("answer.strict",),
    ("citation_missing", 2): ("answer.other_model",),
    ("citation_unsupported", 1): ("evidence.inject", "answer.strict"),
    ("citation_unsupported", 2): ("index.module", "answer.other_model"),
    ("contract_invalid", 1): ("answer.strict",),
    ("contract_invalid", 2): ("answer.other_model",),
    ("coverage_drop", 1): ("index.module",),
    ("coverage_drop", 2): (),
    ("io_gate_drop", 1): ("index.module",),
    ("io_gate_drop", 2): (),
}
TARGETS = Targets(
    run_id="01M8438MCTASSPZCKHJS9F19NB",
    question_key="k",
    files=(Target(path="docs/a.md", version="9-1"),),
    links=({"code_symbol": "a.py::total", "schema_ref": "b.yaml#/total", "reason": "both"},),
)


@each_row("key", EXPECTED)
def test_a_signal_has_its_actions(key: tuple[Reason, int]):
    reason, round_ = key
    assert actions_for([reason], round_) == EXPECTED[key]


def test_every_signal_is_in_the_table():
    assert set(ACTIONS) == set(get_args(Reason)) == {reason for reason, _ in EXPECTED}


def test_several_signals_have_each_action_once():
    assert actions_for(["citation_missing", "insufficient_evidence"], 1) == FIND_ONE


def test_the_same_content_makes_the_same_jobs():
    first = list(jobs_for(FIND_ONE + FIND_TWO, TARGETS))
    assert [job.key for job in first] == [
        "index.file docs/a.md 9-1",
        "evidence.inject k docs/a.md 9-1",
        "index.module docs/a.md 9-1",
        "evidence.inject k docs/a.md 9-1",
        "schema.link.suggest a.py::total b.yaml#/total",
    ]
    changed = Targets(run_id="r", question_key="k", files=(Target(path="docs/a.md", version="9-2"),))
    assert {job.key for job in jobs_for(FIND_ONE, changed)}.isdisjoint(job.key for job in first)


def test_the_queue_holds_no_text_of_users():
    payloads = [job.payload for job in jobs_for(FIND_ONE + FIND_TWO, TARGETS)]
    assert {key for payload in payloads for key in payload} <= {
        *("path", "recursive", "run", "kind"),
        *("code_symbol", "schema_ref", "reason"),
    }
