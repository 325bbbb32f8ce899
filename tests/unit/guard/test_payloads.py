"""GitHub's own example events: read as they are, turned into a promotion's, and the missing ones derived.

tests/webhooks/install.sh fetches them; what was derived is held against GitHub's schemas.
"""

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from coreloop.guard.decision import GuardDecision
from coreloop.guard.event import MergeGroupEvent, PullRequestEvent, read_event
from coreloop.guard.policy import decide

from guarding import HEAD, approval, commit, facts, file, pull

PACKAGES = Path(__file__).parents[2] / ".webhooks/node_modules/@octokit"
EXAMPLES = PACKAGES / "webhooks-examples/api.github.com/index.json"
SCHEMA = PACKAGES / "webhooks-schemas/schema.json"
Payload = dict[str, Any]

pytestmark = pytest.mark.skipif(
    not (EXAMPLES.is_file() and SCHEMA.is_file()),
    reason="GitHub's example events are not installed: run tests/webhooks/install.sh",
)
AUTO_MERGE = {"merge_method": "squash", "commit_title": "x", "commit_message": "y"}


@cache
def examples(name: str) -> tuple[Payload, ...]:
    events = json.loads(EXAMPLES.read_bytes())
    return next(tuple(entry["examples"]) for entry in events if entry["name"] == name)


def example(action: str) -> Payload:
    return copy.deepcopy(next(entry for entry in examples("pull_request") if entry["action"] == action))


@cache
def schema() -> Payload:
    return json.loads(SCHEMA.read_bytes())


def validated(payload: Payload, kind: str) -> Payload:
    """The payload, once GitHub's schema has accepted it."""
    wanted = {"$ref": f"#/definitions/{kind}", "definitions": schema()["definitions"]}
    jsonschema.Draft7Validator(wanted).validate(payload)
    return payload


def promoted(payload: Payload, **changes: Any) -> Payload:
    """An example with the words of a promotion."""
    entry, good = payload["pull_request"], pull()
    entry["title"], entry["body"], entry["labels"] = good.title, good.body, []
    entry["head"] |= {"ref": good.branch, "sha": HEAD, "repo": entry["base"]["repo"]}
    entry["draft"] = True
    return payload | changes


def derived(action: str) -> Payload:
    """An event of which there is no example, made from one that there is."""
    payload = promoted(example("synchronize"), action=action)
    for name in ("before", "after"):
        del payload[name]
    if action == "edited":
        payload["changes"] = {"title": {"from": payload["pull_request"]["title"]}}
        payload["pull_request"]["title"] = "docs: better words"
    if action == "auto_merge_enabled":
        payload["reason"] = ""
        payload["pull_request"]["auto_merge"] = AUTO_MERGE | {"enabled_by": payload["sender"]}
    return validated(payload, f"pull_request${action}")


def decided(payload: Payload, tmp_path: Path, name: str = "pull_request", **changes: Any) -> GuardDecision:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(payload), encoding="utf-8")
    return decide(read_event(path, name), facts(**changes))


def test_every_example_of_a_pull_request_is_read_and_goes_on(tmp_path: Path):
    assert len(examples("pull_request")) == 29
    for payload in examples("pull_request"):
        assert decided(payload, tmp_path, commits=(commit("fix: x"),), files={}) == GuardDecision()


def test_every_example_as_a_promotion_goes_on(tmp_path: Path):
    for payload in map(copy.deepcopy, examples("pull_request")):
        decision = decided(promoted(payload), tmp_path)
        assert decision.claims, payload["action"]
        assert decision.reasons == (), payload["action"]


def test_out_of_draft_it_waits_for_an_approval_whoever_took_it_out(tmp_path: Path):
    payload = promoted(example("ready_for_review"))
    payload["pull_request"]["draft"] = False
    reviewed = (approval(pull=payload["pull_request"]["number"]),)
    assert decided(payload, tmp_path, reviews=reviewed).reasons == ()
    payload["sender"] |= {"login": "merger[bot]", "type": "Bot"}
    decision = decided(validated(payload, "pull_request$ready_for_review"), tmp_path)
    assert (decision.state, decision.passes) == ("pending", False)
    assert any("waits for approval" in entry for entry in decision.waits)


def test_a_label_of_an_example_stops_it(tmp_path: Path):
    payload = promoted(example("labeled"))
    payload["label"]["name"] = "Auto Merge"
    payload["pull_request"]["labels"] = [payload["label"]]
    (reason,) = decided(validated(payload, "pull_request$labeled"), tmp_path).reasons
    assert "the label Auto Merge" in reason


def test_a_title_that_was_edited_stops_it(tmp_path: Path):
    decision = decided(derived("edited"), tmp_path)
    assert any("its title is not its commit's subject" in entry for entry in decision.reasons)


def test_auto_merge_that_was_enabled_stops_it(tmp_path: Path):
    (reason,) = decided(derived("auto_merge_enabled"), tmp_path).reasons
    assert "auto-merge of" in reason


def test_the_queue_waits_for_a_review(tmp_path: Path):
    payload = derived("enqueued")
    assert decided(payload, tmp_path).state == "pending"
    reviewed = (approval(pull=payload["pull_request"]["number"]),)
    assert decided(payload, tmp_path, reviews=reviewed).reasons == ()


def test_every_example_of_a_merge_group_is_read(tmp_path: Path):
    assert len(examples("merge_group")) == 2
    for payload in examples("merge_group"):
        path = tmp_path / "event.json"
        path.write_text(json.dumps(payload))
        event = read_event(path, "merge_group")
        assert isinstance(event, MergeGroupEvent)
        assert event.number == 104
        ordinary = {"commits": (commit("fix: x"),), "files": {}}
        assert decided(payload, tmp_path, "merge_group", **ordinary) == GuardDecision()
        assert decided(payload, tmp_path, "merge_group", files={HEAD: (file(),)}).reasons
        reviewed = (approval(pull=104),)
        group = {"pulls": (pull(number=104),), "reviews": reviewed}
        assert decided(payload, tmp_path, "merge_group", **group).reasons == ()


def test_a_deleted_fork_and_a_ghost_are_read(tmp_path: Path):
    payload = promoted(example("synchronize"))
    payload["pull_request"]["head"]["repo"] = None
    payload["pull_request"]["user"] = None
    path = tmp_path / "event.json"
    path.write_text(json.dumps(payload))
    event = read_event(path, "pull_request")
    assert isinstance(event, PullRequestEvent)
    assert (event.pull.same_repo, event.pull.author.human) == (False, False)
    assert any("another repository" in entry for entry in decided(payload, tmp_path).reasons)
