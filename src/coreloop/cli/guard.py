"""``dartlab-coreloop guard check``, ``guard gather``, ``guard act`` and ``guard protect``."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.options import FILE, FOLDER, json_option

if TYPE_CHECKING:
    from coreloop.guard.report import GuardReport

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _event_options(command: _Command) -> _Command:
    """What happened, and where what it is about can be read."""
    for option in reversed(
        [
            click.option("--event", type=FILE, required=True, help="The payload: $GITHUB_EVENT_PATH."),
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
            click.option("--reviews", type=FILE, help="Reviews, as the API lists them; without it none."),
            click.option("--pulls", type=FILE, help="Pull requests of a merge group, as a list."),
            click.option("--commits", type=FILE, help="Commits as the API shows them, as a list."),
        ]
    ):
        command = option(command)
    return command


@click.group(cls=SuggestingGroup)
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
    from coreloop.guard.facts import CheckInputs, check_event
    from coreloop.guard.report import report_check

    _show(report_check(check_event(CheckInputs(**options))), as_json=as_json)


@command.command()
@_event_options
@click.option("--out", type=FOLDER, required=True, help="Where reviews, pulls and commits .json go.")
@json_option
def gather(out: Path, as_json: bool, **options: Any) -> None:
    """Ask GitHub what check needs in the merge queue: reviews, pull requests, commits.

    For any other event the lists are empty, and nothing is asked. Only reads. The token comes from
    GITHUB_TOKEN or GH_TOKEN.
    """
    from coreloop.guard.facts import CheckInputs
    from coreloop.guard.github import gather_to
    from coreloop.guard.report import report_gathered

    _show(report_gathered(gather_to(out, CheckInputs(**options), os.environ)), as_json=as_json)


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
    from coreloop.guard.facts import CheckInputs
    from coreloop.guard.github import act
    from coreloop.guard.report import report_acted

    _show(report_acted(act(CheckInputs(**options), os.environ, confirm=confirm)), as_json=as_json)


@command.command()
@click.option("--confirm", is_flag=True, help="Apply; without it the difference is shown.")
@json_option
def protect(confirm: bool, as_json: bool) -> None:
    """Compare the branch's rules on GitHub with .github/branch_protection.yml, and apply it.

    Rules that the file does not name stay, and stricter ones too. The token comes from GITHUB_TOKEN or
    GH_TOKEN and must be allowed to administer the repository.
    """
    from coreloop.guard.protection import protect
    from coreloop.guard.report import report_protected

    _show(report_protected(protect(Path.cwd(), os.environ, confirm=confirm)), as_json=as_json)


def _show(report: "GuardReport", *, as_json: bool) -> None:
    click.echo(report.output(as_json=as_json))
    for line in report.complaints(as_json=as_json):
        click.echo(line, err=True)
    click.get_current_context().exit(report.code)
