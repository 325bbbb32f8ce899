"""Labels that ask a bot to merge, recognised by name, since every bot has its own labels."""

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
# "do not merge" and "merge conflict" do not ask for a merge.
_ASKS_NOT: Final = re.compile(
    r"(?:dont|donot|not|no|never|cannot|cant|block|blocked|hold|needs)(?:be|yet|to|from|ready)*(?:auto)?merge"
    r"|merge(?:conflicts?|blocked|freeze)|emergenc(?:y|ies)"
)


def asks_to_merge(label: str) -> bool:
    """Whether a label looks like a request to a bot to merge.

    For coreloop's own pull requests: a false positive costs a click, a false negative the review.
    """
    return any(_ASKS.search(_ASKS_NOT.sub("", name)) for name in spellings(label))
