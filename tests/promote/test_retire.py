"""Merged lines that do too little are proposed to retire, once; in a full place the weakest gives way."""

from pathlib import Path

import pytest

from coreloop.base.errors import RefusedError
from coreloop.base.project.settings import DocstringSettings
from coreloop.learn.effect.run import run_effect
from coreloop.promote.budget import displaced, weak_lines
from coreloop.promote.nightly import DraftState, open_retirements
from coreloop.promote.run import PromoteRequest, plan_promotion
from effects import FILE, Planted, Shop, at, git, make_shop, proposal_id, write_days
from promoting import run_git, statement, write_counterexamples

PLANTED = (Planted("refund_order", 0.16, 0.15, 60), Planted("cancel_order", 0.3, 0.02, 60))
LINE = "- order_id: never empty"


@pytest.fixture
def shop(tmp_path: Path, quiet_git: None) -> Shop:
    settings = "docstring: {max_lines: 1}\n"
    shop = make_shop(tmp_path, PLANTED, settings=settings)
    write_days(shop, PLANTED, range(100))
    run_git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(shop.project.remote))
    shop.project.git("remote", "add", "origin", str(shop.project.remote))
    shop.project.git("push", "--quiet", "--set-upstream", "origin", "main")
    return shop


def test_a_line_without_effect_gets_one_draft_that_removes_it(shop: Shop):
    (outcome,) = open_retirements(shop.workspace, environ={}, now=at(100))
    assert (outcome.id, outcome.state) == (proposal_id(11), DraftState.OPENED)
    assert outcome.text.startswith("retires it, since it removes less than half of its failures")
    branch = f"revert/{shop.shas['refund_order'][:12]}"
    diff = git(shop, "diff", f"main..origin/{branch}", "--", FILE)
    changed = [
        line for line in diff.splitlines() if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"}
    ]
    assert "-    - Always pass reason" in changed
    assert not [line for line in changed if line.startswith("+") and line.strip("+ ")]
    (again,) = open_retirements(shop.workspace, environ={}, now=at(100))
    assert again.state is DraftState.IN_REVIEW


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["refund_order", "cancel_order"])
def test_a_new_line_displaces_one_without_effect_and_none_that_helps(shop: Shop, tool: str):
    run_effect(shop.workspace, now=at(100))  # as the nightly status does
    path = shop.workspace.counterexamples_dir / "2026-04-25-counterexamples.json"
    append = {"target_file": FILE, "target_symbol": tool, "section": "Caveats", "body": LINE}
    write_counterexamples(path, statement(tool=tool, line=LINE, kind="presence", suggested_append=append))
    request = PromoteRequest(path=path, wanted="ce-2026-04-25-001")
    if tool == "cancel_order":
        with pytest.raises(RefusedError, match="none of them is known to be weaker"):
            plan_promotion(shop.workspace, request)
        return
    plan = plan_promotion(shop.workspace, request).plan
    assert plan.edited.removed == ("- Always pass reason",)
    assert LINE in plan.edited.source.decode()


def test_the_weakest_go_first_and_only_as_many_as_must():
    budget = DocstringSettings(max_lines=2, max_chars=40)
    assert displaced(["- a", "- b"], ["- c"], ["- b", "- a"], budget) == ["- b"]
    assert displaced(["- a"], ["- c"], ["- a"], budget) == []
    assert displaced(["- a"], ["- " + 37 * "c"], ["- a"], budget) == ["- a"]
    with pytest.raises(RefusedError):
        displaced(["- a", "- b"], ["- c"], [], budget)


@pytest.mark.slow
def test_lines_of_other_descriptions_are_not_weak_here(shop: Shop):
    found = run_effect(shop.workspace, now=at(100)).effects
    assert weak_lines(found, f"{FILE}::refund_order:7") == ("- Always pass reason",)
    assert weak_lines(found, f"{FILE}::cancel_order") == ()
