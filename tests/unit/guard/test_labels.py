"""Labels that ask a machine to merge, however they are written; and those that do not."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.letters import _FOLDED, plain_letters
from coreloop.guard.labels import asks_to_merge
from rows import each_row

ASKS = [
    *("auto-merge", "automerge", "auto merge", "AUTO_MERGE", "Auto Merge", "auto.merge", "auto:merge"),
    *("ready-to-merge", "ready to merge", "Ready for merging", "merge when passing", "merge-when-green"),
    *("merge", "Merge Me", "merge it", "mergeable", "merge-queue", "queue", "Queued", "add-to-queue"),
    *(
        "kodiak",
        "kodiak: merge.method",
        "mergify",
        "bors",
        "bors-merge",
        "bulldozer",
        "aviator",
        "mergequeue",
    ),
    *("marge-bot", "merge-train", "submit-queue", "commit-queue", "autosubmit", "autoland", "ready to land"),
    *(
        "ship it",
        "🚀 shipit",
        "lgtm",
        "/lgtm",
        "tide",
        "squash when ready",
        "gitmergebot",
        "automerge-squash",
    ),
    *("dependencies: automerge", "renovate/automerge", "pre-merge", "autoapprove", "🔀 automerge"),
    *("m3rg3", "aut0merge", "ａｕｔｏ－ｍｅｒｇｅ", "𝐚𝐮𝐭𝐨𝐦𝐞𝐫𝐠𝐞", "🅰🆄🆃🅾🅼🅴🆁🅶🅴", "ⓐⓤⓣⓞⓜⓔⓡⓖⓔ", "ᴀᴜᴛᴏᴍᴇʀɢᴇ"),
    *("аutоmеrgе", "ΑυτοΜεrge", "auto\u200bmer\u00adge", "áütömèrgé", "auto\u2060merge", "mergе-quеuе"),
    *("자동 병합", "자동병합", "병합", "🚀 자동-머지", "바로 머지", "머지 대기", "병합 금지 해제: 자동 병합"),
    *(
        "自動マージ",
        "オートマージ",
        "ﾏｰｼﾞ",
        "マージ待ち",
        "自動併合",
        "自动合并",
        "自動合併",
        "待合入",
        "合并队列",
    ),
    *("r+", "R+", "ｒ＋", "r +", "@bors r+ rollup", "status: r+", "r=me", "CQ+1"),
    *("automerge: do not merge yet", "no-merge automerge", "emergency automerge"),
]
ASKS_NOT = [
    *("coreloop", "docs", "documentation", "bug", "good first issue", "", "🚀", "문서", "검토 필요", "v1.0"),
    *("do-not-merge", "do not merge", "don't merge", "DO NOT MERGE YET", "no merge", "blocked-merge"),
    *("merge-conflict", "has merge conflicts", "not ready to merge", "emergency", "needs-merge"),
    *(
        "병합 금지",
        "머지 보류",
        "병합하지 마세요",
        "병합 충돌",
        "자동화",
        "マージ禁止",
        "マージしない",
        "競合",
    ),
    *(
        "请勿合并",
        "請勿合併",
        "不要自动合并",
        "合并冲突",
        "合併衝突",
        "自动化",
        "文档",
        "c++",
        "r+d",
        "for+",
        "color=red",
        "pr=1",
        "r",
    ),
    *("automation", "automatic", "question", "dependencies", "shipping", "github_actions"),
]


@each_row("label", ASKS)
def test_a_label_that_asks(label: str):
    assert asks_to_merge(label)


@each_row("label", ASKS_NOT)
def test_a_label_that_does_not(label: str):
    assert not asks_to_merge(label)


SEPARATORS = st.text(alphabet=" -_./:·\u200b\u200d\u00ad\u2060\u0301", max_size=3)


def _disguises(letter: str) -> list[str]:
    """Other signs for a letter: capital, full width, mathematical, small capital, of another script."""
    styles = [letter, letter.upper(), chr(ord(letter) + 0xFEE0), chr(0x1D41A + ord(letter) - ord("a"))]
    named = f"LATIN LETTER SMALL CAPITAL {letter.upper()}"
    others = [chr(other) for other, latin in _FOLDED.items() if latin == letter]
    try:
        return [*styles, *others, unicodedata.lookup(named)]
    except KeyError:
        return [*styles, *others]


@given(st.data(), st.sampled_from(["automerge", "readytomerge", "mergequeue", "kodiak", "autoland"]))
def test_no_disguise_helps(data: st.DataObject, name: str):
    written = "".join(data.draw(SEPARATORS) + data.draw(st.sampled_from(_disguises(one))) for one in name)
    assert plain_letters(written) == name
    assert asks_to_merge(written)


@given(st.text())
def test_plain_is_settled_after_once(name: str):
    assert plain_letters(plain_letters(name)) == plain_letters(name)
