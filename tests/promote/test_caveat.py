"""Failures of real requests, mined, and promoted into the example shop as statements."""

import json
from pathlib import Path
from typing import Any

import pytest

from merging import read_trailers
from retail_shop import Shop, descriptions, git

pytestmark = pytest.mark.slow
KIND = "counterexamples"
TOOL = "get_return_refund_options"
CHANGED = "modify_pending_order_items"
STATEMENT = "- new_item_ids: never empty"


def statement(shop: Shop) -> dict[str, Any]:
    """The first statement of the night that the schema does not make redundant."""
    return next(one for one in shop.entries(KIND, "statements") if one["suggested_append"])


def test_dry_run_of_a_caveat_shows_section_title_and_replay_and_pushes_nothing(shop: Shop) -> None:
    first = statement(shop)
    assert (first["tool"], first["suggested_append"]["body"].splitlines()[0]) == (CHANGED, STATEMENT)
    before = shop.state()

    done = shop.promote(KIND, first["id"], "-v")

    assert f"::{CHANGED}, the end of its first block of text" in done.stdout
    assert "[CORELOOP-F] docs(" in done.stdout
    assert "replay   not-applicable" in done.stdout
    assert shop.state() == before


def test_a_description_beyond_a_cap_is_refused_whatever_is_allowed(shop: Shop) -> None:
    first = statement(shop)
    assert first["tool"] == CHANGED
    assert first["suggested_append"]["body"].startswith(STATEMENT)
    settings = shop.folder / "coreloop.yaml"
    settings.write_text(
        settings.read_text(encoding="utf-8").replace("schema]}", "schema], caps: {openai: 1024}}")
    )

    plan = json.loads(shop.promote(KIND, first["id"], "--json", "--allow-unreached").stdout)

    assert plan["reach"]["caps"] == {"openai": 1024}
    (reach,) = plan["obstacles"]
    assert reach.startswith("reach: every request to openai would fail")


def test_failing_calls_that_a_statement_explains_have_no_text_of_their_own(shop: Shop) -> None:
    found = shop.entries(KIND)
    assert found[0]["tool"] == TOOL
    assert [one["id"] for one in found if one["suggested_append"] is not None or not one["refused"]] == []

    done = shop.promote(KIND, found[0]["id"], "--confirm", "--allow-unreached")

    assert done.returncode == 1
    assert f"{found[0]['id']} has no text: a statement says when this tool fails" in done.stderr
    assert shop.branches() == []


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
