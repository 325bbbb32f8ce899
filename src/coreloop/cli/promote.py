"""``dartlab-coreloop promote``, ``verify`` and ``propose-axis``."""

import os
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
from coreloop.cli.effect import chosen, list_waiting
from coreloop.cli.options import candidate_option, id_option, int_option, tool_option, verbose_option
from coreloop.cli.output import Command, Output, hung, say, wrap

if TYPE_CHECKING:
    from coreloop.promote.axis import AxisCase
    from coreloop.promote.draft_pull_request import Done
    from coreloop.promote.plan import Plan
    from coreloop.promote.replay import Replay
    from coreloop.promote.revert import Revert
    from coreloop.promote.run import PromoteRequest, PromoteResult


@click.command(cls=Command)
@click.argument("unnamed", metavar="", required=False)
@tool_option("Promote all statements about this tool.")
@candidate_option
@id_option()
@click.option("--revert", metavar="ID", help="Take a change back instead: its proposal's id, or its commit.")
@click.option("--extend", is_flag=True, help="Add to the open promotion of the same docstring.")
@click.option("--confirm", is_flag=True, help="Push the branch and open the draft pull request.")
@click.option("--ask", is_flag=True, help="Replay the questions in a dry run too; the tools really run.")
@click.option("--allow-unreached", is_flag=True, help="Continue if lines may not reach the model.")
@click.option("--allow-unverified", is_flag=True, help="Continue if the replay is unavailable or unclear.")
@click.option("--allow-harm", is_flag=True, help="Continue if a measurement says that the lines hurt.")
@verbose_option
@click.option("--allow-unprotected", is_flag=True, help="Continue if the base branch requires no review.")
def promote(
    unnamed: str | None,
    tool: str | None,
    candidate: Path | None,
    wanted: str | None,
    revert: str | None,
    extend: bool,
    confirm: bool,
    ask: bool,
    verbose: bool,
    **allowed: bool,
) -> Output:
    """Open a draft pull request that adds proposals to a docstring.

    Choose with --tool, or with --candidate and --id; --revert removes the lines of a change instead.
    Without --confirm, prints the plan and changes nothing.
    The pull request, which only a human can merge, lists each failed check that an --allow option overrode.
    The token comes from GITHUB_TOKEN or GH_TOKEN. `verify` only replays; `propose-axis` weighs a new axis.

    Example: promote --tool list_orders --confirm
    """
    from coreloop.promote.run import PromoteRequest, plan_promotion

    if unnamed is not None:
        raise UsageError(f"nothing to promote; did you mean promote --tool {printable(unnamed)}?")
    if revert is not None:
        if tool is not None or wanted is not None or candidate is not None:
            raise UsageError("--revert stands alone, with --confirm or --json at most")
        return _revert(revert, confirm=confirm)
    workspace = open_workspace(Path.cwd())
    if (tool is None) == (wanted is None) or (wanted is not None and candidate is None):
        return list_waiting(workspace, "promote")
    overrides = {name.removeprefix("allow_") for name, is_given in allowed.items() if is_given}
    request = PromoteRequest(
        path=candidate, wanted=wanted, tool=tool, overrides=overrides, extend=extend, ask=ask
    )
    if confirm:
        return _confirm(workspace, request)
    plan, left_out = plan_promotion(workspace, request)
    lines, notes = plan_lines(plan, is_verbose=verbose), _left_out_lines(left_out, is_verbose=verbose)
    return Output(_facts(plan), lines, notes, code=int(bool(plan.obstacles)))


@click.command(cls=Command)
@candidate_option
@id_option()
@int_option("--runs", "Number of replays.  [default: 3]")
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

    warn, now = partial(say, err=True), datetime.now(UTC)
    result = confirm_promotion(workspace, request, environ=os.environ, now=now, warn=warn)
    done = result.done
    facts = {**fields_of(done, "branch", "fresh"), "pull_request": _url(done)}
    facts |= fields_of(result, "body", "patch")
    return Output(facts, _done_lines(result), _left_out_lines(result.left_out))


def _revert(wanted: str, *, confirm: bool) -> Output:
    from coreloop.base.git.repository import Repository
    from coreloop.base.github.connect import pull_request_repo
    from coreloop.learn.effect.run import run_effect
    from coreloop.promote.revert import confirm_revert, plan_revert

    workspace = open_workspace(Path.cwd())
    effects = chosen(run_effect(workspace, now=datetime.now(UTC)), id=wanted).effects
    if len({effect.change.tool for effect in effects}) > 1:
        raise UsageError(f"{printable(wanted)} changed several tools; take it back with git revert")
    if confirm:
        done = confirm_revert(workspace, effects[-1], environ=os.environ)
        facts = {"branch": done.branch, "url": _url(done), "fresh": done.fresh}
        return Output(facts, _reverted_lines(done))
    plan = plan_revert(workspace, effects[-1])
    github = pull_request_repo(Repository(workspace.root), workspace.settings.forge)
    lines = _revert_lines(plan, on_github=github is not None)
    return Output(fields_of(plan, "branch", "path", "message", "lines"), lines)


