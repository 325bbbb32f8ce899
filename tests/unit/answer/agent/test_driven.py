"""Under a driver, an agent's plan, sources and checked findings belong to the driver's run."""

import json
from pathlib import Path

import pytest

from acceptance.shell import Project
from walking import FILES, LENGTH, PARTS, QUESTION, SEOUL, SURVEY, finding

QUERIES = {
    "web": ("han river length", "seoul city waterways", "korean river tourism"),
    "academic": ("site:arxiv.org basin hydrology", "estuary sediment", "shoreline dataset", "tidal gauge"),
    "counter-evidence": ("han river length dispute", "survey error correction", "wrong source spring"),
}
AGENT = """
run() { python -m coreloop runs "$@"; }
run plan --file plan.json >plan.out && run read docs/han.md >han.out && run read docs/survey.md >survey.out
run record --file report.json >record.out; date +%N >changed
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prompt", "until", "status"),
    [
        (QUESTION, None, "completed"),
        (QUESTION, "false", "stopped"),
        ("Mend the tests of the shop.", None, "stopped"),
    ],
)
def test_checked_findings_about_the_prompt_complete_a_drivers_run_unless_a_command_ends_it(
    prompt: str, until: str | None, status: str, tmp_path: Path
):
    project = Project(tmp_path)
    for name, text in FILES.items():
        project.write(name, text)
    project.commit()
    candidates = [{"query": one, "intent": kind} for kind, texts in QUERIES.items() for one in texts]
    project.write("plan.json", json.dumps({"sub_questions": PARTS, "candidates": candidates}))
    searched = [{"query": one["query"], "results_count": 3, "success": True} for one in candidates]
    found = [finding(LENGTH, 1, "q1"), finding(SEOUL, 1, "q2"), finding(SURVEY, 2, "q3")]
    project.write("report.json", json.dumps({"queries": searched, "findings": found}))
    project.write("agent.sh", AGENT)
    project.write("PROMPT.md", prompt)
    options = ("--max-iterations", "2", "--prompt", "PROMPT.md", *(("--until", until) if until else ()))
    process = project.start("runs", "start", *options, "--", "sh", "agent.sh")
    _, err = process.communicate(timeout=120)
    state = project.shown()
    n_findings = [len(part["findings"]) for part in state["sub_questions"]]  # reported twice, counted once
    assert (state["status"], n_findings) == (status, [1, 1, 1]), err
