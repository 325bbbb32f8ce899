"""``dartlab-coreloop promote``, ``verify`` and ``propose-axis``."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.decorators import FC

from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.base.text import padded, printable
from coreloop.base.validation import fields_of
from coreloop.cli.effect import chosen
from coreloop.cli.options import candidate_option, id_option, verbose_option
from coreloop.cli.output import Command, Output

if TYPE_CHECKING:
    from coreloop.promote.axis import AxisCase, AxisGate, AxisResult
    from coreloop.promote.draft_pull_request import Done
    from coreloop.promote.plan import Plan
    from coreloop.promote.reach import Measured
    from coreloop.promote.replay import Replay
    from coreloop.promote.revert import Revert
    from coreloop.promote.run import PromoteRequest, PromoteResult


class _Promote(Command):
    """Names --tool where a tool stands alone: ``promote refund_order``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            extra = re.fullmatch(r"Got unexpected extra arguments? \((\S+).*\)", error.message)
            if extra is None:
                raise
            meant = f"promote --tool {printable(extra[1])}"
            raise UsageError(f"nothing to promote; did you mean {meant}?") from error


@click.command(cls=_Promote)
@click.option("--tool", help="Promote all statements about this tool.")
@candidate_option
@id_option
@click.option("--revert", metavar="ID", help="Take a change back instead: its proposal's id, or its commit.")
@click.option("--extend", is_flag=True, help="Add to the open promotion of the same docstring.")
@click.option("--confirm", is_flag=True, help="Push the branch and open the draft pull request.")
@click.option(
    "--ask", is_flag=True, help="Replay the questions in a dry run too; the agent's tools really run."
)
@click.option(
    "--allow-unreached",
    is_flag=True,
    help="Continue if lines do not reach the model, or the reach is unmeasured.",
)
@click.option(
    "--allow-unverified", is_flag=True, help="Continue if the replay is unavailable or inconclusive."
)
@click.option("--allow-harm", is_flag=True, help="Continue if a measurement says that the lines hurt.")
@verbose_option
@click.option("--allow-unprotected", is_flag=True, help="Continue if the base branch requires no review.")
def promote(
    tool: str | None,
    candidate: Path | None,
    wanted: str | None,
    revert: str | None,
    extend: bool,
    confirm: bool,
    ask: bool,
    verbose: bool,
    allow_unreached: bool,
    allow_unverified: bool,
    allow_harm: bool,
    allow_unprotected: bool,
) -> Output:
    """Open a draft pull request that adds proposals to a docstring.

    Choose with --tool, or with --candidate and --id; --revert removes the lines of a change instead.
    Without --confirm, prints the plan and changes nothing.
    The pull request, which only a human can merge, lists each failed check that an --allow option overrode.
    The token comes from GITHUB_TOKEN or GH_TOKEN.

    Example: promote --tool list_orders --confirm
    """
    from coreloop.promote.plan import Overrides
    from coreloop.promote.run import PromoteRequest, plan_promotion

    if revert is not None:
        if tool is not None or wanted is not None or candidate is not None:
            raise UsageError("--revert stands alone, with --confirm or --json at most")
        return _revert(revert, confirm=confirm)
    if (tool is None) == (wanted is None) or (wanted is not None and candidate is None):
        raise UsageError("nothing to promote; give --tool NAME, or --candidate FILE with --id ID")
    workspace = open_workspace(Path.cwd())
    overrides = Overrides(
        unreached=allow_unreached,
        unverified=allow_unverified,
        unprotected=allow_unprotected,
        harm=allow_harm,
    )
    request = PromoteRequest(
        path=candidate, wanted=wanted, tool=tool, overrides=overrides, extend=extend, ask=ask
    )
    if confirm:
        return _confirm(workspace, request)
    plan, left_out = plan_promotion(workspace, request)
    show_left_out(left_out, verbose=verbose)
    return Output(_facts(plan), partial(show_plan, plan, verbose=verbose), code=int(bool(plan.obstacles)))


