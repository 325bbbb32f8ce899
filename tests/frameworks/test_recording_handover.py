"""A hand-over is a call in the record of the one request that both agents answer."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from coreloop.base.error_classes import error_class
from frameworks.environments import HERE, interpreter
from frameworks.planned import expected, plan

pytestmark = pytest.mark.frameworks


def test_hand_over_stands_between_the_calls_of_both_agents(tmp_path: Path) -> None:
    requests = plan(seed=7, n_requests=50)
    (tmp_path / "plan.json").write_text(json.dumps(requests), encoding="utf-8")
    done = subprocess.run(
        [
            interpreter("openai-agents", records=True),
            HERE / "drives" / "handing_over.py",
            "plan.json",
            "data",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1] / "src")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {}
    days = (tmp_path / "data" / "audit" / "ai-ask").glob("*.jsonl")
    records = [json.loads(line) for day in days for line in day.read_text(encoding="utf-8").splitlines()]
    assert len(records) == len(requests)
    by_question = {record["question"]: record for record in records}
    for request in requests:
        record = by_question[request["question"]]
        shown = [
            (
                call["name"],
                call["ok"],
                error_class(call["error"]) if call.get("error") else None,
                tuple(sorted(call["args"])),
            )
            for call in record["tool_calls"]
        ]
        first = len(request["rounds"][0])
        planned = expected(request)
        planned = [*planned[:first], ("transfer_to_booker", True, None, ()), *planned[first:]]
        assert shown == planned[: len(shown)], request
        assert len(shown) + record.get("tool_calls_omitted", 0) == len(planned)
        assert (record["error"], record["chunk_len"]) == (None, len("done"))
