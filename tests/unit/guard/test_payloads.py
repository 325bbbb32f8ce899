"""GitHub's own example events, as they are and as a promotion's; tests/webhooks/install.sh fetches them."""

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from coreloop.guard.change import CheckInputs, read_change
from coreloop.guard.check import Decision, check_event
from guard_bench import MESSAGE, Bench
from guarding import commit_json, pull, review_json

PACKAGES = Path(__file__).parents[2] / ".webhooks/node_modules/@octokit"
EXAMPLES = PACKAGES / "webhooks-examples/api.github.com/index.json"
Payload = dict[str, Any]

pytestmark = pytest.mark.skipif(
    not EXAMPLES.is_file(), reason="GitHub's example events are not installed: run tests/webhooks/install.sh"
)


@cache
def examples(name: str) -> tuple[Payload, ...]:
    events = json.loads(EXAMPLES.read_bytes())
    return next(tuple(entry["examples"]) for entry in events if entry["name"] == name)


def example(action: str) -> Payload:
    return copy.deepcopy(next(entry for entry in examples("pull_request") if entry["action"] == action))


Decide = Callable[..., Decision]


@pytest.fixture
def decide(bench: Bench, tmp_path: Path) -> Decide:
    """Decide on an example whose pull request is a promotion, or somebody's own work, of this repository."""
    shas = {"base": bench.git("rev-parse", "main"), "promotion": bench.promote()}
    bench.git("switch", "--quiet", "main")
    bench.start("work")
    shas["work"] = bench.write(b"x = 1\n", "fix: x", "other.py")
    bench.git("switch", "--quiet", "main")

    def decide(payload: Payload, *, promotes: bool = True, approved: bool = False) -> Decision:
        entry = payload["pull_request"]
        entry["base"]["sha"], entry["head"]["sha"] = shas["base"], shas["promotion" if promotes else "work"]
        head, number = entry["head"]["sha"], entry["number"]
        reviews = [review_json(sha=head, number=number)] if approved else []
        answers = {
            "event": payload,
            "reviews": reviews,
            "commits": [commit_json(head, verified=True, number=number)],
        }
        for name, content in answers.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        paths = {name: tmp_path / f"{name}.json" for name in answers}
        return check_event(CheckInputs(event_name="pull_request", folder=bench.project.root, **paths))

    return decide


def promoted(payload: Payload, **changes: Any) -> Payload:
    """An example with the words of a promotion."""
    entry, good = payload["pull_request"], MESSAGE
    entry["title"], _, entry["body"] = good.partition("\n\n")
    entry["labels"], entry["draft"] = [], True
    entry["head"] |= {"ref": pull().branch, "repo": entry["base"]["repo"]}
    return payload | changes


def test_every_example_of_a_pull_request_is_decided(decide: Decide):
    assert len(examples("pull_request")) == 29
    for payload in map(copy.deepcopy, examples("pull_request")):
        assert decide(payload, promotes=False) == Decision()
        decision = decide(promoted(payload))
        assert (decision.coreloop, decision.state) == (True, "pending"), (payload["action"], decision)


def test_an_approval_makes_an_example_green_whoever_sent_it(decide: Decide):
    payload = promoted(example("ready_for_review"))
    payload["pull_request"]["draft"] = False
    payload["sender"] |= {"login": "merger[bot]", "type": "Bot"}
    assert decide(payload, approved=True).state == "success"


def test_every_example_of_a_merge_group_is_read(bench: Bench, tmp_path: Path):
    assert len(examples("merge_group")) == 2
    for payload in examples("merge_group"):
        path = tmp_path / "event.json"
        path.write_text(json.dumps(payload))
        change = read_change(CheckInputs(event=path, event_name="merge_group", folder=tmp_path))
        assert (change.is_group, change.number, len(change.head)) == (True, 104, 40)


def test_a_deleted_fork_and_a_ghost_are_read(decide: Decide):
    payload = promoted(example("synchronize"))
    payload["pull_request"]["head"]["repo"] = None
    payload["pull_request"]["user"] = None
    (reason,) = decide(payload, approved=True).reasons
    assert "comes from a fork" in reason