@click.command(cls=Command)
@candidate_option
@id_option
@click.option("--runs", type=click.IntRange(1), help="Number of replays.  [default: 3]")
@click.option("--confirm", is_flag=True, help="Allow sending the questions to another machine.")
def verify(candidate: Path | None, wanted: str | None, runs: int | None, confirm: bool) -> Output:
    """Replay a proposal's questions and compare.

    Asks the endpoint in coreloop.yaml. Questions are private, so an endpoint on another machine needs
    --confirm. Exits 0 only if the result is reproduced.

    Example: verify --candidate 2026-04-25-candidates.json --id cand-2026-04-25-1
    """
    from coreloop.promote.replay import ReplayVerdict
    from coreloop.promote.replay import verify as replay

    if candidate is None or wanted is None:
        raise UsageError("nothing to replay; give --candidate FILE with --id ID")
    replayed = replay(open_workspace(Path.cwd()), candidate, wanted, runs=runs, confirmed=confirm)
    facts = {"id": wanted, **fields_of(replayed, "verdict", "runs")}
    is_reproduced = replayed.verdict is ReplayVerdict.REPRODUCED
    return Output(facts, _replay_lines(replayed, wanted), code=0 if is_reproduced else 1)


def _replay_lines(replayed: "Replay", wanted: str) -> Iterator[str]:
    for number, run in enumerate(replayed.runs, start=1):
        outcome = {True: "agrees", False: "disagrees", None: "unusable"}[run.agrees]
        yield f"run {number}: {outcome}" + (f" ({run.reason})" if run.reason else "")
    yield f"{wanted}: {replayed.verdict}"


def _confirm(workspace: Workspace, request: "PromoteRequest") -> Output:
    from coreloop.promote.run import confirm_promotion

    warn, now = partial(click.echo, err=True), datetime.now(UTC)
    result = confirm_promotion(workspace, request, environ=os.environ, now=now, warn=warn)
    done = result.done
    show_left_out(result.left_out)
    facts = {"branch": done.branch, "pull_request": _url(done), "fresh": done.fresh, "body": result.body}
    return Output(facts, partial(show_done, result))


def _revert(wanted: str, *, confirm: bool) -> Output:
    from coreloop.learn.effect.run import run_effect
    from coreloop.promote.revert import confirm_revert, plan_revert

    workspace = open_workspace(Path.cwd())
    effects = chosen(run_effect(workspace, now=datetime.now(UTC)), id=wanted).effects
    if len({effect.change.tool for effect in effects}) > 1:
        raise UsageError(f"{printable(wanted)} changed several tools; take it back with git revert")
    if confirm:
        done = confirm_revert(workspace, effects[-1], environ=os.environ)
        facts = {"branch": done.branch, "url": _url(done), "fresh": done.fresh}
        return Output(facts, partial(show_reverted, done))
    plan = plan_revert(workspace, effects[-1])
    return Output(fields_of(plan, "branch", "path", "message", "lines"), partial(show_revert, plan))


def _url(done: "Done") -> str | None:
    return done.pull_request.url if done.pull_request is not None else None


_MAX_LEFT_OUT: Final = 3


def show_plan(plan: "Plan", *, verbose: bool = False) -> None:
    """Print what a promotion would do: diff, evidence and obstacles; with ``verbose`` the texts too."""
    place = "the end of its first block of text" if plan.section is None else f"section {plan.section}"
    click.echo(f"target   {plan.path}::{plan.proposal.symbol}, {place}")
    click.echo(f"base     {plan.base} at {plan.base_sha[:12]}")
    click.echo(f"\n{plan.diff}\n")
    _show_reach(plan.reach)
    click.echo(f"replay   {plan.replay.summary}")
    measured = plan.measured.summary if plan.measured is not None else "not yet; see measure"
    click.echo(f"measured {measured}")
    click.echo(f"branch   {plan.branch}")
    for proposal in plan.proposals:
        click.echo(printable(f"evidence {proposal.id}: {proposal.evidence[0]}"))
    if verbose:
        _show_text("commit", plan.message)
        _show_text("pull request, a draft", f"{plan.title}\n\n{plan.body}")
    for obstacle in plan.obstacles:
        click.echo(f"stops    {obstacle}")
    if not plan.obstacles:
        click.echo(
            "No branch and no file of the project changed; --confirm pushes the branch and opens the draft."
        )
    if not verbose:
        click.echo("-v shows the texts of the commit and of the pull request.")


