"""The guard's decision, the remedies that it asks for, and what the base branch lets happen without it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from coreloop.base.text import printable

CONTEXT: Final = "block-coreloop-auto-merge"
_PROTECT: Final = "run dartlab-coreloop guard protect"
State = Literal["success", "pending", "failure"]


@dataclass(frozen=True, slots=True)
class Action:
    """A remedy for a violation; `label` for ``remove_label`` only."""

    what: Literal["remove_label", "disable_auto_merge"]
    pull: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class GuardDecision:
    """Whether a pull request passes.

    Attributes
    ----------
    claims : tuple of str
        The signs that it is coreloop's; empty for other pull requests.
    reasons : tuple of str
        Why it must not be merged.
    waits : tuple of str
        What it waits for: a human's approval.
    actions : tuple of Action
        Remedies; they do not change the decision, even if they succeed.
    notes : tuple of str
        Whose words a reviewer reads, where these are not coreloop's.
    warnings : tuple of str
        Rules that the base branch lacks; they do not change the decision.
    unread : tuple of str
        Rules of the base branch that could not be read.
    """

    claims: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        """The commit status: only what waits for nothing and has no reason against it is a success."""
        return "failure" if self.reasons else "pending" if self.waits else "success"

    @property
    def passes(self) -> bool:
        """Whether it may be merged."""
        return self.state == "success"


@dataclass(frozen=True, slots=True)
class BaseRules:
    """The rules of a branch, from its rulesets and its classic protection; None if unknown.

    They explain a decision and never change it.

    Attributes
    ----------
    requires_status : bool, optional
        Whether the guard's status must be green.
    require_last_push_approval : bool, optional
        Whether someone other than the last pusher must approve.
    unread : str
        What could not be read, and why; "" if everything could.
    """

    requires_status: bool | None = None
    require_last_push_approval: bool | None = None
    unread: str = ""

    def warnings(self, branch: str) -> Iterator[str]:
        """The rules that the branch lacks."""
        where = printable(branch)
        if self.requires_status is False:
            yield (f"{where} does not require the status {CONTEXT}, so a red one stops no merge; {_PROTECT}")
        if self.require_last_push_approval is False:
            yield f"{where} lets the last pusher approve; {_PROTECT}"
