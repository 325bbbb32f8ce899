"""The guard's commands, for ``python -m coreloop.guard`` where nothing is installed but PyYAML.

`coreloop.cli.guard` shows the same commands as ``dartlab-coreloop guard``; a command's docstring is its help.
"""

import argparse
import gc
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any, Final

from coreloop.base.errors import CoreloopError, RefusedError
from coreloop.base.streams import outlive_readers
from coreloop.base.text import printable
from coreloop.guard.change import CheckInputs, read_as
from coreloop.guard.check import Decision, check_event

_RESULTS: Final = {"success": "passes", "pending": "waits", "failure": "stops"}
_HELP: Final = partial(argparse.HelpFormatter, width=100)  # without a width it loads shutil, 3 ms
Options = Mapping[str, Any]
Report = tuple[list[str], Mapping[str, Any], int]
"""The lines that a command prints, its JSON, and its exit code."""


def main(words: Sequence[str]) -> int:
    """Run one command, print its report, and return the exit code."""
    options = vars(_parser().parse_args(words))
    try:
        report = COMMANDS[options["command"]][0](options)
        print(output(report, as_json=options["as_json"]), flush=True)
    except CoreloopError as error:
        print(f"coreloop.guard: {' '.join(str(error).split())}", file=sys.stderr)
        return 1 if isinstance(error, RefusedError) else 2
    except Exception:  # a code of its own: 1 says that something was decided
        import traceback  # 2 ms, for bugs only

        traceback.print_exc()
        return 3
    return report[2]


def output(report: Report, *, as_json: bool) -> str:
    """A report as text, or as JSON."""
    return json.dumps(report[1], indent=2, ensure_ascii=False) if as_json else "\n".join(report[0])


def _inputs(options: Options) -> CheckInputs:
    names = {field.name for field in fields(CheckInputs)}
    return CheckInputs(**{name: value for name, value in options.items() if name in names})


def _check(options: Options) -> Report:
    """Decide whether a pull request may merge.

    As far as coreloop is concerned. Exits 1 if it waits for an approval or must not merge, 2 if something
    cannot be read. Contacts no server and runs no code of the pull request.

    Example: guard check --event event.json --event-name pull_request
    """
    decision = check_event(_inputs(options))
    facts = {"state": decision.state, **asdict(decision)}
    return [*_decided(decision)], facts, int(decision.state != "success")


def _decided(decision: Decision) -> Iterator[str]:
    if not decision.coreloop:
        yield "passes: not a coreloop pull request"
        return
    yield f"{_RESULTS[decision.state]}: coreloop pull request"
    yield from (f"  - {reason}" for reason in (*decision.reasons, *decision.waits))
    if decision.reasons:
        yield "promote it again; or take the trailers and the title's mark off, for an ordinary pull request"
    yield from (f"note: {note}" for note in decision.notes)


def _gather(options: Options) -> Report:
    """Read the pull request that check decides on.

    Of a promotion also its reviews, its commits, who pushed, and what the rules of its base leave open.
    Read-only. The token comes from GITHUB_TOKEN or GH_TOKEN.

    Example: guard gather --event event.json --event-name pull_request --out out
    """
    from coreloop.guard.github import gather

    numbers = gather(options["out"], _inputs(options), os.environ)
    read = ", ".join(f"#{number}" for number in numbers) or "nothing"
    return [f"read {read} from GitHub"], {"pulls": numbers, "out": str(options["out"])}, 0


def _act(options: Options) -> Report:
    """Take off labels that ask a machine to merge, and auto-merge.

    Decides as check does; without the files of gather, from the event. Exits 1 if GitHub refuses.

    Example: guard act --event event.json --event-name pull_request --confirm
    """
    from coreloop.guard.github import act

    done, failed = act(_inputs(options), os.environ, confirm=options["confirm"])
    verb = "took off" if options["confirm"] else "would take off"
    lines = [*(f"{verb} {text}" for text in done), *(f"not taken off: {text}" for text in failed)]
    facts = {"actions": done, "confirmed": options["confirm"], "failed": failed}
    return [*map(printable, lines)] or ["nothing to take off"], facts, int(bool(failed))


