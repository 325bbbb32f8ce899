"""Failures of real requests, mined, and promoted into the example shop as statements."""

import json
from pathlib import Path
from typing import Any

import pytest

from merging import read_trailers
from retail_shop import Shop, descriptions, git

pytestmark = pytest.mark.slow
KIND = "counterexamples"
CHANGED = "modify_pending_order_items"


def statement(shop: Shop) -> dict[str, Any]:
    """The first statement of the night that the schema does not make redundant."""
    return next(one for one in shop.entries(KIND, "statements") if one["suggested_append"])


def test_confirmed_caveat_is_one_commit_that_the_next_refine_knows(shop: Shop, tmp_path: Path) -> None:
    first = statement(shop)
    questions = [one["question"] for failing in shop.entries(KIND) for one in failing["examples"]]
    questions += first["example_questions"]
    lines = first["suggested_append"]["body"].splitlines()
    before = descriptions(shop.folder)

    done = shop.promote(KIND, first["id"], "--confirm", "--allow-unreached")

    assert done.returncode == 0, done.stderr
    (branch,) = shop.branches()
    assert branch.startswith(f"skill/caveat-{CHANGED.replace('_', '-')}-general-")
    assert git(shop.remote, "rev-list", "--count", f"main..{branch}").strip() == "1"
    message = git(shop.remote, "log", "-1", "--format=%B", branch)
    assert message.startswith("[CORELOOP-F] docs(")
    trailers = read_trailers(message)
    assert trailers["Phase"] == "F"
    assert trailers["Candidate-Key"] == first["key"]
    assert trailers["Replay"].startswith("not-applicable")
    figures = (trailers["Evidence"], trailers["Observed"], trailers["Success-Rate"])
    assert figures == ("185 of 196 calls, otherwise 0 of 23", "219", "0.944")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", branch, str(shop.remote), str(clone))
    after = descriptions(clone)
    received, sent_before = (" ".join(text[CHANGED].split()) for text in (after, before))
    assert received.replace(f" {' '.join(lines)}", "") == sent_before != received
    assert {**after, CHANGED: ""} == {**before, CHANGED: ""}
    sent = git(shop.remote, "show", "--format=", branch)
    assert questions
    assert not any(text in sent + message for text in questions)
    templates = [one["error_template"] for one in shop.entries(KIND) if one["error_template"]]
    assert templates
    assert not any(text in sent + message for text in templates)

    again = shop.promote(KIND, first["id"], "--confirm", "--allow-unreached", "--json")

    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["fresh"] is False
    assert shop.branches() == [branch]
    mined = shop.mine("refine")
    keys = {one["key"] for one in (*mined["statements"], *mined["counterexamples"])}
    assert first["key"] not in keys
    assert keys
