"""Merged lines that do too little are proposed to retire, once; in a full place the weakest gives way."""

import json
from functools import partial
from pathlib import Path

import pytest

from coreloop.base.errors import RefusedError
from coreloop.learn.effect.run import run_effect
from coreloop.promote.nightly import DraftState, prepare_retirements
from coreloop.promote.run import PromoteRequest, confirm_promotion, plan_promotion
from effects import FILE, Planted, Shop, at, git, make_shop, proposal_id, write_days
from github_stand_in import GithubStandIn
from promoting import ADDRESS, run_git, statement, write_counterexamples

PLANTED = (Planted("refund_order", 0.16, 0.15, 60), Planted("cancel_order", 0.3, 0.02, 60))
LINE = "- order_id: never empty"
ALLOWED = frozenset({"unreached", "unverified"})


@pytest.fixture
def shop(tmp_path: Path, quiet_git: None) -> Shop:
    settings = "docstring: {max_lines: 1}\n"
    shop = make_shop(tmp_path, PLANTED, settings=settings)
    write_days(shop, PLANTED, range(100))
    run_git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(shop.project.remote))
    shop.project.git("remote", "add", "origin", ADDRESS)
    shop.project.git("config", f"url.{shop.project.remote}.insteadOf", ADDRESS)
    shop.project.git("push", "--quiet", "--set-upstream", "origin", "main")
    return shop


@pytest.mark.slow
def test_a_line_without_effect_gets_one_draft_that_removes_it(
    shop: Shop, github: GithubStandIn, tmp_path: Path
):
    environ = {"GITHUB_TOKEN": github.token, "GITHUB_API_URL": github.url}
    night = partial(prepare_retirements, shop.workspace, tmp_path / "drafts", environ=environ, now=at(100))
    (outcome,) = night()
    assert (outcome.id, outcome.state) == (proposal_id(11), DraftState.PREPARED)
    assert outcome.text.startswith("retires it, since it removes less than half of its failures")
    branch = f"revert/{shop.shas['refund_order'][:12]}"
    diff = git(shop, "diff", f"main..origin/{branch}", "--", FILE)
    changed = [
        line for line in diff.splitlines() if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"}
    ]
    assert "-    - Always pass reason" in changed
    assert [line for line in changed if line.startswith("+")] == ['+    """Do refund_order."""']
    (again,) = night()
    assert again.state is DraftState.IN_REVIEW
    (draft,) = (tmp_path / "drafts").iterdir()
    assert json.loads(draft.read_bytes())["head"] == branch
    draft.unlink()
    github.add_pull(branch=branch, state="closed")
    (closed,) = night()
    assert closed.state is DraftState.IN_REVIEW
    assert not list((tmp_path / "drafts").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["refund_order", "cancel_order"])
def test_a_new_line_displaces_one_without_effect_and_none_that_helps(shop: Shop, tool: str):
    run_effect(shop.workspace, now=at(100))  # as the nightly status does
    path = shop.workspace.counterexamples_dir / "2026-04-25-counterexamples.json"
    append = {"target_file": FILE, "target_symbol": tool, "section": "Caveats", "body": LINE}
    write_counterexamples(path, statement(tool=tool, line=LINE, kind="presence", suggested_append=append))
    request = PromoteRequest(path=path, wanted="ce-2026-04-25-001")
    if tool == "cancel_order":  # its line helps, and what it is worth is not known
        with pytest.raises(RefusedError, match="none of them is known to be weaker"):
            plan_promotion(shop.workspace, request)
        return
    plan, _ = plan_promotion(shop.workspace, request)
    assert plan.edited.removed == ("- Always pass reason",)
    assert LINE in plan.edited.source.decode()


@pytest.mark.slow
def test_a_new_line_displaces_a_line_that_helps_only_if_it_is_worth_more(shop: Shop):
    run_effect(shop.workspace, now=at(100))
    old = "- Always pass reason"
    _write_worth(shop, "25", old, 12.0)
    for worth in (5.0, 12.0):
        request = _write_worth(shop, "26", LINE, worth)
        with pytest.raises(RefusedError, match="none of them is known to be weaker"):
            plan_promotion(shop.workspace, request)
    request = _write_worth(shop, "26", LINE, 20.0)
    result = confirm_promotion(shop.workspace, request, environ={}, now=at(100), warn=pytest.fail)
    git(shop, "fetch", "--quiet", "origin")
    before = git(shop, "show", f"main:{FILE}")
    git(shop, "merge", "--quiet", "--ff-only", f"origin/{result.done.branch}")
    after = git(shop, "show", f"main:{FILE}")
    assert (after.count(old), after.count(LINE)) == (before.count(old) - 1, 1)
    git(shop, "revert", "--no-edit", "HEAD")
    assert git(shop, "show", f"main:{FILE}") == before


def _write_worth(shop: Shop, day: str, line: str, wasted: float) -> PromoteRequest:
    """A night's proposal of a line for the tool whose line helps."""
    id, tool = f"ce-2026-04-{day}-001", "cancel_order"
    append = {"target_file": FILE, "target_symbol": tool, "section": "Caveats", "body": line}
    entry = statement(tool=tool, line=line, kind="presence", wasted=wasted, id=id, suggested_append=append)
    path = shop.workspace.counterexamples_dir / f"2026-04-{day}-counterexamples.json"
    write_counterexamples(path, entry, generated_at=f"2026-04-{day}T03:00:00+00:00")
    return PromoteRequest(path=path, wanted=id, overrides=ALLOWED)
