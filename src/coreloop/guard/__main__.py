"""``python -m coreloop.guard``: the guard's commands where nothing is installed but PyYAML."""

import argparse
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Final

from coreloop.base.chosen_language import choose_language
from coreloop.base.errors import CoreloopError, RefusedError
from coreloop.base.messages import speak
from coreloop.base.streams import outlive_readers
from coreloop.guard.check import check_event
from coreloop.guard.inputs import CheckInputs
from coreloop.guard.report import (
    GuardReport,
    report_acted,
    report_check,
    report_gathered,
    report_protected,
    report_published,
)

_HELP: Final = partial(argparse.HelpFormatter, width=100)  # without a width it loads shutil, 3 ms


def main(argv: Sequence[str]) -> int:
    """Run one command, print its report, and return the exit code."""
    arguments = _parser().parse_args(argv)
    speak(choose_language([], os.environ, getattr(arguments, "folder", Path())))
    try:
        report = _report(arguments)
        print(report.output(as_json=arguments.as_json), flush=True)
        for line in report.complaints(as_json=arguments.as_json):
            print(line, file=sys.stderr)
    except CoreloopError as error:
        print(f"coreloop.guard: {' '.join(str(error).split())}", file=sys.stderr)
        return 1 if isinstance(error, RefusedError) else 2
    except KeyboardInterrupt:
        return 130
    except Exception:
        import traceback  # 2 ms, for bugs only

        traceback.print_exc()
        print("coreloop.guard: this is a bug in coreloop; please report the lines above", file=sys.stderr)
        return 3
    return report.code


def _report(arguments: argparse.Namespace) -> GuardReport:
    if arguments.command == "check":
        return report_check(check_event(_inputs(arguments)))
    # only the other commands call GitHub
    from coreloop.guard.commit_status import publish
    from coreloop.guard.github import act, gather_to
    from coreloop.guard.protection import protect

    if arguments.command == "gather":
        return report_gathered(gather_to(arguments.out, _inputs(arguments), os.environ))
    if arguments.command == "act":
        return report_acted(act(_inputs(arguments), os.environ, confirm=arguments.confirm))
    if arguments.command == "publish":
        return report_published(publish(_inputs(arguments), arguments.decision, os.environ))
    return report_protected(protect(Path.cwd(), os.environ, confirm=arguments.confirm))


def _inputs(arguments: argparse.Namespace) -> CheckInputs:
    names = {field.name for field in fields(CheckInputs)}
    return CheckInputs(**{name: value for name, value in vars(arguments).items() if name in names})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m coreloop.guard",
        description="Keep promotions from merging without a human.",
        formatter_class=_HELP,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (text, options) in _COMMANDS.items():
        command = commands.add_parser(
            name, help=text, description=text, allow_abbrev=False, formatter_class=_HELP
        )
        for option in (*options, "--json"):
            command.add_argument(option, **_OPTIONS[option])
    return parser


_OPTIONS: Final[Mapping[str, dict[str, Any]]] = {
    "--event": {"type": Path, "required": True, "help": "The payload: $GITHUB_EVENT_PATH."},
    "--event-name": {"required": True, "help": "Its name: $GITHUB_EVENT_NAME."},
    "--repo": {
        "type": Path,
        "dest": "folder",
        "default": Path(),
        "help": "A checkout of the base.  [default: .]",
    },
    "--base": {"metavar": "SHA", "help": "Commit of the base.  [default: the payload's]"},
    "--reviews": {"type": Path, "help": "Reviews, as the API lists them."},
    "--pulls": {"type": Path, "help": "Pull requests, as the API shows them, as a list."},
    "--commits": {"type": Path, "help": "Commits as the API shows them, as a list."},
    "--decision": {"type": Path, "required": True, "help": "The output of check --json."},
    "--out": {"type": Path, "required": True, "help": "Folder for the answers, as JSON files."},
    "--confirm": {"action": "store_true", "help": "Apply the changes.  [default: dry run]"},
    "--json": {"action": "store_true", "dest": "as_json", "help": "Print JSON."},
}
_EVENT: Final = ("--event", "--event-name", "--repo", "--base")
_ANSWERS: Final = ("--reviews", "--pulls", "--commits")
_COMMANDS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "check": ("Check whether coreloop's rules let a pull request merge.", (*_EVENT, *_ANSWERS)),
    "gather": (
        "Fetch what check needs: pull requests, reviews, commits, the base's rules.",
        (*_EVENT, "--out"),
    ),
    "act": (
        "Remove labels that make a bot merge, and turn auto-merge off.",
        (*_EVENT, *_ANSWERS, "--confirm"),
    ),
    "publish": (
        "Write check's decision as a status of the head commit.",
        (*_EVENT, "--pulls", "--decision"),
    ),
    "protect": (
        "Compare the branch's rules on GitHub with .github/branch_protection.yml, and apply it.",
        ("--confirm",),
    ),
}


if __name__ == "__main__":
    gc.disable()  # 14 ms of a promotion's check (benchmarks/guard.py), and the process ends soon
    outlive_readers()
    sys.exit(main(sys.argv[1:]))
