"""What the rules of a promotion's base branch require. They explain a decision and never change it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from coreloop.base.text import printable

CONTEXT: Final = "block-coreloop-auto-merge"
_PROTECT: Final = "run dartlab-coreloop guard protect"


@dataclass(frozen=True, slots=True)
class BaseRules:
    """The rules of a branch, from its rulesets and its classic protection; None if unknown.

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
            yield f"{where} does not require the status {CONTEXT}, so a red one stops no merge; {_PROTECT}"
        if self.require_last_push_approval is False:
            yield f"{where} lets the last pusher approve; {_PROTECT}"

    @property
    def is_settled(self) -> bool:
        """Whether the branch requires both, so that nothing else can change it."""
        return bool(self.requires_status and self.require_last_push_approval)
