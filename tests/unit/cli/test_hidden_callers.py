"""Agents that hide from their ancestors: in a process namespace, or by the death of the driver."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.runs import person_or_agent
from coreloop.runs.stores.store import open_store
from rows import slow_after

RUNS = f"{sys.executable} -m coreloop runs"
HIDDEN = "unshare -Urpf --mount-proc"
IS_ALLOWED = (
    sys.platform == "linux"
    and subprocess.run([*HIDDEN.split(), "true"], capture_output=True, check=False).returncode == 0
)
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the mark is a limit of Linux"),
]
needs_namespaces = pytest.mark.skipif(not IS_ALLOWED, reason="this machine permits no process namespaces")


def plain() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("CLAUDE", "CORELOOP_"))}


def runs(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*RUNS.split(), *words]
    return subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False, timeout=120, env=plain()
    )


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def start(project: Path, script: str, *options: str) -> dict[str, Any]:
    done = runs(project, "start", "--json", "--max-iterations", "1", *options, "--", "sh", "-c", script)
    assert done.stdout, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


@needs_namespaces
@pytest.mark.parametrize(
    "verb", slow_after(1, ["stop --completed", "stop", "resume", "confirm --waive q1", "forget --confirm"])
)
def test_an_agent_in_a_namespace_of_its_own_is_still_the_agent(verb: str, tmp_path: Path):
    script = f"echo x > work; {HIDDEN} env -i {RUNS} {verb} 2> said; true"
    assert start(tmp_path, script)["status"] == "stopped"
    assert "an agent cannot" in (tmp_path / "said").read_text()


@pytest.mark.slow
@needs_namespaces
def test_a_caller_of_another_namespace_cannot_complete_a_run_at_work(tmp_path: Path):
    script = "touch ready; until test -e go; do sleep 0.05; done"
    command = [*RUNS.split(), "start", "--max-iterations", "1", "--", "sh", "-c", script]
    driver = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL, env=plain())
    try:
        wait_for(tmp_path / "ready")
        hidden = subprocess.run(
            [*HIDDEN.split(), *RUNS.split(), "stop", "--completed"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env=plain(),
        )
        assert "is driven in another container or process namespace" in hidden.stderr
        assert runs(tmp_path, "stop", "--completed").stdout.endswith("completed\n")
    finally:
        (tmp_path / "go").touch()
        driver.wait(60)


@pytest.mark.slow
def test_an_agent_that_pretends_to_descend_from_another_keeper_is_refused(tmp_path: Path):
    rich = start(tmp_path, "echo x > first", "--budget-usd", "900")["run_id"]
    keeper = tmp_path / "runs" / "driver" / "keeper.py"
    keeper.parent.mkdir(parents=True)
    nested = f"{RUNS} start --max-iterations 1 -- true"
    keeper.write_text(f"import os\nos.system({nested + ' 2> said'!r})\n")
    start(tmp_path, f"echo x > work; CORELOOP_RUN={rich} {sys.executable} {keeper}; true")
    assert "none could be charged" in (tmp_path / "said").read_text()


@pytest.mark.slow
def test_what_survives_the_death_of_keeper_and_driver_is_still_the_agent(tmp_path: Path):
    act = f"for verb in resume stop; do env -i {RUNS} $verb; done"
    waiting = "touch alive; until test -e dead; do sleep 0.05; done"
    survivor = f"setsid sh -c '{waiting}; {act}; touch done' > said 2>&1 &"
    # both are stopped before one is killed, so that neither sees the other's death
    killing = 'both="$(ps -o ppid= -p $PPID) $PPID"; kill -STOP $both; kill -KILL $both'
    script = f"{survivor} until test -e alive; do sleep 0.05; done; {killing}"
    command = [*RUNS.split(), "start", "--max-iterations", "1", "--", "sh", "-c", script]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, env=plain(), timeout=120)
    (tmp_path / "dead").touch()
    wait_for(tmp_path / "done")
    assert (tmp_path / "said").read_text().count("an agent cannot") == 2
    with open_store(open_workspace(tmp_path), environ={}) as store:
        assert [row.status for row in store.runs()] == ["running"]
    assert runs(tmp_path, "stop").stdout.endswith("stopped_by_user\n")


def test_without_proc_the_ancestors_are_read_by_ps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert person_or_agent.require_person("act", {}) == "person"
    monkeypatch.setattr(person_or_agent, "_PROC", tmp_path)
    assert person_or_agent.require_person("act", {}) == "person"
    monkeypatch.setattr(person_or_agent, "_PS", ("false",))
    assert person_or_agent.require_person("act", {}) == "unknown"


@pytest.mark.slow
def test_a_driven_run_is_completed_by_nobody_who_cannot_be_told(tmp_path: Path):
    start(tmp_path, "false", "--max-failures", "1")
    done = subprocess.run(
        [*RUNS.split(), "resume"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=plain() | {"CLAUDECODE": "1"},
    )
    assert "run it in a terminal of your own" in done.stderr
