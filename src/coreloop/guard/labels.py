"""Which labels ask a machine to merge: a pattern over what they are called, since every bot has its own."""

import re
from typing import Final

from coreloop.guard.letters import spellings

# Words of the labels and commands of merge bots and queues: Kodiak, Mergify, Bors, Bulldozer, Aviator, Marge,
# Homu, Tide, Zuul, merge trains, submit and commit queues, auto-submit, auto-land, ship-it.
_ASKS: Final = re.compile(
    r"merg|queue|kodiak|bors|homu|bulldozer|aviator|tide|zuul|rultor|marge"
    r"|auto(?:land|submit|approve|ship|squash|rebase|queue|commit|deploy)|(?:land|ship|submit)(?:it|me|when|now)"
    r"|readytoland|readytoship|readytosubmit|cqplus|lgtm|squashwhen|rebasewhen"
)
# "do not merge" and "merge conflict" ask for the opposite, or for nothing.
_ASKS_NOT: Final = re.compile(
    r"(?:dont|donot|not|no|never|cannot|cant|block|blocked|hold|needs)(?:be|yet|to|from|ready)*(?:auto)?merge"
    r"|merge(?:conflicts?|blocked|freeze)|emergenc(?:y|ies)"
)


def asks_to_merge(label: str) -> bool:
    """Whether a label looks like one that makes a bot merge.

    Meant for coreloop's own pull requests: there a false alarm costs a human one click, a miss the review.
    """
    return any(_ASKS.search(_ASKS_NOT.sub("", name)) for name in spellings(label))
