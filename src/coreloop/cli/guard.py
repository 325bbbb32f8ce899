"""``dartlab-coreloop guard check``, ``gather``, ``act``, ``publish`` and ``protect``."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coreloop.cli.options import FILE, FOLDER, confirm_option, options
from coreloop.cli.output import Group, Output, is_json

if TYPE_CHECKING:
    from coreloop.guard.report import GuardReport

_pulls_option = click.option(
    "--pulls", type=FILE, help="Pull requests as the API shows them, as a JSON list."
)
_event_options = options(
    click.option("--event", type=FILE, required=True, help="The event's payload: $GITHUB_EVENT_PATH."),
    click.option("--event-name", required=True, help="The event's name: $GITHUB_EVENT_NAME."),
    click.option("--repo", "folder", type=FOLDER, default=".", help="A checkout of the base.  [default: .]"),
    click.option("--base", metavar="SHA", help="Commit of the base.  [default: the payload's]"),
)
_answer_options = options(
    click.option("--reviews", type=FILE, help="Reviews as the API lists them.  [default: no reviews]"),
    _pulls_option,
    click.option("--commits", type=FILE, help="Commits as the API shows them, as a JSON list."),
)


@click.group(cls=Group)
def guard() -> None:
    """Stop promotions from merging without a human."""


@guard.command()
@_event_options
@_answer_options
def check(**options: Any) -> Output:
    """Decide whether a pull request may merge, as far as coreloop is concerned.

    Exits 1 if it waits for an approval or must not merge, 2 if something cannot be read. Contacts no server
    and runs no code of the pull request.

    Example: guard check --event event.json --event-name pull_request
    """
    from coreloop.guard.check import check_event
    from coreloop.guard.inputs import CheckInputs
    from coreloop.guard.report import report_check

    return _output(report_check(check_event(CheckInputs(**options))))


@guard.command()
@_event_options
@click.option(
    "--out", type=FOLDER, required=True, help="Folder for reviews.json, pulls.json and commits.json."
)
def gather(out: Path, **options: Any) -> Output:
    """Read the pull request that check decides on, its reviews and commits, and the base's rules.

    All but the pull request are read only where something may be a promotion. Rules that the token may not
    read are no error. Read-only. The token comes from GITHUB_TOKEN or GH_TOKEN.

    Example: guard gather --event event.json --event-name pull_request --out answers
    """
    from coreloop.guard.github import gather_to
    from coreloop.guard.inputs import CheckInputs
    from coreloop.guard.report import report_gathered

    return _output(report_gathered(gather_to(out, CheckInputs(**options), os.environ)))


@guard.command()
@_event_options
@_answer_options
@confirm_option
def act(confirm: bool, **options: Any) -> Output:
    """Remove labels that ask a machine to merge, and disable auto-merge.

    Decides as check does and undoes what blocks the pull request, as far as the token allows. Without the
    files of gather, it decides from the event. Exits 1 if an action failed.

    Example: guard act --event event.json --event-name pull_request --confirm
    """
    from coreloop.guard.github import act
    from coreloop.guard.inputs import CheckInputs
    from coreloop.guard.report import report_acted

    return _output(report_acted(act(CheckInputs(**options), os.environ, confirm=confirm)))


@guard.command()
@_event_options
@_pulls_option
@click.option("--decision", type=FILE, required=True, help="The output of check --json.")
def publish(decision: Path, **options: Any) -> Output:
    """Write check's decision as a status of the head commit.

    Every event writes the same status, so the last one counts. A fork's pull request gets none, since its
    token only reads: the exit code is then 1 unless the decision is green.

    Example: guard publish --event event.json --event-name pull_request --decision decision.json
    """
    from coreloop.guard.commit_status import publish
    from coreloop.guard.inputs import CheckInputs
    from coreloop.guard.report import report_published

    published = publish(CheckInputs(**options), decision, os.environ)
    return _output(report_published(published))


@guard.command()
@confirm_option
def protect(confirm: bool) -> Output:
    """Compare the branch rules on GitHub with .github/branch_protection.yml, and apply them.

    Rules that the file does not name stay, and so do stricter rules. Refuses until the guard's check was
    green once, shows the errors that GitHub finds in CODEOWNERS, and what the rules mean for a lone
    maintainer. The token in GITHUB_TOKEN or GH_TOKEN needs administration rights.

    Example: guard protect --confirm
    """
    from coreloop.guard.protection import protect
    from coreloop.guard.report import report_protected

    return _output(report_protected(protect(Path.cwd(), os.environ, confirm=confirm)))


def _output(report: "GuardReport") -> Output:
    lines = report.output(as_json=is_json())
    return Output(lines, lines, report.complaints(as_json=is_json()), report.code)
