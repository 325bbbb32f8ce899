"""Measuring lines of the demo with the real command, against an endpoint whose behaviour is known."""

import json
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from model_stand_in import Act, ModelStandIn, answers, model_stand_in

pytestmark = pytest.mark.slow
LINE = "priority: one of high, low, normal, urgent"
KEPT = ("measured.jsonl", "measured-replies.jsonl")

Command = Callable[..., "subprocess.CompletedProcess[str]"]


class Always(list[Act]):
    """One act for every request."""

    def pop(self, _: Any = None) -> Act:
        return self[0]


def obeys(stand_in: ModelStandIn, *, with_line: str, without: str) -> None:
    """Reply with the priority of a description, and with the right call if it is told."""

    def act(handler: Any) -> None:
        system, user = (message["content"] for message in stand_in.bodies[-1]["messages"])
        stated = re.search(r"The right next call is (\{.*\})\. Make it", user)
        priority = with_line if LINE in system else without
        call = {"tool": "update_ticket", "arguments": {"ticket_id": "T-1", "priority": priority}}
        choice = {"message": {"content": stated[1] if stated else json.dumps(call)}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1000, "completion_tokens": 30}
        answers(200, {"model": "m", "choices": [choice], "usage": usage})(handler)

    stand_in.acts = Always([act])
    stand_in.bodies.clear()


@pytest.fixture(scope="module")
def helpdesk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "helpdesk"
    subprocess.run(
        [sys.executable, "-m", "coreloop", "demo", "--out", folder], check=True, capture_output=True
    )
    heads = subprocess.run(
        ["git", "branch", "--format=%(refname:short)"], cwd=folder, capture_output=True, text=True, check=True
    )
    for name in heads.stdout.split():
        if name.startswith("skill/"):
            subprocess.run(["git", "branch", "-D", name], cwd=folder, capture_output=True, check=True)
    return folder


def n_asked_without_a_break(folder: Path, model: ModelStandIn, command: Command) -> int:
    """What is asked of these records: which contexts are drawn hangs on the ids of the requests."""
    for name in KEPT:
        (folder / "data" / "audit" / name).unlink()
    obeys(model, with_line="high", without="critical")
    assert "helps" in command(folder, "measure", *entry(folder), "--contexts", "20").stdout
    return len(model.bodies)


@pytest.fixture
def model(helpdesk: Path) -> Iterator[ModelStandIn]:
    with model_stand_in() as stand_in:
        settings = helpdesk / "coreloop.yaml"
        text = settings.read_text().partition("endpoints:")[0]
        settings.write_text(f'{text}endpoints: {{here: {{url: "{stand_in.url}"}}}}\nmodel: here:m\n')
        for name in KEPT:
            (helpdesk / "data" / "audit" / name).unlink(missing_ok=True)
        yield stand_in


def entry(folder: Path) -> tuple[str, ...]:
    """The options that name the statement of the line."""
    for path in (folder / "data" / "audit").glob("c*/*.json"):
        for found in json.loads(path.read_text()).get("statements", ()):
            if found["line"] == f"- {LINE}":
                return "--candidate", str(path), "--id", found["id"]
    raise AssertionError(LINE)


def test_a_line_that_helps_says_so_in_the_pull_request(
    helpdesk: Path, model: ModelStandIn, command: Command
) -> None:
    obeys(model, with_line="high", without="critical")
    done = command(helpdesk, "measure", *entry(helpdesk))
    assert done.returncode == 0, done.stderr
    assert "helps" in done.stdout
    assert "100% with it" in done.stdout
    n_asked = len(model.bodies)
    assert command(helpdesk, "measure", *entry(helpdesk)).stdout == done.stdout
    assert len(model.bodies) == n_asked, "kept replies were asked for again"
    plan = command(helpdesk, "promote", *entry(helpdesk), "-v").stdout
    assert "Measured: helps" in plan
    assert "## What a model does with it" in plan
    assert "T-1" not in (helpdesk / "data" / "audit" / "measured.jsonl").read_text()