def show_left_out(reasons: Sequence[str], *, verbose: bool = False) -> None:
    """Print why other proposals for the tool are not promoted."""
    listed = reasons if verbose else reasons[:_MAX_LEFT_OUT]
    for reason in listed:
        click.echo(f"left out: {reason}", err=True)
    if len(listed) < len(reasons):
        click.echo(f"left out: {len(reasons) - len(listed)} more; -v lists them", err=True)


def show_change(plan: "Plan", done: "Done", body: Path) -> None:
    """Print a promotion in short: the diff, the checks, the branch and the text of the pull request."""
    for line in plan.diff.splitlines():
        click.echo(f"    {line}")
    click.echo()
    _show_reach(plan.reach)
    click.echo(f"replay   {plan.replay.summary}")
    click.echo(f"branch   {done.branch}")
    click.echo(f"text     {body}")


def show_done(result: "PromoteResult") -> None:
    """Print the result of a promotion and the next step; without a plan the pull request already existed."""
    plan, done, body = result.plan, result.done, result.body
    pull = done.pull_request
    click.echo(f"branch        {done.branch}{'' if done.fresh else ' (from an earlier run)'}")
    if plan is not None:
        label = "pushed" if result.remote is not None else "committed"
        here = "" if result.remote is not None else " here; nothing was pushed"
        commit = f"one commit on {plan.base} {plan.base_sha[:12]}{here}, {plan.path}:"
        click.echo(padded(label, 14) + commit)
        for line in plan.diff.splitlines():
            if line.startswith(("+", "-")) and not line.startswith(("+++", "---")):
                click.echo(f"              {line}")
    if pull is not None:
        click.echo(f"pull request  {pull.url}{' (draft)' if pull.draft else ''}")
    if pull is None and plan is not None:
        click.echo(f"text          {body}")
        _show_next(result, plan)


def _show_next(result: "PromoteResult", plan: "Plan") -> None:
    """Print the commands that open the pull request; without GitHub, those that show and merge the branch."""
    if result.on_github:
        click.echo("No token: open the draft yourself, for example with")
        click.echo(f"  gh pr create --draft --base {plan.base} --head {result.done.branch} \\")
        click.echo(f"    --title '{plan.title}' --body-file '{result.body}'")
        return
    branch = result.done.branch
    if result.remote is not None:
        click.echo(
            f"No repository on GitHub is known. Fetch from {result.remote}, read the branch, then merge it:"
        )
        click.echo(f"  git fetch {result.remote}")
        branch = f"{result.remote}/{branch}"
    else:
        click.echo("The repository has no remote. Read the branch, then merge it:")
    click.echo(f"  git show {branch}")
    click.echo(f"  git switch {plan.base} && git merge {branch}")


def _show_reach(reach: "Measured | None") -> None:
    if reach is None:
        click.echo("reach    unmeasured")
        return
    click.echo(f"reach    {len(reach.before):,} -> {len(reach.after):,} characters, {reach.source}")
    for line in reach.cap_lines():
        click.echo(f"         {line}")


def _show_text(heading: str, text: str) -> None:
    click.echo(f"\n--- {heading}")
    click.echo(text.rstrip())
    click.echo("---")


def _facts(plan: "Plan") -> dict[str, object]:
    return {
        "target": f"{plan.path}::{plan.proposal.symbol}",
        "candidates": [fields_of(proposal, "id", "key", "phase", "lines") for proposal in plan.proposals],
        "removed": plan.edited.removed,
        **fields_of(plan, "base", "base_sha", "diff"),
        "reach": _reach_facts(plan.reach),
        **fields_of(plan, "replay", "measured", "branch", "message", "title", "body", "obstacles", "notes"),
    }


def _reach_facts(reach: "Measured | None") -> dict[str, object]:
    if reach is None:
        return {"measured": False}
    return {"measured": True, **fields_of(reach, "ok", "source", "missing", "caps", "elsewhere")}


def show_revert(plan: "Revert") -> None:
    """Print what a revert would do."""
    click.echo(f"target   {printable(plan.effect.change.target)}")
    click.echo(f"verdict  {printable(plan.effect.title)}")
    for line in plan.lines:
        click.echo(f"removes  {printable(line)}")
    click.echo(f"branch   {plan.branch}")
    click.echo("Nothing changed; --confirm pushes the branch and opens the draft.")


