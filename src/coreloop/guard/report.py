"""What the guard's commands tell, whoever runs them: lines, the same facts as JSON, and the exit code."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from coreloop.text import counted, printable

if TYPE_CHECKING:  # who only checks asks GitHub nothing
    from coreloop.guard.github import Acted, Gathered
    from coreloop.guard.policy import Action, Decision
    from coreloop.guard.protection import Protected


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardReport:
    """What is shown.

    Attributes
    ----------
    lines, errors : tuple of str
        For standard output and for standard error.
    facts : mapping
        In place of both, for ``--json``.
    code : int
        0, or 1 where the answer is no.
    """

    lines: tuple[str, ...]
    facts: Mapping[str, Any]
    errors: tuple[str, ...] = ()
    code: int = 0

    def output(self, *, as_json: bool) -> str:
        """The text for standard output, without a newline at its end."""
        if as_json:
            return json.dumps(self.facts, indent=2, ensure_ascii=False, default=_plain)
        return "\n".join(self.lines)

    def complaints(self, *, as_json: bool) -> tuple[str, ...]:
        """The lines for standard error."""
        return () if as_json else self.errors


def report_check(decision: "Decision") -> GuardReport:
    """Whether a pull request may go on, and why not."""
    facts = {
        "passes": decision.passes,
        "coreloop": bool(decision.claims),
        "claims": decision.claims,
        "reasons": decision.reasons,
        "actions": decision.actions,
    }
    return GuardReport(lines=tuple(_decision(decision)), facts=facts, code=0 if decision.passes else 1)


def report_gathered(gathered: "Gathered") -> GuardReport:
    """What GitHub was asked about."""
    named = ", ".join(f"#{number}" for number in gathered.numbers)
    line = f"asked about {named}" if named else "nothing to ask: no pull request is in the queue"
    return GuardReport(lines=(line,), facts={"pulls": gathered.numbers, "out": str(gathered.folder)})


def report_acted(acted: "Acted") -> GuardReport:
    """What was done, or would be."""
    lines = [f"{_state(acted, at)}: {_action(action)}" for at, action in enumerate(acted.actions)]
    failed = tuple(acted.failed.values())
    return GuardReport(
        lines=tuple(lines) or ("nothing to do",),
        facts={"actions": acted.actions, "confirmed": acted.confirmed, "failed": failed},
        errors=tuple(map(printable, failed)),
        code=1 if failed else 0,
    )


def report_protected(protected: "Protected") -> GuardReport:
    """What differed from the wanted rules, and what is left of it."""
    differing = (f"{one.rule}: {one.now} -> {one.wanted}" for one in protected.found)
    return GuardReport(
        lines=(*differing, _outcome(protected)),
        facts={
            "branch": protected.branch,
            "differences": protected.found,
            "applied": protected.confirmed,
            "left": protected.left,
        },
        code=1 if protected.confirmed and protected.left else 0,
    )


def _decision(decision: "Decision") -> list[str]:
    if not decision.claims:
        return ["passes: this is none of coreloop's pull requests"]
    said = f"{'passes' if decision.passes else 'stops'}: coreloop's, by {', '.join(decision.claims)}"
    return [said, *(f"  - {reason}" for reason in decision.reasons)]


def _state(acted: "Acted", at: int) -> str:
    if at in acted.failed:
        return "not done"
    return "done" if acted.confirmed else "would"


def _action(action: "Action") -> str:
    label = f" {printable(action.label)}" if action.label is not None else ""
    return f"{action.what.replace('_', ' ')}{label}, #{action.pull}"


def _outcome(protected: "Protected") -> str:
    branch, n_found, n_left = protected.branch, len(protected.found), len(protected.left)
    if not n_found:
        return f"{branch} has the wanted rules"
    if not protected.confirmed:
        verb = "is" if n_found == 1 else "are"
        return f"{counted(n_found, 'rule')} of {branch} {verb} not as wanted; --confirm applies them"
    return f"{n_found - n_left} of {n_found} applied to {branch}"


def _plain(value: Any) -> dict[str, Any]:
    return asdict(value)
