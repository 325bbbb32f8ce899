"""What lets a machine merge: GitHub's auto-merge, and labels, known by name, since every bot has its own."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from coreloop.base.letters import plain_letters, spellings
from coreloop.base.text import printable
from coreloop.guard.decision import Action
from coreloop.guard.event import ReportedPull

# Words of the labels and commands of merge bots and queues: Kodiak, Mergify, Bors, Bulldozer, Aviator, Marge,
# Homu, Tide, Zuul, merge trains, submit and commit queues, auto-submit, auto-land, ship-it.
_ASKS: Final = re.compile(
    r"merg|queue|kodiak|bors|homu|bulldozer|aviator|tide|zuul|rultor|marge"
    r"|auto(?:land|submit|approve|ship|squash|rebase|queue|commit|deploy)|(?:land|ship|submit)(?:it|me|when|now)"
    r"|readytoland|readytoship|readytosubmit|cqplus|cq1|lgtm|squashwhen|rebasewhen"
)
# "do not merge" and "merge conflict" do not ask for a merge.
_ASKS_NOT: Final = re.compile(
    r"(?:dont|donot|not|no|never|cannot|cant|block|blocked|hold|needs)(?:be|yet|to|from|ready)*(?:auto)?merge"
    r"|merge(?:conflicts?|blocked|freeze)|emergenc(?:y|ies)"
)
# In Korean, Japanese and Chinese; the negations as above: "병합 금지", "マージ禁止", "请勿合并", "合并冲突".
_MERGE: Final = ("병합", "머지", "マージ", "併合", "合并", "合併", "合入", "自動統合", "入队", "入隊")
_NOT_BEFORE: Final = ("请勿", "請勿", "不要", "禁止", "暂不", "暫不", "不可", "勿", "别", "別")
_NOT_AFTER: Final = (
    *("금지", "보류", "불가", "충돌", "하지마", "하지않", "안함", "차단"),
    *("禁止", "不可", "しない", "保留", "コンフリクト", "競合", "冲突", "衝突"),
)
# bors: "r+", also as "@bors r+ rollup", and "r=name"; not "C++", "r+d" or "for+".
_APPROVES: Final = re.compile(r"(?<![^\W_])r(?: ?\+(?![^\W_])|=\w)")


def _any_of(words: tuple[str, ...]) -> str:
    return "|".join(map(plain_letters, words))


_ASKS_CJK: Final = re.compile(_any_of(_MERGE))
_ASKS_NOT_CJK: Final = re.compile(
    rf"(?:{_any_of(_NOT_BEFORE)})(?:{_any_of(('自动', '自動'))})?(?:{_any_of(_MERGE)})"
    rf"|(?:{_any_of(_MERGE)})(?:{_any_of(_NOT_AFTER)})"
)


def asks_to_merge(label: str) -> bool:
    """Whether a label looks like a request to a bot to merge.

    For coreloop's own pull requests: a false positive costs a click, a false negative the review.
    """
    if _APPROVES.search(unicodedata.normalize("NFKC", label).casefold()):
        return True
    if _ASKS_CJK.search(_ASKS_NOT_CJK.sub("", plain_letters(label))):
        return True
    return any(_ASKS.search(_ASKS_NOT.sub("", name)) for name in spellings(label))


def refuse_merging(pull: ReportedPull) -> Iterator[str]:
    """Why a machine may merge a pull request."""
    for label in filter(asks_to_merge, pull.labels):
        yield f"the label {printable(label)} of #{pull.number} asks a bot to merge; remove it"
    if pull.auto_merge:
        yield f"auto-merge of #{pull.number} is on; turn it off"


def remedies(pull: ReportedPull) -> Iterator[Action]:
    """What takes that back."""
    for label in filter(asks_to_merge, pull.labels):
        yield Action("remove_label", pull.number, label)
    if pull.auto_merge:
        yield Action("disable_auto_merge", pull.number)
