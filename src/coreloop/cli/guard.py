"""``dartlab-coreloop guard check``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import orjson

from coreloop.cli.options import FOLDER, json_option

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

    _, decision = check(Asked(**options))
    _show(decision, as_json=as_json)
    click.get_current_context().exit(0 if decision.passes else 1)


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
