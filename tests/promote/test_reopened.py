"""A failure that comes back after its line helped opens the proposal again, until it is merged anew."""

from datetime import timedelta
from pathlib import Path

import pytest

from coreloop.base.date_range import Days
from coreloop.base.errors import HumanDecidesError, RefusedError
from coreloop.base.project.workspace import Workspace
from coreloop.learn.effect.run import run_effect
from coreloop.learn.line import statement_key
from coreloop.learn.proposals.entry import Statement
from coreloop.learn.propose import RefineRequest, run_refine
from coreloop.learn.verdicts.judge import judge
from coreloop.learn.verdicts.proposal_state import ProposalState, kept_states, states_by_key
from coreloop.observe.judgments import VerdictLetter, read_verdicts
from coreloop.promote.plan import Overrides
from coreloop.promote.run import PromoteRequest, PromoteResult, confirm_promotion, plan_promotion
from effects import FILE, Planted, Shop, at, dated, git, make_shop, source, write_days

TOOL = "refund_order"
HELPED = Planted(TOOL, 0.3, 0.02, 60)
BACK = Planted(TOOL, 0.3, 0.3, 60)
TOOLS = {TOOL: (), "list_orders": (), "find_customer": (), "check_stock": (), "send_letter": ()}
ALLOWED = Overrides(unreached=True, unverified=True)


@pytest.fixture
def shop(tmp_path: Path, quiet_git: None) -> Shop:
    """The line helped from day 61 on, was lost in a rewrite on day 100, and the failure came back."""
    shop = make_shop(tmp_path, [HELPED], settings="gates: {min_failures: 5}\n")
    git(shop, "branch", "skill/caveat", f"{shop.shas[TOOL]}^2")  # as it stays behind on many forges
    shop.project.commit({FILE: source(TOOLS)}, "Say it shorter (#12)", **dated(100.5))
    write_days(shop, [HELPED], range(100), calls=12)
    write_days(shop, [BACK], range(101, 131), calls=12)
    run_effect(shop.workspace, now=at(131))
    return shop


def _propose(workspace: Workspace, now: float) -> tuple[Statement, ...]:
    days = Days((at(now) - timedelta(days=30)).date(), at(now).date())
    statements = run_refine(workspace, RefineRequest(days=days), now=at(now)).document.statements
    return tuple(statement for statement in statements if statement.tool == TOOL)


def _promote(workspace: Workspace) -> PromoteResult:
    request = PromoteRequest(tool=TOOL, overrides=ALLOWED)
    return confirm_promotion(workspace, request, environ={}, now=at(131), warn=pytest.fail)


def _state(workspace: Workspace) -> ProposalState:
    standpoints = kept_states(workspace, read_verdicts(workspace.judgments_dir))
    return states_by_key(standpoints)[statement_key(TOOL, HELPED.line, "Caveats")].state


@pytest.mark.slow
def test_it_is_proposed_and_promoted_again(shop: Shop) -> None:
    assert _state(shop.workspace) is ProposalState.WAITING
    (statement,) = _propose(shop.workspace, 131)
    assert statement.line == HELPED.line
    done = _promote(shop.workspace).done
    assert HELPED.line in git(shop, "show", f"{done.branch}:{FILE}")
    assert _state(shop.workspace) is ProposalState.OPEN
    assert _promote(shop.workspace).done.branch == done.branch
    git(shop, "merge", "--quiet", "--no-ff", "-m", "Merge pull request #13 from octo/again", done.branch)
    run_effect(shop.workspace, now=at(131.5))
    assert _state(shop.workspace) is ProposalState.MERGED
    with pytest.raises(RefusedError, match="already promoted"):
        _promote(shop.workspace)
    assert _propose(shop.workspace, 131) == ()


@pytest.mark.slow
def test_a_rejection_since_then_closes_it(shop: Shop) -> None:
    (statement,) = _propose(shop.workspace, 131)
    judge(shop.workspace, statement.id, VerdictLetter.VIOLATION, cause=None, by="Ann", now=at(131))
    assert _state(shop.workspace) is ProposalState.RETIRED
    path = max(shop.workspace.counterexamples_dir.glob("*.json"))
    with pytest.raises(HumanDecidesError, match="is already promoted"):
        plan_promotion(shop.workspace, PromoteRequest(path=path, wanted=statement.id))
    assert _propose(shop.workspace, 131) == ()


@pytest.mark.slow
def test_one_that_still_helps_is_not_promoted_again(tmp_path: Path, quiet_git: None) -> None:
    shop = make_shop(tmp_path, [HELPED])
    write_days(shop, [HELPED], range(100), calls=12)
    run_effect(shop.workspace, now=at(100))
    assert _state(shop.workspace) is ProposalState.HELPS
    assert _propose(shop.workspace, 60) == ()
