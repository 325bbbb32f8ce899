"""The files of a research: what is in view, and the findings by sub-question."""

import json
from pathlib import Path

from coreloop.answer.research import run_research
from researching import RIVER, deps_in, project

QUESTION = "How long is the Han river? Who painted the Mona Lisa?"


def test_the_files_of_a_research_show_its_findings_and_what_is_in_view(tmp_path: Path):
    with deps_in(project(tmp_path)) as deps:
        response = run_research(QUESTION, deps=deps, max_iters=1)
    folder = tmp_path / ".research" / "sessions" / response.run_id
    findings = (folder / "findings.md").read_text(encoding="utf-8")
    assert f"## q1 How long is the Han river?\n\n- ~ LIKELY {RIVER}" in findings
    assert findings.endswith("## q2 Who painted the Mona Lisa?\n\nopen\n")
    memory = json.loads((folder / "working_memory.json").read_bytes())
    assert memory["working"][0] == {"number": 1, "location": "docs/han.md", "iteration": 1}
    state = json.loads((folder / "state.json").read_bytes())
    assert {
        *("active_hypotheses", "all_hypotheses", "contradictions_found", "plan_queries"),
        *("failed_queries", "gaps", "findings", "sources", "answer"),
    } <= state.keys()
    assert state["answer"]["final_answer"] == response.final_answer