def show_reverted(done: "Done") -> None:
    """Print the branch and the pull request of a revert."""
    state = "pushed" if done.fresh else "there already"
    click.echo(f"branch {done.branch} is {state}")
    click.echo(_url(done) or "no new pull request: open it by hand, or merge the one that is open")


def _least(name: str, default: int, text: str) -> Callable[[FC], FC]:
    """The option of a gate."""
    return click.option(name, type=click.IntRange(0), default=default, show_default=True, help=text)


@click.command(cls=Command)
@click.option("--engine", required=True, metavar="TOOL", help="The tool that would get the axis.")
@click.option("--axis", metavar="VALUE", help="The value of a selector.  [default: the whole tool]")
@_least("--min-phase-r-merges", 3, "Fewest merged promotions of Guide text.")
@_least("--min-phase-f-caveats", 2, "Fewest merged caveats.")
@_least("--min-age-days", 30, "Fewest days since the first merged promotion.")
def propose_axis(
    engine: str,
    axis: str | None,
    min_phase_r_merges: int,
    min_phase_f_caveats: int,
    min_age_days: int,
) -> Output:
    """Gather the evidence that a tool needs a new axis.

    An axis is a value of a selector, such as kind="refund". If every gate passes, writes one document to
    docs/phase-a-proposals; else exits 1.

    Example: propose-axis --engine refund_order --axis kind=refund
    """
    from coreloop.promote.axis import AxisRequest, Thresholds, run_propose_axis

    now = datetime.now(UTC)
    workspace = open_workspace(Path.cwd())
    thresholds = Thresholds(
        phase_r_merges=min_phase_r_merges, phase_f_caveats=min_phase_f_caveats, age_days=min_age_days
    )
    result = run_propose_axis(
        workspace, AxisRequest(engine=engine, axis=axis, thresholds=thresholds), now=now
    )
    notes = []
    if result.path is not None:
        did = "wrote" if result.written else "has the section of today already:"
        notes = [f"{did} {result.path}"]
    return Output(_axis_facts(result), _axis_lines(result.case), notes, 0 if result.case.passed else 1)


def _axis_lines(case: "AxisCase") -> Iterator[str]:
    axis = "the whole tool" if case.axis is None else f"axis {printable(case.axis)}"
    yield f"{case.engine}, {axis}: {case.base} at {case.base_sha[:12]}"
    for gate in case.gates:
        yield f"  {padded(gate.name, 27)} {gate.figure:>4} of {gate.needed:<4} {_verdict(gate)}"
    for note in _axis_notes(case):
        yield f"  {note}"
    if failed := sum(not gate.passed for gate in case.gates):
        yield f"No proposal: {failed} of {len(case.gates)} gates fail."


def _verdict(gate: "AxisGate") -> str:
    return "passed" if gate.passed else f"{gate.needed - gate.figure} short"


def _axis_notes(case: "AxisCase") -> list[str]:
    notes = []
    if case.first_merge is not None:
        notes.append(f"first merge {case.first_merge:%Y-%m-%d}")
    reverted = len(case.evidence) - len(case.counted)
    if reverted:
        notes.append(f"{reverted} reverted, which do not count")
    if case.axis is not None and case.n_without_axis:
        notes.append(f"{case.n_without_axis} that name no declared axis count only without --axis")
    if case.axis is not None and case.axes and not case.passed:
        named = ", ".join(f"{printable(axis)} {count}" for axis, count in case.axes.items())
        notes.append(f"promotions in effect by axis: {named}")
    if case.engines:
        notes.append(f"no promotion of {case.engine}; there are some of {', '.join(case.engines)}")
    return notes


def _axis_facts(result: "AxisResult") -> dict[str, object]:
    case = result.case
    return {
        "engine": case.engine,
        "axis": None if case.axis is None else printable(case.axis),
        **fields_of(case, "base", "base_sha", "passed"),
        "gates": [fields_of(gate, "name", "figure", "needed", "passed") for gate in case.gates],
        "evidence": [evidence.promotion for evidence in case.evidence],
        **fields_of(case, "first_merge", "axes", "n_without_axis"),
        "file": result.path,
        "written": result.written,
    }
