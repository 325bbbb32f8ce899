"""A service that an agent starts has no more rights than the agent; a person's resumes no driven run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import UsageError
from coreloop.runs.manage import complete_run, create_run, pause_run, read_run, resume_run, stop_run
from coreloop.runs.stores.store import store_at
from driving import begin, state_at
from researching import project
from serving import served

RUNS = [sys.executable, "-m", "coreloop", "runs"]
AGENT = """
import json, os, subprocess, sys, urllib.error, urllib.request
environ = {} if sys.argv[1:] else dict(os.environ)
run_id = os.environ["CORELOOP_RUN"]
words = [sys.executable, "-m", "coreloop", "serve", "--port", "0", "--workers", "0", "--json"]
served = subprocess.Popen(words, stdout=subprocess.PIPE, env=environ, start_new_session=True)
url = json.loads(served.stdout.readline())["url"]
said = []
for verb in ("pause", "resume", "stop"):
    request = urllib.request.Request(f"{url}/runs/{run_id}/{verb}", method="POST")
    try:
        said.append(urllib.request.urlopen(request).status)
    except urllib.error.HTTPError as error:
        said.append([error.code, error.read().decode()])
with open("said", "w") as file:
    json.dump(said, file)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ancestors are read from /proc")
@pytest.mark.parametrize("plain", [(), ("env -i",)])
def test_a_service_that_the_agent_starts_does_not_end_its_run(plain: tuple[str, ...], tmp_path: Path):
    project(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    words = ["start", "--json", "--max-iterations", "1", "--", sys.executable, "agent.py", *plain]
    done = subprocess.run([*RUNS, *words], cwd=tmp_path, capture_output=True, check=False)
    said = json.loads((tmp_path / "said").read_text())
    assert [answer[0] for answer in said] == [422, 422, 422]
    assert ["an agent cannot" in answer[1] for answer in said] == [True, False, True]
    assert "a command drives this run" in said[1][1]
    assert json.loads(done.stdout)["stop_reason"] == "max_iterations"


@pytest.mark.slow
def test_a_service_stops_a_driven_run_and_does_not_resume_it(tmp_path: Path):
    run_id = begin(tmp_path, "echo x >> work", max_iterations=1)
    environ = {name: "" for name in os.environ if name.startswith(("CLAUDE", "CORELOOP_"))}
    with served(tmp_path, environ=environ) as service, service.client() as client:
        assert client.post(f"/runs/{run_id}/pause").json()["status"] == "paused"
        refused = client.post(f"/runs/{run_id}/resume")
        assert (refused.status_code, state_at(tmp_path, run_id).status) == (422, "paused")
        assert f"runs resume {run_id}" in refused.text
        assert client.post(f"/runs/{run_id}/stop").json()["status"] == "stopped_by_user"


@pytest.mark.parametrize("tell", [pause_run, resume_run, stop_run, complete_run])
def test_a_store_of_an_agents_process_takes_no_word_about_its_run_or_another(tell: Any, tmp_path: Path):
    with store_at(tmp_path / "runs.db") as store:
        own, other = (create_run(store, "why?", kind="driven") for _ in range(2))
        store.parent = own
        nested = create_run(store, "how?", kind="research")
        for run_id in (own, other):
            with pytest.raises(UsageError, match="an agent cannot"):
                tell(store, run_id)
        tell(store, nested)
        assert read_run(store, own).status == read_run(store, other).status == "running"
