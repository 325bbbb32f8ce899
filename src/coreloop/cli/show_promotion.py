"""Output of ``promote``: a plan, or the result."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
import orjson

from coreloop.base.messages import Phrase, say
from coreloop.base.text import padded, printable
from coreloop.promote.plan import Plan
from coreloop.promote.promotion import Done
from coreloop.promote.proposal import Proposal
from coreloop.promote.pull_request import cap_line
from coreloop.promote.reach import Reach, Unmeasured
from coreloop.promote.revert import Revert, RevertDone
from coreloop.promote.run import PromoteResult

_MAX_LEFT_OUT: Final = 3


def show_plan(plan: Plan, *, as_json: bool, verbose: bool = False) -> None:
    """Print what a promotion would do: diff, evidence and obstacles; with ``verbose`` the texts too."""
    if as_json:
        click.echo(orjson.dumps(_facts(plan), option=orjson.OPT_INDENT_2))
        return
    place = (
        say("the end of its first block of text")
        if plan.section is None
        else say("section {section}", section=plan.section)
    )
    click.echo(
        say("target   {path}::{symbol}, {place}", path=plan.path, symbol=plan.proposal.symbol, place=place)
    )
    click.echo(say("base     {base} at {base_sha}", base=plan.base, base_sha=plan.base_sha[:12]))
    click.echo(f"\n{plan.diff}\n")
    _show_reach(plan.reach)
    click.echo(say("replay   {summary}", summary=say(plan.replay.summary)))
    click.echo(
        say(
            "measured {summary}",
            summary=say(plan.measured.summary) if plan.measured is not None else say("not yet; see measure"),
        )
    )
    click.echo(say("branch   {branch}", branch=plan.branch))
    for proposal in plan.proposals:
        click.echo(say("evidence {evidence}", evidence=_evidence(proposal)))
    if verbose:
        _show_text(say("commit"), plan.message)
        _show_text(say("pull request, a draft"), f"{plan.title}\n\n{plan.body}")
    for obstacle in plan.obstacles:
        click.echo(say("stops    {obstacle}", obstacle=say(obstacle)))
    if not plan.obstacles:
        click.echo(
            say(
                "No branch and no file of the project changed; --confirm pushes the branch and "
                "opens the draft."
            )
        )
    if not verbose:
        click.echo(say("-v shows the texts of the commit and of the pull request."))


def _evidence(proposal: Proposal) -> str:
    row = proposal.row
    otherwise = "" if row.otherwise == "–" else say(", otherwise {otherwise}", otherwise=row.otherwise)
    wasted = (
        ""
        if row.wasted == "–"
        else say("; at least {wasted} calls wasted per 1,000 requests", wasted=row.wasted)
    )
    return printable(f"{proposal.id}: {say(row.as_it_says)}{otherwise}{wasted}")


def show_left_out(reasons: Sequence[str], *, verbose: bool = False) -> None:
    """Print why other proposals for the tool are not promoted."""
    listed = reasons if verbose else reasons[:_MAX_LEFT_OUT]
    for reason in listed:
        click.echo(say("left out: {reason}", reason=say(reason)), err=True)
    if len(listed) < len(reasons):
        click.echo(
            say("left out: {n_reasons} more; -v lists them", n_reasons=len(reasons) - len(listed)), err=True
        )


def show_change(plan: Plan, done: Done, body: Path) -> None:
    """Print a promotion in short: the diff, the checks, the branch and the text of the pull request."""
    for line in plan.diff.splitlines():
        click.echo(f"    {line}")
    click.echo()
    _show_reach(plan.reach)
    click.echo(say("replay   {summary}", summary=say(plan.replay.summary)))
    click.echo(say("branch   {branch}", branch=done.branch))
    click.echo(say("text     {body}", body=body))


def show_done(result: PromoteResult, *, as_json: bool) -> None:
    """Print the result of a promotion and the next step; without a plan the pull request already existed."""
    plan, done, body = result.plan, result.done, result.body
    pull = done.pull_request
    if as_json:
        facts = {"branch": done.branch, "pull_request": pull.url if pull else None, "fresh": done.fresh}
        click.echo(orjson.dumps({**facts, "body": str(body) if body else None}, option=orjson.OPT_INDENT_2))
        return
    click.echo(
        say(
            "branch        {branch}{more}",
            branch=done.branch,
            more="" if done.fresh else say(" (from an earlier run)"),
        )
    )
    if plan is not None:
        label = say("pushed") if result.remote is not None else say("committed")
        here = "" if result.remote is not None else say(" here; nothing was pushed")
        commit = say(
            "one commit on {base} {base_sha}{here}, {path}:",
            base=plan.base,
            base_sha=plan.base_sha[:12],
            here=here,
            path=plan.path,
        )
        click.echo(padded(label, 14) + commit)
        for line in plan.diff.splitlines():
            if line.startswith(("+", "-")) and not line.startswith(("+++", "---")):
                click.echo(f"              {line}")
    if pull is not None:
        click.echo(say("pull request  {url}{more}", url=pull.url, more=say(" (draft)") if pull.draft else ""))
    if pull is None and plan is not None:
        click.echo(say("text          {body}", body=body))
        _show_next(result, plan)


def _show_next(result: PromoteResult, plan: Plan) -> None:
    """Print the commands that open the pull request; without GitHub, those that show and merge the branch."""
    if result.on_github:
        click.echo(say("No token: open the draft yourself, for example with"))
        click.echo(f"  gh pr create --draft --base {plan.base} --head {result.done.branch} \\")
        click.echo(f"    --title '{plan.title}' --body-file '{result.body}'")
        return
    branch = result.done.branch
    if result.remote is not None:
        click.echo(
            say(
                "No repository on GitHub is known. Fetch from {remote}, read the branch, then merge it:",
                remote=result.remote,
            )
        )
        click.echo(f"  git fetch {result.remote}")
        branch = f"{result.remote}/{branch}"
    else:
        click.echo(say("The repository has no remote. Read the branch, then merge it:"))
    click.echo(f"  git show {branch}")
    click.echo(f"  git switch {plan.base} && git merge {branch}")


def _show_reach(reach: Reach) -> None:
    if isinstance(reach, Unmeasured):
        click.echo(say("reach    unmeasured"))
        return
    click.echo(
        say(
            "reach    {n_before:,} -> {n_after:,} characters, {source}",
            n_before=len(reach.before),
            n_after=len(reach.after),
            source=Phrase(reach.source),
        )
    )
    for cap in reach.caps:
        click.echo(f"         {say(cap_line(cap))}")


def _show_text(heading: str, text: str) -> None:
    click.echo(f"\n--- {heading}")
    click.echo(text.rstrip())
    click.echo("---")


def _facts(plan: Plan) -> dict[str, object]:
    return {
        "target": f"{plan.path}::{plan.proposal.symbol}",
        "candidates": [
            {"id": proposal.id, "key": proposal.key, "phase": proposal.phase, "lines": proposal.lines}
            for proposal in plan.proposals
        ],
        "removed": plan.edited.removed,
        "base": plan.base,
        "base_sha": plan.base_sha,
        "diff": plan.diff,
        "reach": _reach_facts(plan.reach),
        "replay": plan.replay,
        "measured": plan.measured,
        "branch": plan.branch,
        "message": plan.message,
        "title": plan.title,
        "body": plan.body,
        "obstacles": plan.obstacles,
        "notes": plan.notes,
    }


def _reach_facts(reach: Reach) -> dict[str, object]:
    if isinstance(reach, Unmeasured):
        return {"measured": False}
    return {
        "measured": True,
        "ok": reach.ok,
        "source": reach.source,
        "missing": reach.missing,
        "caps": reach.caps,
        "elsewhere": reach.elsewhere,
    }


def show_revert(plan: Revert, *, as_json: bool) -> None:
    """Print what a revert would do."""
    if as_json:
        facts = {"branch": plan.branch, "path": plan.path, "message": plan.message, "lines": plan.lines}
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
        return
    click.echo(say("target   {target}", target=printable(plan.effect.change.target)))
    click.echo(say("verdict  {title}", title=printable(plan.effect.title)))
    for line in plan.lines:
        click.echo(say("removes  {line}", line=printable(line)))
    click.echo(say("branch   {branch}", branch=plan.branch))
    click.echo(say("Nothing changed; --confirm pushes the branch and opens the draft."))


def show_reverted(done: RevertDone, *, as_json: bool) -> None:
    """Print the branch and the pull request of a revert."""
    url = done.pull_request.url if done.pull_request is not None else None
    if as_json:
        click.echo(orjson.dumps({"branch": done.branch, "url": url, "fresh": done.fresh}))
        return
    state = Phrase("pushed" if done.fresh else "there already")
    click.echo(say("branch {branch} is {state}", branch=done.branch, state=state))
    click.echo(url or say("no new pull request: open it by hand, or merge the one that is open"))
