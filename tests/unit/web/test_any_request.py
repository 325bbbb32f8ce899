"""Requests that schemathesis makes up of the API's description: none is answered with 500."""

import subprocess
import sys
from pathlib import Path

import pytest

from serving import UNBOUNDED, served
from weekly import WEEKLY


@pytest.mark.slow
def test_every_answer_to_made_up_requests_is_a_described_one(tmp_path: Path):
    schemathesis = Path(sys.executable).with_name("schemathesis")
    with served(tmp_path, bounds=UNBOUNDED) as service:
        done = subprocess.run(
            [
                *(schemathesis, "run", f"{service.url}/openapi.json", "--no-color", "--seed", "7"),
                *("--max-examples", "10" if WEEKLY else "2", "--request-timeout", "20"),
                # what a schema cannot say is refused, too: a question without words
                *("--exclude-checks", "positive_data_acceptance"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        assert [line for line in service.lines if line["event"] in {"bug", "error"}] == []
