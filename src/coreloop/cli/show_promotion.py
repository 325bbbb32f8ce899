"""What ``promote`` prints: the whole plan, or what was done."""

from pathlib import Path

import click
import orjson

from coreloop.promote.promotion import Done, Plan
from coreloop.promote.pull_request import cap_line


def show_plan(plan: Plan, *, as_json: bool) -> None:
    """Print what a promotion would do."""
    if as_json:
        click.echo(orjson.dumps(_facts(plan), option=orjson.OPT_INDENT_2))
        return
    reach = plan.reach
    source = "from the schema command" if reach.measured else "taken to be the whole docstring"
    click.echo(f"target   {plan.path}::{plan.proposal.symbol}, section {plan.proposal.section}")
    click.echo(f"base     {plan.base} at {plan.base_sha[:12]}")
    click.echo(f"\n{plan.diff}\n")
    click.echo(f"reach    {len(reach.before):,} -> {len(reach.after):,} characters, {source}")
    for cap in reach.caps:
        click.echo(f"         {cap_line(reach, cap.provider)[2:]}")
    click.echo(f"replay   {plan.replay.summary}")
    click.echo(f"branch   {plan.branch}")
    _show_text("commit", plan.message)
    _show_text("pull request, a draft", f"{plan.title}\n\n{plan.body}")
    for obstacle in plan.obstacles:
        click.echo(f"stops    {obstacle}")
    if not plan.obstacles:
        click.echo(
            "No branch and no file of the project changed; --confirm pushes the branch and opens the draft."
        )


def show_change(plan: Plan, done: Done, body: Path) -> None:
    """Print a carried out promotion in short: the diff, the checks, where to look."""
    for line in plan.diff.splitlines():
        click.echo(f"    {line}")
    reach = plan.reach
    click.echo(f"\nreach    {len(reach.before):,} -> {len(reach.after):,} characters reach the model")
    click.echo(f"replay   {plan.replay.summary}")
    click.echo(f"branch   {done.branch}")
    click.echo(f"text     {body}")


def show_done(plan: Plan | None, done: Done, body: Path | None, *, as_json: bool) -> None:
    """Print what a promotion left, and what is left to do; without a plan the pull request was there."""
    pull = done.pull_request
    if as_json:
        facts = {"branch": done.branch, "pull_request": pull.url if pull else None, "fresh": done.fresh}
        click.echo(orjson.dumps({**facts, "body": str(body) if body else None}, option=orjson.OPT_INDENT_2))
        return
    click.echo(f"branch        {done.branch}{'' if done.fresh else ' (from an earlier run)'}")
    if pull is not None:
        click.echo(f"pull request  {pull.url}{' (draft)' if pull.draft else ''}")
    if pull is not None or plan is None:
        return
    click.echo(f"text          {body}")
    click.echo("No token, or no repository on GitHub: open the draft yourself, for example with")
    click.echo(f"  gh pr create --draft --base {plan.base} --head {done.branch} \\")
    click.echo(f"    --title '{plan.title}' --body-file '{body}'")


def _show_text(what: str, text: str) -> None:
    click.echo(f"\n--- {what}")
    click.echo(text.rstrip())
    click.echo("---")


def _facts(plan: Plan) -> dict[str, object]:
    return {
        "target": f"{plan.path}::{plan.proposal.symbol}",
        "base": plan.base,
        "base_sha": plan.base_sha,
        "diff": plan.diff,
        "reach": {"measured": plan.reach.measured, "missing": plan.reach.missing, "caps": plan.reach.caps},
        "replay": plan.replay,
        "branch": plan.branch,
        "message": plan.message,
        "title": plan.title,
        "body": plan.body,
        "obstacles": plan.obstacles,
        "notes": plan.notes,
    }