def _publish(options: Options) -> Report:
    """Write check's decision as a status of the head commit.

    Every event writes the same status, so the last one counts. A fork's pull request gets none, since its
    token only reads: the exit code is then 1 unless the decision is green.

    Example: guard publish --event event.json --event-name pull_request --decision decision.json
    """
    from coreloop.guard.github import publish

    decision = read_as(options["decision"], Decision, "decision of guard check --json")
    sha = publish(_inputs(options), decision, os.environ)
    written = f"wrote {decision.state} to commit {sha[:12]}" if sha else "no status: this job decides"
    code = int(sha is None and decision.state != "success")
    return [*_decided(decision), written], {"state": decision.state, "sha": sha}, code


def _protect(options: Options) -> Report:
    """Compare GitHub's branch rules with the wanted ones; apply them.

    .github/branch_protection.yml has them. Says what is open while a rule is missing. Stricter rules and
    those that the file does not name stay. Refuses until the guard's check was green once. The token in
    GITHUB_TOKEN or GH_TOKEN needs administration rights.

    Example: guard protect --confirm
    """
    from coreloop.guard.protection import protect

    its = protect(Path.cwd(), os.environ, confirm=options["confirm"])
    lines = [f"{rule.rule}: {rule.now} -> {rule.wanted} ({rule.open})" for rule in its.before]
    lines += [f"--confirm refuses: {its.missing}"] if its.missing else []
    n, left = len(its.before), len(its.after)
    last = f"{n - left} of {n} rules applied" if its.confirmed else f"--confirm applies {n} rules"
    lines.append(f"{last} to {its.branch}" if n else f"{its.branch} has the wanted rules")
    return lines, asdict(its), int(its.confirmed and left > 0)


OPTIONS: Final[Mapping[str, dict[str, Any]]] = {
    "--event": {"type": Path, "required": True, "help": "The event's payload: $GITHUB_EVENT_PATH."},
    "--event-name": {"required": True, "help": "The event's name: $GITHUB_EVENT_NAME."},
    "--repo": {
        "type": Path,
        "dest": "folder",
        "default": ".",
        "help": "A checkout of the base, else this folder.",
    },
    "--base": {"metavar": "SHA", "help": "Commit of the base, instead of the payload's."},
    "--reviews": {"type": Path, "help": "Reviews as the API lists them."},
    "--pulls": {"type": Path, "help": "Pull requests as the API shows them, as a JSON list."},
    "--commits": {"type": Path, "help": "Commits as the API shows them, as a JSON list."},
    "--decision": {"type": Path, "required": True, "help": "The output of check --json."},
    "--out": {"type": Path, "required": True, "help": "Folder for the answers, as JSON files."},
    "--confirm": {"action": "store_true", "help": "Carry it out; without it, nothing changes."},
    "--json": {"action": "store_true", "dest": "as_json", "help": "Print JSON instead of text."},
}
_EVENT: Final = ("--event", "--event-name", "--repo", "--base")
_ANSWERS: Final = (*_EVENT, "--reviews", "--pulls", "--commits")
COMMANDS: Final[Mapping[str, tuple[Callable[[Options], Report], tuple[str, ...]]]] = {
    "check": (_check, (*_ANSWERS, "--json")),
    "gather": (_gather, (*_EVENT, "--out", "--json")),
    "act": (_act, (*_ANSWERS, "--confirm", "--json")),
    "publish": (_publish, (*_EVENT, "--pulls", "--decision", "--json")),
    "protect": (_protect, ("--confirm", "--json")),
}
"""What runs each command, and its options."""


def _parser() -> argparse.ArgumentParser:
    about = "Stop promotions from merging without a human."
    parser = argparse.ArgumentParser("python -m coreloop.guard", description=about, formatter_class=_HELP)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (run, options) in COMMANDS.items():
        text = run.__doc__ or ""
        command = commands.add_parser(
            name, help=text.partition("\n")[0], description=text, allow_abbrev=False, formatter_class=_HELP
        )
        for option in options:
            command.add_argument(option, **OPTIONS[option])
    return parser


if __name__ == "__main__":
    gc.disable()  # 14 ms of a promotion's check (benchmarks/guard.py), and the process ends soon
    outlive_readers()
    sys.exit(main(sys.argv[1:]))
