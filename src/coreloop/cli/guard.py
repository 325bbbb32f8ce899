"""``dartlab-coreloop guard check``, ``guard gather``, ``guard act`` and ``guard protect``."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import orjson

from coreloop.cli.options import FOLDER, json_option
from coreloop.errors import ForgeError
from coreloop.files import write_private
from coreloop.project.workspace import open_workspace
from coreloop.text import printable

if TYPE_CHECKING:
    from coreloop.guard.policy import Decision

_FILE = click.Path(path_type=Path, dir_okay=False)
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _event_options(command: _Command) -> _Command:
    """What happened, and where what it is about can be read."""
    for option in reversed(
        [
            click.option("--event", type=_FILE, required=True, help="The payload: $GITHUB_EVENT_PATH."),
            click.option("--event-name", required=True, help="Its name: $GITHUB_EVENT_NAME."),
            click.option(
                "--repo", "folder", type=FOLDER, default=".", help="A checkout of the base.  [default: .]"
            ),
            click.option("--base", metavar="SHA", help="Commit of the base.  [default: the payload's]"),
            click.option("--head", metavar="SHA", help="Commit of the head.  [default: the payload's]"),
        ]
    ):
        command = option(command)
    return command


def _answer_options(command: _Command) -> _Command:
    """What the API said, as files."""
    for option in reversed(
        [
            click.option("--reviews", type=_FILE, help="Reviews, as the API lists them; without it none."),
            click.option("--pulls", type=_FILE, help="Pull requests of a merge group, as a list."),
            click.option("--commits", type=_FILE, help="Commits as the API shows them, as a list."),
        ]
    ):
        command = option(command)
    return command


@click.group()
def command() -> None:
    """Keep promotions from merging without a human."""


@command.command()
@_event_options
@_answer_options
@json_option
def check(as_json: bool, **options: Any) -> None:
    """Tell whether a pull request may go on as far as coreloop is concerned.

    Exits 1 when it may not, 2 when something cannot be read: both are red in a workflow. Nothing is asked of
    any server, and no code of the pull request runs.
    """
    from coreloop.guard.facts import Asked, check

    decision = check(Asked(**options))
    _show(decision, as_json=as_json)
    click.get_current_context().exit(0 if decision.passes else 1)


@command.command()
@_event_options
@click.option("--out", type=FOLDER, required=True, help="Where reviews, pulls and commits .json go.")
@json_option
def gather(out: Path, as_json: bool, **options: Any) -> None:
    """Ask GitHub what check needs in the merge queue: reviews, pull requests, commits.

    For any other event the lists are empty, and nothing is asked. Only reads. The token comes from
    GITHUB_TOKEN or GH_TOKEN.
    """
    from coreloop.guard.facts import Asked, queued
    from coreloop.guard.github import connect_api, gather
    from coreloop.history.repository import Repository

    asked = Asked(**options)
    numbers, needed = queued(asked)
    said = {"reviews": b"[]", "pulls": b"[]", "commits": b"[]"}
    if numbers:
        settings = open_workspace(asked.folder).settings.forge
        with Repository(asked.folder) as repository, connect_api(repository, settings, os.environ) as api:
            said = gather(api, numbers, needed=needed)
    for name, content in said.items():
        write_private(out / f"{name}.json", content)
    if as_json:
        click.echo(orjson.dumps({"pulls": sorted(numbers), "out": str(out)}, option=orjson.OPT_INDENT_2))
    else:
        named = ", ".join(f"#{number}" for number in sorted(numbers))
        click.echo(f"asked about {named}" if named else "nothing to ask: no pull request is in the queue")


@command.command()
@_event_options
@_answer_options
@click.option("--confirm", is_flag=True, help="Do it; without it what would be done is shown.")
@json_option
def act(confirm: bool, as_json: bool, **options: Any) -> None:
    """Take off labels that ask a machine to merge, and take auto-merge back.

    Decides as check does, and does what would help, as far as the token may. Whatever becomes of it, check
    stays red. Exits 1 when something could not be done.
    """
    from coreloop.guard.facts import Asked, check
    from coreloop.guard.github import carry_out, connect_api
    from coreloop.history.repository import Repository

    asked = Asked(**options)
    decision = check(asked)
    failed: dict[int, str] = {}
    if confirm and decision.actions:
        settings = open_workspace(asked.folder).settings.forge
        with Repository(asked.folder) as repository, connect_api(repository, settings, os.environ) as api:
            for at, action in enumerate(decision.actions):
                try:
                    carry_out(api, action)
                except ForgeError as error:  # the others may still be done
                    failed[at] = str(error)
    if as_json:
        facts = {"actions": decision.actions, "confirmed": confirm, "failed": list(failed.values())}
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
    else:
        _show_actions(decision, failed, confirm=confirm)
    click.get_current_context().exit(1 if failed else 0)


def _show_actions(decision: "Decision", failed: dict[int, str], *, confirm: bool) -> None:
    for at, action in enumerate(decision.actions):
        label = f" {printable(action.label)}" if action.label is not None else ""
        said = f"{action.what.replace('_', ' ')}{label}, #{action.pull}"
        click.echo(f"{'not done' if at in failed else 'done' if confirm else 'would'}: {said}")
    for reason in failed.values():
        click.echo(printable(reason), err=True)
    if not decision.actions:
        click.echo("nothing to do")


@command.command()
@click.option("--confirm", is_flag=True, help="Apply; without it the difference is shown.")
@json_option
def protect(confirm: bool, as_json: bool) -> None:
    """Compare the branch's rules on GitHub with .github/branch_protection.yml, and apply it.

    Rules that the file does not name stay, and stricter ones too. The token comes from GITHUB_TOKEN or
    GH_TOKEN and must be allowed to administer the repository.
    """
    from coreloop.guard.github import connect_api
    from coreloop.guard.protection import FILE, apply, differences, read_current, read_wanted
    from coreloop.history.repository import Repository

    workspace = open_workspace(Path.cwd())
    with Repository(workspace.root) as repository:
        wanted = read_wanted(repository.root / FILE)
        with connect_api(repository, workspace.settings.forge, os.environ) as api:
            found = differences(wanted, current := read_current(api, wanted.branch))
            if confirm and found:
                apply(api, wanted, current)
                left = differences(wanted, read_current(api, wanted.branch))
            else:
                left = found
    if as_json:
        facts = {"branch": wanted.branch, "differences": found, "applied": confirm, "left": left}
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
    else:
        for one in found:
            click.echo(f"{one.rule}: {one.now} -> {one.wanted}")
        _show_outcome(wanted.branch, n_found=len(found), n_left=len(left), confirm=confirm)
    click.get_current_context().exit(1 if confirm and left else 0)


def _show_outcome(branch: str, *, n_found: int, n_left: int, confirm: bool) -> None:
    if not n_found:
        click.echo(f"{branch} has the wanted rules")
    elif not confirm:
        click.echo(f"{n_found} rules of {branch} are not as wanted; --confirm applies them")
    else:
        click.echo(f"{n_found - n_left} of {n_found} applied to {branch}")


def _show(decision: "Decision", *, as_json: bool) -> None:
    if as_json:
        facts = {"passes": decision.passes, "coreloop": bool(decision.claims)}
        lists = {"claims": decision.claims, "reasons": decision.reasons, "actions": decision.actions}
        click.echo(orjson.dumps(facts | lists, option=orjson.OPT_INDENT_2))
    elif not decision.claims:
        click.echo("passes: this is none of coreloop's pull requests")
    else:
        click.echo(f"{'passes' if decision.passes else 'stops'}: coreloop's, by {', '.join(decision.claims)}")
        for reason in decision.reasons:
            click.echo(f"  - {reason}")
