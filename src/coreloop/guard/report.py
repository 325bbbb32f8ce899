"""Reports of the guard's commands: lines, the same facts as JSON, and the exit code."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from coreloop.base.messages import number_of, say
from coreloop.base.text import printable

if TYPE_CHECKING:  # `check` must not load the GitHub client
    from coreloop.guard.commit_status import PublishedVerdict
    from coreloop.guard.decision import Action, GuardDecision
    from coreloop.guard.github import Acted, Gathered
    from coreloop.guard.protection import Protected

_RESULTS: Final = {"success": "passes", "pending": "waits", "failure": "stops"}
_CURE: Final = (
    "Fix every point above, or close it and promote again; if it is no promotion, remove what identifies it "
    "as one. The check then runs by itself."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardReport:
    """The report of a command.

    Attributes
    ----------
    lines, errors : tuple of str
        For standard output and standard error.
    facts : mapping
        Replaces both with ``--json``.
    code : int
        0, or 1 for a failed check or action.
    """

    lines: tuple[str, ...]
    facts: Mapping[str, Any]
    errors: tuple[str, ...] = ()
    code: int = 0

    def output(self, *, as_json: bool) -> str:
        """The text for standard output, without a trailing newline."""
        if as_json:
            return json.dumps(self.facts, indent=2, ensure_ascii=False, default=asdict)
        return "\n".join(self.lines)

    def complaints(self, *, as_json: bool) -> tuple[str, ...]:
        """The lines for standard error."""
        return () if as_json else self.errors


def report_check(decision: "GuardDecision") -> GuardReport:
    """Whether a pull request passes, and why not."""
    facts = {
        "state": decision.state,
        "coreloop": bool(decision.claims),
        **{field.name: getattr(decision, field.name) for field in fields(decision)},
    }
    return GuardReport(lines=tuple(_decision(decision)), facts=facts, code=0 if decision.passes else 1)


def report_gathered(gathered: "Gathered") -> GuardReport:
    """The pull requests that were read."""
    numbers = ", ".join(f"#{number}" for number in gathered.numbers)
    line = (
        say("read {numbers} from GitHub", numbers=numbers)
        if numbers
        else say("nothing to read: the event is about no pull request")
    )
    return GuardReport(lines=(line,), facts={"pulls": gathered.numbers, "out": str(gathered.folder)})


def report_acted(acted: "Acted") -> GuardReport:
    """The actions, and whether they were done."""
    done = say("done" if acted.confirmed else "would")
    states = (say("not done") if index in acted.failed else done for index in range(len(acted.actions)))
    lines = [f"{state}: {_action(action)}" for state, action in zip(states, acted.actions, strict=True)]
    failed = tuple(acted.failed.values())
    return GuardReport(
        lines=tuple(lines) or (say("nothing to do"),),
        facts={"actions": acted.actions, "confirmed": acted.confirmed, "failed": failed},
        errors=tuple(printable(say(text)) for text in failed),
        code=1 if failed else 0,
    )


def report_published(published: "PublishedVerdict") -> GuardReport:
    """The decision, and where it was written."""
    verdict, sha = published.verdict, published.sha
    written = (
        say("wrote {state} to commit {sha}", state=verdict.state, sha=sha[:12])
        if sha is not None
        else say("no status: this job decides")
    )
    return GuardReport(
        lines=(*_decision(verdict), written),
        facts={"state": verdict.state, "sha": sha},
        code=0 if verdict.state == "success" or sha is not None else 1,
    )


def report_protected(protected: "Protected") -> GuardReport:
    """The differences from the wanted rules, which of them remain, and what keeps the rules from working."""
    changes = (f"{say(rule.rule)}: {rule.now} -> {rule.wanted}" for rule in protected.before)
    ignored = (f"CODEOWNERS: {say(error)}" for error in protected.owners_errors)
    return GuardReport(
        lines=(*changes, *ignored, *map(say, protected.notes), _outcome(protected)),
        facts={
            "branch": protected.branch,
            "differences": protected.before,
            "applied": protected.confirmed,
            "left": protected.after,
            "owners_errors": protected.owners_errors,
            "notes": protected.notes,
        },
        code=1 if protected.confirmed and (protected.after or protected.owners_errors) else 0,
    )


def _decision(decision: "GuardDecision") -> list[str]:
    notes = [say("note: {note}", note=say(note)) for note in decision.notes]
    if not decision.claims and decision.state == "success":
        return [say("passes: not a coreloop pull request"), *notes]
    markers = (
        say(", identified by {claims}", claims=", ".join(map(say, decision.claims)))
        if decision.claims
        else say(" on the same commit")
    )
    line = say(
        "{result}: coreloop pull request{markers}", result=say(_RESULTS[decision.state]), markers=markers
    )
    listed = [f"  - {say(reason)}" for reason in (*decision.reasons, *decision.waits)]
    cure = (say(_CURE),) if decision.state == "failure" else ()
    warnings = (say("warning: {warning}", warning=say(warning)) for warning in decision.warnings)
    unread = (say("not read, which changes nothing: {entry}", entry=say(entry)) for entry in decision.unread)
    return [line, *listed, *cure, *notes, *warnings, *unread]


def _action(action: "Action") -> str:
    label = f" {printable(action.label)}" if action.label is not None else ""
    return f"{action.what.replace('_', ' ')}{label}, #{action.pull}"


def _outcome(protected: "Protected") -> str:
    branch, n_before, n_after = protected.branch, len(protected.before), len(protected.after)
    if not n_before:
        return say("{branch} has the wanted rules", branch=branch)
    if not protected.confirmed:
        verb = "differs" if n_before == 1 else "differ"
        return say(
            "{rules} of {branch} {verb} from the file; --confirm applies the file",
            rules=number_of(n_before, "rule"),
            branch=branch,
            verb=verb,
        )
    return say(
        "{n_applied} of {rules} applied to {branch}",
        n_applied=n_before - n_after,
        rules=number_of(n_before, "rule"),
        branch=branch,
    )