def _url(done: "Done") -> str | None:
    return done.pull_request.url if done.pull_request is not None else None


_MAX_LEFT_OUT: Final = 3


def plan_lines(plan: "Plan", *, is_verbose: bool = False) -> Iterator[str]:
    """Yield what a promotion would do: diff, evidence and obstacles; verbose, the texts too."""
    yield from (line if "\n" in line else hung(line[:9], line[9:]) for line in plan.lines())
    if is_verbose:
        yield f"\n--- commit\n{plan.message.rstrip()}\n---"
        yield f"\n--- pull request, a draft\n{plan.title}\n\n{plan.body.rstrip()}\n---"
    if not plan.obstacles:
        does = _confirmed(plan.remote, on_github=plan.on_github)
        yield wrap(f"No branch and no file of the project changed; --confirm {does}.")
    if not is_verbose:
        yield "-v shows the texts of the commit and of the pull request."


def _confirmed(remote: str | None, *, on_github: bool) -> str:
    if remote is None:
        return "commits that branch here, as there is no remote; git merge then merges it"
    return f"pushes the branch{' and opens the draft' if on_github else ''}"


def _left_out_lines(reasons: Sequence[str], *, is_verbose: bool = False) -> Iterator[str]:
    """Yield why other proposals for the tool are not promoted."""
    listed = reasons if is_verbose else reasons[:_MAX_LEFT_OUT]
    yield from (wrap(f"left out: {reason}") for reason in listed)
    if len(listed) < len(reasons):
        yield f"left out: {len(reasons) - len(listed)} more; -v lists them"


def change_lines(plan: "Plan", done: "Done", body: Path) -> Iterator[str]:
    """Yield a promotion in short: the diff, the checks, the branch and the text of the pull request."""
    yield from (f"    {line}" for line in plan.shown.splitlines())
    yield ""
    yield from plan.reach.lines() if plan.reach is not None else ["reach    unmeasured"]
    yield f"replay   {plan.replay.summary}"
    yield f"branch   {done.branch}"
    yield f"text     {body}"


def _done_lines(result: "PromoteResult") -> Iterator[str]:
    """Yield the result of a promotion and the next step; without a plan the pull request already existed."""
    plan, done, body = result.plan, result.done, result.body
    pull = done.pull_request
    yield f"branch        {done.branch}{'' if done.fresh else ' (from an earlier run)'}"
    if plan is not None:
        label = "pushed" if plan.remote is not None else "committed"
        here = "" if plan.remote is not None else " here; nothing was pushed"
        commit = f"one commit on {plan.base} {plan.base_sha[:12]}{here}, {plan.path}:"
        yield hung(padded(label, 14), commit)
        for line in plan.shown.splitlines():
            if line.startswith(("+", "-")) and not line.startswith(("+++", "---")):
                yield f"              {line}"
    if pull is not None:
        yield f"pull request  {pull.url}{' (draft)' if pull.draft else ''}"
    if pull is None and plan is not None:
        yield f"text          {body}"
        yield f"patch         {result.patch}\n              for git am --keep-non-patch"
        yield from _next_lines(result, plan)


def _next_lines(result: "PromoteResult", plan: "Plan") -> Iterator[str]:
    """Yield the commands that open the pull request; without GitHub, those that show and merge the branch."""
    if plan.on_github:
        yield "No token: open the draft yourself, for example with"
        draft = f"gh pr create --draft --base {plan.base} --head {result.done.branch}"
        yield f"  {draft} \\\n    --title '{plan.title}' --body-file '{result.body}'"
        return
    branch = result.done.branch
    if plan.remote is not None:
        yield (f"No repository on GitHub is known. Fetch from {plan.remote}, read the branch, then merge it:")
        yield f"  git fetch {plan.remote}"
        branch = f"{plan.remote}/{branch}"
    else:
        yield "The repository has no remote. Read the branch, then merge it:"
    yield f"  git show {branch}\n  git switch {plan.base} && git merge {branch}"


