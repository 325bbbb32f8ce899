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
    line = f"read {numbers} from GitHub" if numbers else "nothing to read: the event is about no pull request"
    return GuardReport(lines=(line,), facts={"pulls": gathered.numbers, "out": str(gathered.folder)})


def report_acted(acted: "Acted") -> GuardReport:
    """The actions, and whether they were done."""
    done = "done" if acted.confirmed else "would"
    states = ("not done" if index in acted.failed else done for index in range(len(acted.actions)))
    lines = [f"{state}: {_action(action)}" for state, action in zip(states, acted.actions, strict=True)]
    failed = tuple(acted.failed.values())
    return GuardReport(
        lines=tuple(lines) or ("nothing to do",),
        facts={"actions": acted.actions, "confirmed": acted.confirmed, "failed": failed},
        errors=tuple(printable(text) for text in failed),
        code=1 if failed else 0,
    )


def report_published(published: "PublishedVerdict") -> GuardReport:
    """The decision, and where it was written."""
    verdict, sha = published.verdict, published.sha
    written = (
        f"wrote {verdict.state} to commit {sha[:12]}" if sha is not None else "no status: this job decides"
    )
    return GuardReport(
        lines=(*_decision(verdict), written),
        facts={"state": verdict.state, "sha": sha},
        code=0 if verdict.state == "success" or sha is not None else 1,
    )


def report_protected(protected: "Protected") -> GuardReport:
    """The differences from the wanted rules, which of them remain, and what keeps the rules from working."""
    changes = (f"{rule.rule}: {rule.now} -> {rule.wanted}" for rule in protected.before)
    ignored = (f"CODEOWNERS: {error}" for error in protected.owners_errors)
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
    notes = [f"note: {note}" for note in decision.notes]
    if not decision.claims and decision.state == "success":
        return ["passes: not a coreloop pull request", *notes]
    markers = (
        f", identified by {', '.join(map(say, decision.claims))}"
        if decision.claims
        else " on the same commit"
    )
    line = f"{_RESULTS[decision.state]}: coreloop pull request{markers}"
    listed = [f"  - {reason}" for reason in (*decision.reasons, *decision.waits)]
    cure = (_CURE,) if decision.state == "failure" else ()
    warnings = (f"warning: {warning}" for warning in decision.warnings)
    unread = (f"not read, which changes nothing: {entry}" for entry in decision.unread)
    return [line, *listed, *cure, *notes, *warnings, *unread]


def _action(action: "Action") -> str:
    label = f" {printable(action.label)}" if action.label is not None else ""
    return f"{action.what.replace('_', ' ')}{label}, #{action.pull}"


def _outcome(protected: "Protected") -> str:
    branch, n_before, n_after = protected.branch, len(protected.before), len(protected.after)
    if not n_before:
        return f"{branch} has the wanted rules"
    if not protected.confirmed:
        verb = "differs" if n_before == 1 else "differ"
        return f"{number_of(n_before, 'rule')} of {branch} {verb} from the file; --confirm applies the file"
    return f"{n_before - n_after} of {number_of(n_before, 'rule')} applied to {branch}"