def test_a_line_that_hurts_is_promoted_only_if_a_person_allows_it(
    helpdesk: Path, model: ModelStandIn, command: Command
) -> None:
    obeys(model, with_line="critical", without="high")
    done = command(helpdesk, "measure", *entry(helpdesk))
    assert done.returncode == 1
    assert "hurts" in done.stdout
    stopped = command(helpdesk, "promote", *entry(helpdesk))
    assert stopped.returncode == 1
    assert "--allow-harm goes on" in stopped.stdout
    allowed = command(helpdesk, "promote", *entry(helpdesk), "--allow-harm", "-v")
    assert allowed.returncode == 0, allowed.stdout
    assert "> **Note:** measured: hurts" in allowed.stdout


def test_a_budget_ends_it_and_the_next_run_goes_on(
    helpdesk: Path, model: ModelStandIn, command: Command
) -> None:
    obeys(model, with_line="high", without="critical")
    settings = helpdesk / "coreloop.yaml"
    settings.write_text(f'{settings.read_text()}prices: {{"here:m": {{input: 100, output: 100}}}}\n')
    words = ("measure", *entry(helpdesk), "--contexts", "20")
    done = command(helpdesk, *words, "--budget-usd", "5")
    assert "the budget is spent" in done.stdout
    n_asked = len(model.bodies)
    assert n_asked < 60
    model.bodies.clear()
    assert "helps" in command(helpdesk, *words).stdout
    n_asked += len(model.bodies)
    assert n_asked == n_asked_without_a_break(helpdesk, model, command)


def test_an_endpoint_that_fails_is_an_error_and_another_machine_needs_a_confirmation(
    helpdesk: Path, model: ModelStandIn, command: Command
) -> None:
    model.acts = Always([answers(401, {"error": {"message": "no such key"}})])
    done = command(helpdesk, "measure", *entry(helpdesk))
    assert done.returncode == 5
    assert "no such key" in done.stderr
    settings = helpdesk / "coreloop.yaml"
    settings.write_text(settings.read_text().replace("127.0.0.1", "models.example"))
    done = command(helpdesk, "measure", *entry(helpdesk))
    assert (done.returncode, done.stdout) == (0, "")
    assert "add --confirm" in done.stderr


def started(folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "coreloop", "measure", *entry(folder), "--contexts", "20"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def test_what_was_paid_for_is_not_asked_again_after_kills(
    helpdesk: Path, model: ModelStandIn, command: Command
) -> None:
    obeys(model, with_line="high", without="critical")
    reply, draw, n_killed = model.acts[0], random.Random(1), 0
    while True:
        process = started(helpdesk)
        left = draw.randrange(20, 34)  # of all replies: three processes are killed

        def act(handler: Any, process: "subprocess.Popen[str]" = process) -> None:
            nonlocal left
            left -= 1
            reply(handler)  # paid for; then the process may end before, while or after it keeps the reply
            if left == 0:
                process.kill()

        model.acts = Always([act])
        output = process.communicate()[0]
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        n_killed += 1
    assert n_killed > 2
    assert "100% with it" in output
    asked = Counter(json.dumps(body, sort_keys=True) for body in model.bodies)
    # a reply that was under way when its process was killed was never heard of
    assert len(model.bodies) - len(asked) <= n_killed
    assert len(asked) == n_asked_without_a_break(helpdesk, model, command)


def test_two_processes_at_once_come_to_the_same_and_lose_no_reply(
    helpdesk: Path, model: ModelStandIn
) -> None:
    obeys(model, with_line="high", without="critical")
    both = [started(helpdesk) for _ in range(2)]
    outputs = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert outputs[0] == outputs[1]
    assert "100% with it" in outputs[0]
    n_asked = len(model.bodies)
    assert started(helpdesk).communicate()[0] == outputs[0]
    assert len(model.bodies) == n_asked
