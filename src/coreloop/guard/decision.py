"""The guard's decision, and the remedies that it asks for."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Action:
    """A remedy for a violation; `label` for ``remove_label`` only."""

    what: Literal["remove_label", "disable_auto_merge", "convert_to_draft"]
    pull: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a pull request passes.

    Attributes
    ----------
    claims : tuple of str
        The signs that it is coreloop's; empty for other pull requests.
    reasons : tuple of str
        Why it does not pass; empty if it passes.
    actions : tuple of Action
        Remedies; they do not change the decision, even if they succeed.
    warnings : tuple of str
        Rules that the base branch lacks; they do not change the decision.
    unread : tuple of str
        Rules of the base branch that could not be read.
    """

    claims: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    warnings: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        return not self.reasons
