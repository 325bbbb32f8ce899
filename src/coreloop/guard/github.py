"""What the guard reads from GitHub, takes back, and writes there."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from coreloop.base.errors import ForgeError, ForgeForbiddenError, ForgeNotFoundError
from coreloop.base.files import write_private
from coreloop.base.git.repository import Repository
from coreloop.base.github.connect import connect_api
from coreloop.base.github.github_api import GithubApi
from coreloop.guard import protection
from coreloop.guard.change import QUEUED, CheckInputs, read_change
from coreloop.guard.check import CONTEXT, Decision, check_event

_MERGED: Final = re.compile(r"\AMerge pull request #([0-9]{1,9}) |\A[^\n]*\(#([0-9]{1,9})\)\s*(?:\n|\Z)")
_LISTED: Final = list[dict[str, Any]]


def gather(out: Path, inputs: CheckInputs, environ: Mapping[str, str]) -> list[int]:
    """Write the pull requests of an event to ``pulls.json``, and return their numbers.

    Of promotions also their reviews (``reviews.json``), their commits (``commits.json``), who moved their
    branches, and what the rules of their base leave open.
    """
    required, numbers = _numbers(inputs)
    answers: dict[str, list[dict[str, Any]]] = {"pulls": [], "reviews": [], "commits": []}
    api = connect_api(inputs.folder, environ)
    for number in numbers:
        try:
            answer = api.get(f"/pulls/{number}", doing=f"read #{number}")
        except ForgeNotFoundError:
            if number == required:
                raise
            continue  # a subject may name an issue
        answers["pulls"].append(answer.decoded(dict[str, Any]))
    _write(out, answers)
    if check_event(replace(inputs, pulls=out / "pulls.json", reviews=None, commits=None)).coreloop:
        for pull in answers["pulls"]:
            _add_details(api, pull, answers, inputs.folder)
    _write(out, answers)
    return [pull["number"] for pull in answers["pulls"]]


def _numbers(inputs: CheckInputs) -> tuple[int | None, list[int]]:
    """The pull request of an event, and with it those that a group's commits and branches name."""
    change = read_change(replace(inputs, pulls=None, reviews=None, commits=None))
    numbers = [] if change.number is None else [change.number]
    if not change.is_group:
        return change.number, numbers
    repository = Repository(inputs.folder)
    messages = {its.sha: its.message for its in repository.log(change.head, exclude=change.base)}
    heads = repository.promotion_heads(repository.remote(), "gh-readonly-queue/")
    queued = [QUEUED.fullmatch(name) for name, commit in heads.items() if commit.sha in messages]
    matches = [*map(_MERGED.match, messages.values()), *queued]
    numbers += [int(match[1] or match[2]) for match in matches if match]
    return change.number, list(dict.fromkeys(numbers))


def _add_details(
    api: GithubApi, pull: dict[str, Any], answers: Mapping[str, list[dict[str, Any]]], folder: Path
) -> None:
    path, number, branch = f"/pulls/{pull['number']}", pull["number"], pull["head"]["ref"]
    answers["reviews"] += api.pages(f"{path}/reviews", _LISTED, doing=f"list reviews of #{number}")
    commits = api.pages(f"{path}/commits", _LISTED, doing=f"list commits of #{number}")
    answers["commits"] += ({**commit, "pull": number} for commit in commits)
    with suppress(ForgeNotFoundError, ForgeForbiddenError):  # older servers do not tell
        doing, ref = f"read the activity of {branch}", f"refs/heads/{branch}"
        pull["activity"] = list(api.pages("/activity", _LISTED, doing=doing, ref=ref))
    pull["notes"] = protection.read_open(api, folder, pull["base"]["ref"])


def _write(out: Path, answers: Mapping[str, list[dict[str, Any]]]) -> None:
    for name, content in answers.items():
        write_private(out / f"{name}.json", json.dumps(content).encode())


def act(inputs: CheckInputs, environ: Mapping[str, str], *, confirm: bool) -> tuple[list[str], list[str]]:
    """Take merge labels and auto-merge back; what was or would be done, and what GitHub refused.

    Without answers, because `gather` failed, the event alone decides.
    """
    if not all(path is None or path.is_file() for path in (inputs.reviews, inputs.pulls, inputs.commits)):
        inputs = replace(inputs, reviews=None, pulls=None, commits=None)
    decision = check_event(inputs)
    if not confirm or not decision.undo:
        return [f"{what} of #{number}" for number, what, _ in decision.undo], []
    done, failed = list[str](), list[str]()
    api = connect_api(inputs.folder, environ)
    for number, what, label in decision.undo:
        try:
            _take_off(api, number, label)
            done.append(f"{what} of #{number}")
        except ForgeError as error:  # the others may succeed
            failed.append(f"{what} of #{number}: {error}")
    return done, failed


def _take_off(api: GithubApi, number: int, label: str) -> None:
    """Take a label off, or turn auto-merge off; where GitHub refuses, the check stays red."""
    if label:
        with suppress(ForgeNotFoundError):  # it is off already
            path = f"/issues/{number}/labels/{quote(label, safe='')}"
            api.send("DELETE", path, doing=f"take the label {label} off")
        return
    pull = api.get(f"/pulls/{number}", doing=f"read #{number}").decoded(dict[str, Any])
    api.mutate("disablePullRequestAutoMerge", str(pull.get("node_id")))


def publish(inputs: CheckInputs, decision: Decision, environ: Mapping[str, str]) -> str | None:
    """Write a decision as the status of the head commit, which every event replaces; the commit.

    None for a fork, whose token cannot write: there the job itself is the check.
    """
    change = read_change(inputs)
    if not change.is_group and change.pulls[0].is_fork:
        return None
    passed = "a human approved exactly this" if decision.coreloop else "not a coreloop pull request"
    noted = (f"passes, but {note}" for note in decision.notes)
    text = next(iter((*decision.reasons, *decision.waits, *noted, passed)))
    # GitHub refuses longer descriptions
    # each base has its own status: two pull requests may have the same head
    context = f"{CONTEXT} ({change.other_base})" if change.other_base else CONTEXT
    body = {"state": decision.state, "context": context, "description": text[:140]}
    run = [environ.get(name) for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")]
    if all(run):
        body["target_url"] = f"{run[0]}/{run[1]}/actions/runs/{run[2]}"
    doing = f"write the status of {change.head[:12]}"
    connect_api(inputs.folder, environ).send("POST", f"/statuses/{change.head}", body, doing=doing)
    return change.head
