"""Runs of coding agents carry hypotheses and findings from report to report."""

from pathlib import Path

import orjson

import coreloop.answer.research.kind  # noqa: F401 (registers it)
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.agent.agent import KIND, record_report
from coreloop.runs.agent.next_step import next_step
from coreloop.runs.agent.report import read_report
from coreloop.runs.create import create_run
from coreloop.runs.load import load_run
from coreloop.runs.stores.store import open_store


def test_what_an_agent_reports_is_known_in_its_next_iteration(tmp_path: Path):
    with open_store(open_workspace(tmp_path)) as store:
        run_id = create_run(store, "why?", kind=KIND, drives_itself=True)
        for report in (
            {"hypotheses": ["Prices rose.", "Prices fell."], "sub_questions": ["Did prices rise?"]},
            {
                "findings": [
                    {
                        "text": "Prices rose by 8 %.",
                        "sources": ["https://a.example/1", "https://www.a.example/2", "https://b.example"],
                        "hypothesis": "h1",
                        "stance": "supports",
                    },
                    {"text": "Nobody knows.", "sources": [], "hypothesis": "h9", "stance": "contradicts"},
                ]
            },
        ):
            record_report(store, run_id, read_report(orjson.dumps(report)))
        known = next_step(store, load_run(store, run_id)[0].state)["knowledge"]
    assert [(one.id, one.confidence) for one in known["hypotheses"]] == [("h1", 0.6), ("h2", 0.5)]
    assert [(one.tag, one.confidence) for one in known["findings"]] == [
        ("✓✓ VERIFIED", 0.8),
        ("? UNCERTAIN", 0.0),
    ]
    orjson.dumps(known)
