"""Words that exclude each other, a line for each kind: what a sentence denies without ``not``.

The words of one side mean the same; contradictions, belief and opposite questions use this one table.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

OPPOSITES: Final = (
    ("open", "closed"), ("allowed", "forbidden"), ("allowed", "prohibited"), ("enabled", "disabled"),
    ("included", "excluded"), ("required", "optional"), ("supported", "unsupported"), ("include", "exclude"),
)  # fmt: skip
"""Those that a question is asked again with: ``Is it closed?`` for ``Is it open?``."""
_TABLE: Final = {
    **{one: (one, other) for one, other in OPPOSITES},
    "allowed": ("allowed|permitted|허용", "forbidden|prohibited|금지"),
    "direction": (
        r"""increas\w*|ris(?:e[sn]?|ing)|rose|gr[eo]w\w*|climb\w*|gain(?:s|ed)?|surg\w+|jump\w*|up(?! to)
        |rais\w+|higher|expand\w*|늘[어었린렸리고며]|늘(?=지)|증가|급증|증대|상승|급등|오르(?!막)|오른(?!쪽)|오름
        |올라|올랐|올[려렸린릴리]|(?<![가-힣])인상(?!적|을 [주받]|깊)|(?<=금리|요금|가격|수료)인상
        |높아|높[였인]|확대|커[졌지진]|불어[난났]|많아[졌지진]|뛰었|뛴""",
        r"""decreas\w*|f[ae]ll\w*|dropp?\w*|declin\w*|shr[aiu]nk\w*|down|lower\w*|reduc\w*|cut(?:s|ting)?
        |slump\w*|줄[었어인이고며였]|감소|급감|축소|하락|급락|내[렸려린릴]|내리|떨어[졌지진]
        |(?<![가-힣])인하|(?<=금리|요금|가격|수료)인하|낮아|낮[췄추춘]|작아[졌지진]|적어[졌지진]""",
        r"unchanged|held steady|was held|were held|flat|동결|유지(?!보수)|보합|변동이 없",
    ),
    "balance": (r"profits?|흑자|이익|순익", r"loss(?:es)?|적자|손실"),
    "bound": (
        r"more than|(?:over|above)(?= ?[\d$€£₩])|at least|exceed\w*|or more|초과"
        r"|(?<=[\d원명건개곳년월일%세권회대위조억만천])\s?이상|넘[어었는긴겼은고게]",
        r"less than|fewer than|(?:under|below)(?= ?[\d$€£₩])|at most|up to|or less|or fewer"
        r"|이하|미만|못 미[치쳤친]|밑[돌도]",
    ),
    "decision": (
        r"approv\w+|accept(?:s|ed)?|pass(?:es|ed)|승인|가결|허가|인가(?:했|받|하)|통과",
        r"reject\w*|den(?:y|ies|ied)|refus\w+|vetoe?\w*|부결|거부|기각|반려|불허",
    ),
    "office": (
        r"re-?appoint\w*|re-?elect\w*|appoint(?:s|ed)|연임|재선임|유임|취임|선임(?!연구)|임명",
        r"dismiss\w*|resign\w*|oust\w*|fired|step(?:s|ped|ping)? down|해임|사임|사퇴|퇴임|경질|파면",
    ),
    "charge": (r"impos\w+|levied|부과", r"revok\w+|cancel\w*|waiv\w+|withdr[ae]w\w*|취소|면제|철회"),
    "period": (
        r"daily|(?:per|a|each|every) day|일간|매일|일평균|하루 평균",
        r"weekly|(?:per|a|each|every) week|주간|매주",
        r"monthly|(?:per|a|each|every) month|월간|매월|매달|월평균",
        r"quarterly|(?:per|each|every) quarter|분기 기준|매 ?분기|분기별",
        r"annual\w*|yearly|(?:per|a|each|every) year|연간|매년|연평균|해마다",
    ),
    "half": (r"first half|상반기|H1", r"second half|하반기|H2"),
    "size": (
        r"larger|bigger|greater|longer|taller|크다|크고|큰|많다",
        r"smaller|less|shorter|작다|작고|작은",
    ),
}
_EARNED: Final = re.compile(r"올[렸린려]|raised")
_EARNS: Final = re.compile(r"올린\s[가-힣]*(?:매출|이익|수익)|raised\s[$€£₩\d]")
"""매출을 올렸다 earns; 수수료를 올렸다 raises."""
_EARNINGS: Final = re.compile(r"(?:매출|이익|수익|성과|실적|흑자|원)[을를] $")
_DENIED_BEFORE: Final = re.compile(
    r"(?:\b(?:not|never|no|nor|cannot)|n['’]t|(?<![가-힣])(?:안|못))\s(?:\w+\s)?$"
)
_DENIED_AFTER: Final = re.compile(r"[가-힣]{0,3}지(?:는|도|를|가)?\s?(?:않|못|아니)")
_WORDS: Final = {
    kind: tuple(
        re.compile(
            rf"(?<![A-Za-z])(?:{''.join(map(str.strip, side.splitlines()))})(?![A-Za-z])", re.IGNORECASE
        )
        for side in sides
    )
    for kind, sides in _TABLE.items()
}


@dataclass(frozen=True, slots=True)
class Side:
    """A word that has an opposite, where it stands, and whether it is denied."""

    kind: str
    side: int
    is_denied: bool
    text: str
    start: int
    end: int

    def agrees(self, other: "Side") -> bool:
        """Whether a text with the other word says this one."""
        if self.is_denied == other.is_denied:
            return self.side == other.side
        return self.is_denied and self.side != other.side  # not raised, of what was lowered


def opposites_of(question: str) -> list[str]:
    """Return the questions that ask for the contrary: ``Is it closed?`` for ``Is it open?``."""
    pairs = [pair for one, other in OPPOSITES for pair in ((one, other), (other, one))]
    texts = (re.sub(rf"\b{one}\b", other, question, flags=re.IGNORECASE) for one, other in pairs)
    return [text for text in dict.fromkeys(texts) if text != question]


def are_opposed(one: str, other: str) -> bool:
    """Whether one text has a word, and the other its opposite and not the word itself."""
    here, there = list(sides_of(one)), list(sides_of(other))
    return any(
        side.kind == opposite.kind
        and not side.agrees(opposite)
        and not any(side.kind == same.kind and side.agrees(same) for same in there)
        for side in here
        for opposite in there
    )


def sides_of(text: str) -> Iterator[Side]:
    """Find the words of a text that have an opposite."""
    for kind, sides in _WORDS.items():
        for number, words in enumerate(sides):
            for match in words.finditer(text):
                if not _is_earning(text, match.start()):
                    is_denied = _DENIED_AFTER.match(text, match.end()) or _DENIED_BEFORE.search(
                        text, max(0, match.start() - 24), match.start()
                    )
                    yield Side(kind, number, bool(is_denied), match[0], match.start(), match.end())


def _is_earning(text: str, place: int) -> bool:
    before = _EARNED.match(text, place) and _EARNINGS.search(text, max(0, place - 12), place)
    return bool(before) or _EARNS.match(text, place) is not None