def _facts(plan: "Plan") -> dict[str, object]:
    reach = fields_of(plan.reach, "ok", "source", "missing", "caps", "elsewhere") if plan.reach else {}
    return {
        "target": f"{plan.path}::{plan.proposal.symbol}",
        "candidates": [fields_of(proposal, "id", "key", "phase", "lines") for proposal in plan.proposals],
        "removed": plan.edited.removed,
        **fields_of(plan, "base", "base_sha", "diff"),
        "reach": {"measured": plan.reach is not None, **reach},
        **fields_of(plan, "replay", "measured", "branch", "message", "title", "body", "obstacles", "notes"),
    }


def _revert_lines(plan: "Revert", *, on_github: bool) -> Iterator[str]:
    """Yield what a revert would do."""
    yield f"target   {printable(plan.effect.change.target)}"
    yield f"verdict  {printable(plan.effect.title)}"
    yield from (f"removes  {printable(line)}" for line in plan.lines)
    yield f"branch   {plan.branch}"
    yield wrap(f"Nothing changed; --confirm {_confirmed(plan.remote, on_github=on_github)}.")


def _reverted_lines(done: "Done") -> Iterator[str]:
    """Yield the branch and the pull request of a revert."""
    yield f"branch {done.branch} is {'new' if done.fresh else 'there already'}"
    yield _url(done) or "no new pull request: open it by hand, or read and merge the branch"


def _least(name: str, gate: str, default: int, text: str) -> Callable[[FC], FC]:
    """The option of a gate."""
    return click.option(name, gate, type=click.IntRange(0), default=default, show_default=True, help=text)


@click.command(cls=Command)
@click.option("--engine", required=True, metavar="TOOL", help="The tool that would get the axis.")
@click.option("--axis", metavar="VALUE", help="The value of a selector.  [default: the whole tool]")
@_least("--min-phase-r-merges", "phase_r_merges", 3, "Fewest merged promotions of Guide text.")
@_least("--min-phase-f-caveats", "phase_f_caveats", 2, "Fewest merged caveats.")
@_least("--min-age-days", "age_days", 30, "Fewest days since the first merged promotion.")
def propose_axis(engine: str, axis: str | None, **gates: int) -> Output:
    """Gather the evidence that a tool needs a new axis.

    An axis is a value of a selector, such as kind="refund". If every gate passes, writes one document to
    docs/phase-a-proposals; else exits 1.

    Example: propose-axis --engine refund_order --axis kind=refund
    """
    from coreloop.promote.axis import AxisRequest, run_propose_axis

    request = AxisRequest(engine=engine, axis=axis, **gates)
    case, path, written = run_propose_axis(open_workspace(Path.cwd()), request, now=datetime.now(UTC))
    notes = [f"{'wrote' if written else 'has the section of today already:'} {path}"] if path else []
    facts = {**_axis_facts(case), "file": path, "written": written}
    return Output(facts, _axis_lines(case), notes, 0 if case.passed else 1)


def _axis_lines(case: "AxisCase") -> Iterator[str]:
    axis = "the whole tool" if case.axis is None else f"axis {printable(case.axis)}"
    yield f"{case.engine}, {axis}: {case.base} at {case.base_sha[:12]}"
    for gate in case.gates:
        verdict = "passed" if gate.passed else f"{gate.needed - gate.figure} short"
        yield f"  {padded(gate.name, 27)} {gate.figure:>4} of {gate.needed:<4} {verdict}"
    yield from (f"  {note}" for note in _axis_notes(case))
    if failed := sum(not gate.passed for gate in case.gates):
        yield f"No proposal: {failed} of {len(case.gates)} gates fail."


def _axis_notes(case: "AxisCase") -> Iterator[str]:
    if case.first_merge is not None:
        yield f"first merge {case.first_merge:%Y-%m-%d}"
    if reverted := len(case.evidence) - len(case.counted):
        yield f"{reverted} reverted, which do not count"
    if case.axis is not None and case.n_without_axis:
        yield f"{case.n_without_axis} that name no declared axis count only without --axis"
    if case.axis is not None and case.axes and not case.passed:
        named = ", ".join(f"{printable(axis)} {count}" for axis, count in case.axes.items())
        yield f"promotions in effect by axis: {named}"
    if case.engines:
        yield f"no promotion of {case.engine}; there are some of {', '.join(case.engines)}"


def _axis_facts(case: "AxisCase") -> dict[str, object]:
    return {
        "engine": case.engine,
        "axis": None if case.axis is None else printable(case.axis),
        **fields_of(case, "base", "base_sha", "passed"),
        "gates": [fields_of(gate, "name", "figure", "needed", "passed") for gate in case.gates],
        "evidence": [evidence.promotion for evidence in case.evidence],
        **fields_of(case, "first_merge", "axes", "n_without_axis"),
    }
