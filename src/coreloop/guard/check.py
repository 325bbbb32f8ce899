"""``guard check``: whether an event is about a promotion, and the decision.

Ordinary work is recognised here; only a possible promotion loads the rules and PyYAML.
"""

from typing import TYPE_CHECKING

from coreloop.guard.approval import needs_approval
from coreloop.guard.change import read_change, read_texts
from coreloop.guard.claims import claims_of_event
from coreloop.guard.decision import Decision
from coreloop.guard.event import Event, MergeGroupEvent, PullRequestEvent, PushEvent
from coreloop.guard.inputs import Answers, CheckInputs, read_answers, read_range
from coreloop.guard.ordinary import is_ordinary
from coreloop.history.repository import Repository

if TYPE_CHECKING:
    from coreloop.guard.policy import Facts


def check_event(inputs: CheckInputs) -> Decision:
    """Read the facts of an event and decide.

    Raises
    ------
    CoreloopError
        An input cannot be read or is unknown; the check must fail.
    """
    event, answers = read_answers(inputs)
    facts = _facts_of_promotion(event, answers, inputs)
    if facts is None:
        return Decision()
    from coreloop.guard.policy import decide

    return decide(event, facts)


def needs_reviews(inputs: CheckInputs) -> bool:
    """Whether the decision depends on reviews: a merge group, or a promotion that is not a draft.

    Raises
    ------
    CoreloopError
        An input cannot be read.
    """
    event, answers = read_answers(inputs)
    if not isinstance(event, PullRequestEvent) or not needs_approval(event):
        return isinstance(event, MergeGroupEvent)
    if any(claims_of_event(event, titled=True)):
        return True
    facts = _facts_of_promotion(event, answers, inputs)
    if facts is None:
        return False
    from coreloop.guard.policy import claims

    return bool(claims(event, facts))


def needs_rules(inputs: CheckInputs) -> bool:
    """Whether the base's rules matter: a promotion that is not a draft, also in a merge group.

    Raises
    ------
    CoreloopError
        An input cannot be read.
    """
    event, answers = read_answers(inputs)
    if not isinstance(event, MergeGroupEvent):
        return needs_reviews(inputs)
    facts = _facts_of_promotion(event, answers, inputs)
    if facts is None:
        return False
    from coreloop.guard.policy import claims

    return bool(claims(event, facts))


def _facts_of_promotion(event: Event, answers: Answers, inputs: CheckInputs) -> "Facts | None":
    """The facts of a possible promotion; None for ordinary work."""
    if isinstance(event, PushEvent):
        return None
    base, head = read_range(event, inputs)
    with Repository(inputs.folder) as repository:
        change = read_change(repository, base=base, head=head)
        files = read_texts(repository, change.merge_base, head)
        if is_ordinary(event, answers.pulls, change.commits, files):
            return None
        from coreloop.guard.facts import read_facts

        return read_facts(repository, event, change, folder=inputs.folder, answers=answers)
