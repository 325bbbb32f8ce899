"""``guard check``: from an event's files to the decision; reads the facts and lets the rules decide.

Ordinary work is recognised here; only a possible promotion loads the rules, PyYAML and coreloop.yaml.
"""

from coreloop.base.git.promotions import reverted_in
from coreloop.base.git.repository import Repository
from coreloop.guard.change import CommitRange, read_change, read_texts
from coreloop.guard.claims import claims_of_commits, claims_of_pull
from coreloop.guard.decision import GuardDecision
from coreloop.guard.event import Event, MergeGroupEvent, PullRequestEvent, PushEvent
from coreloop.guard.inputs import Answers, CheckInputs, read_answers, read_range


def check_event(inputs: CheckInputs) -> GuardDecision:
    """Read the facts of an event and decide.

    Raises
    ------
    CoreloopError
        An input cannot be read or is unknown; the check must fail.
    """
    event, answers = read_answers(inputs)
    return decide_event(event, answers, inputs)


def needs_details(inputs: CheckInputs) -> bool:
    """Whether the decision depends on reviews and on who made the commits."""
    event, answers = read_answers(inputs)
    if isinstance(event, PushEvent):
        return False
    if _is_stated(event, answers):  # its commits need not be here
        return True
    base, head = read_range(event, inputs)
    with Repository(inputs.folder) as repository:
        return _may_bring_lines(repository, read_change(repository, base=base, head=head))


def decide_event(event: Event, answers: Answers, inputs: CheckInputs) -> GuardDecision:
    """Decide on an event and the API's answers, as they have been read."""
    if isinstance(event, PushEvent):
        return GuardDecision()
    base, head = read_range(event, inputs)
    with Repository(inputs.folder) as repository:
        change = read_change(repository, base=base, head=head)
        if not (_is_stated(event, answers) or _may_bring_lines(repository, change)):
            return GuardDecision()
        from coreloop.guard.facts import read_facts
        from coreloop.guard.policy import decide

        return decide(event, read_facts(repository, event, change, folder=inputs.folder, answers=answers))


def _is_stated(event: PullRequestEvent | MergeGroupEvent, answers: Answers) -> bool:
    """Whether the words of a pull request say that it is a promotion, or what it reverts."""
    pulls = (event.pull,) if isinstance(event, PullRequestEvent) else answers.pulls
    return any(reverted_in(pull.message) or any(claims_of_pull(pull, titled=True)) for pull in pulls)


def _may_bring_lines(repository: Repository, change: CommitRange) -> bool:
    """Whether a message is a sign of a promotion or revert, or a docstring gains a line that may be one."""
    if any(claims_of_commits(change.commits)) or any(reverted_in(its.message) for its in change.commits):
        return True
    texts = tuple(read_texts(repository, change.merge_base, change.head))
    if not any(text.may_gain() for text in texts):
        return False
    from coreloop.guard.added_lines import read_added_lines  # loads what edits docstrings

    return bool(read_added_lines(texts, lambda path: repository.followed(change.base, path)))
