"""How people word their questions: an opening, a clause on the topic, an ending; Korean, some English.

A clause carries the keywords of exactly one category of the demo's coreloop.yaml, or of none; openings and
endings carry none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Literal

Language = Literal["ko", "en"]

_ENGLISH_SHARE = 0.17
_HANGUL_FIRST, _HANGUL_LAST, _FINALS = 0xAC00, 0xD7A3, 28


@dataclass(frozen=True, slots=True)
class Noun:
    """A name that takes its Korean particle in a format string: ``{company:은는}``."""

    text: str

    def __format__(self, particles: str) -> str:
        """The noun with the first particle after a final consonant, else the second."""
        if not particles:
            return self.text
        return self.text + particles[0 if self._ends_in_consonant() else 1]

    def _ends_in_consonant(self) -> bool:
        last = ord(self.text[-1])
        return _HANGUL_FIRST <= last <= _HANGUL_LAST and (last - _HANGUL_FIRST) % _FINALS > 0


def word_question(topic: str, rng: Random, *, nouns: Mapping[str, str]) -> tuple[str, Language]:
    """Word a question on a topic.

    Parameters
    ----------
    topic : str
        A key of the clause table.
    rng : Random
        Chooses language, opening, clause and ending.
    nouns : Mapping[str, str]
        What clauses may mention: ``company``, ``peer``, ``sector``, and ``count``, how many companies a
        screening question asks for.

    Returns
    -------
    tuple
        The question, and the language that it is in.
    """
    language: Language = "en" if rng.random() < _ENGLISH_SHARE else "ko"
    clause = rng.choice(_CLAUSES[language][topic])
    said = clause.format_map({name: Noun(text) for name, text in nouns.items()})
    parts = (rng.choice(_OPENINGS[language]), said, rng.choice(_ENDINGS[language]))
    return " ".join(filter(None, parts)), language


_OPENINGS: dict[Language, tuple[str, ...]] = {
    "ko": (
        "",
        "내일 회의 자료에 넣으려고 하는데",
        "투자 동아리 발표를 맡아서 그런데",
        "팀장님이 갑자기 물어보셔서요,",
        "공시를 읽다가 궁금해졌어.",
        "리포트 초안을 쓰는 중이야.",
        "면접 전에 공부 좀 하려고.",
        "처음 들어보는 회사들이라 감이 없는데",
        "지난주 기사에서 언급되길래,",
        "거래처 심사 서류를 만들고 있습니다.",
        "급한 건 아닌데 시간 될 때",
        "아까 하던 얘기 이어서,",
        "숫자에 약한 편이라 부탁하는데",
        "고객 문의가 들어왔어요:",
        "연말 결산을 앞두고",
        "스터디 과제로",
    ),
    "en": (
        "",
        "For tomorrow's meeting:",
        "I'm new to the Korean market,",
        "Quick question from a colleague —",
        "While drafting a memo I wondered",
        "Our supplier review needs this:",
        "Before the interview, help me understand",
        "A client wrote in and asks",
    ),
}

_ENDINGS: dict[Language, tuple[str, ...]] = {
    "ko": (
        "설명해줘",
        "표처럼 정리해 줄 수 있어?",
        "근거가 되는 숫자까지 같이 보여줘.",
        "결론부터 말하고 나서 자세히 풀어줘",
        "애널리스트 입장에서 평가해봐",
        "쉬운 말로 알려주세요",
        "가장 최근 연도 기준으로 부탁해",
        "어떻게 받아들이면 될지 의견도 줘",
        "항목별로 나눠서 써주세요!",
        "여러 해를 놓고 봐줄래?",
        "눈여겨볼 점이 있으면 짚어줘",
        "확인 부탁드립니다",
        "궁금합니다",
        "좀 찾아봐",
    ),
    "en": (
        "",
        "please, with the figures",
        "in plain words",
        "and say what stands out",
        "using the newest filing",
        "year by year if possible",
        "and keep the conclusion first",
    ),
}

_KOREAN: dict[str, tuple[str, ...]] = {
    "profitability": (
        "{company}의 수익성이 어느 정도인지",
        "{company:은는} 물건을 팔아서 마진이 얼마나 남는지",
        "최근 몇 년간 {company} 영업이익률이 어떻게 움직였는지",
        "{company:이가} 자기자본으로 돈을 잘 버는지 ROE 중심으로",
        "{company:을를} 볼 때 이익률이 좋아진 건지 나빠진 건지",
        "본업 마진만 따지면 {company:은는} 어떤 수준인지",
        "{sector} 쪽에서 {company} 수익성을 믿어도 되는지",
    ),
    "profit_peers": (
        "{company:과와} {peer} 중에 어느 쪽 수익성이 더 나은지",
        "{peer} 대비 {company} ROE 차이가 왜 나는지",
        "두 회사, {company} 그리고 {peer:을를} 마진으로 견주면 어떤지",
        "{peer:이가} {company}보다 이익률에서 앞서는 해가 있었는지",
    ),
    "profit_screen": (
        "{sector} 업종에서 영업이익률 높은 곳 {count}개가 어디인지",
        "마진 좋은 {sector} 회사 상위 {count}곳의 순서가 매년 바뀌는지",
        "{sector} 기업들 가운데 수익성이 으뜸인 데가 누구인지",
        "이익률 기준으로 {sector} 회사를 줄 세우면 위에서 {count}번째까지 누가 있는지",
        "{sector} 분야 {count}개사를 골라 마진 흐름을 나란히 놓으면 어떤지",
    ),
    "growth": (
        "{company:은는} 앞으로도 성장할 체력이 있는지",
        "최근 {company} 외형이 커지는 속도가 어떤지",
        "{company:이가} 5년 동안 꾸준히 성장해 왔는지",
        "매출이든 이익이든 {company} 성장세가 꺾인 건 아닌지",
        "{sector} 신생 업체 {company}의 성장률이 과장된 건 아닌지",
        "{company:을를} 성장주라고 불러도 될 만한지",
    ),
    "stability_screen": (
        "{sector} 업종에서 부채 부담이 가장 적은 {count}곳이 어디인지",
        "재무 안정성으로 {sector} 회사를 추리면 누가 남는지",
        "빚이 적은, 그러니까 부채비율 낮은 {sector} 기업 {count}개는 무엇인지",
        "{sector} 쪽에서 재무 건전성이 돋보이는 회사는 어디인지",
        "{sector} 회사들 부채를 비교했을 때 제일 탄탄한 데가 맞는지",
        "위기가 와도 버틸 안정성 높은 {sector} 종목 {count}개가 뭔지",
    ),
    "credit": (
        "{company}에 외상을 줘도 될 만큼 건전성이 괜찮은지",
        "{company:이가} 부채를 갚을 능력이 충분한지",
        "돈 빌려준 입장에서 {company} 안정성을 어떻게 봐야 하는지",
        "{company:은는} 부채가 많은 편인지, 갚을 여력은 있는지",
        "{company} 신용을 심사한다면 부채 쪽에서 걸리는 게 있는지",
    ),
    "cash_flow": (
        "{company:이가} 실제로 현금을 벌어들이고 있는지",
        "장부 이익 말고 {company} 현금흐름은 어떤지",
        "{company:은는} 설비투자를 하고도 현금이 남는지",
        "최근 {company}의 영업활동 현금이 늘었는지 줄었는지",
        "이익은 나는데 {company} 현금이 마르는 건 아닌지",
        "{company} 현금 창출력이 {sector} 업황을 견딜 만한지",
    ),
    "dividend": (
        "{company} 배당이 지속 가능한지",
        "{company:은는} 번 돈 중 얼마를 배당으로 돌려주는지",
        "{company:이가} 배당을 늘려 왔는지",
        "주주환원 측면에서 {company:을를} 어떻게 평가할지",
        "{company:이가} 올해 무리해서 배당한 건 아닌지",
        "배당 투자자라면 {company:을를} 담을 이유가 있는지",
    ),
    "dividend_peers": (
        "{company:과와} {peer} 중 배당을 더 후하게 주는 쪽이 어딘지",
        "{peer}에 비해 {company} 배당 규모가 어떤지",
        "주주환원에서 {company:이가} {peer:을를} 앞서는지",
    ),
    "dividend_screen": (
        "{sector} 업종에서 배당 많이 주는 {count}곳이 어디인지",
        "배당 좋은 {sector} 회사 {count}개만 추리면 누구인지",
        "주주환원에 적극적인 {sector} 기업이 어디어디인지",
        "{sector} 회사들 배당을 금액까지 나란히 보면 어떤지",
    ),
    "valuation": (
        "{company} 주가가 저평가인지",
        "{company} 밸류에이션이 비싼 편인지",
        "지금 {company} 적정주가가 얼마쯤인지",
        "{sector} 업종 대비 {company:이가} 저평가라는 말이 사실인지",
    ),
    "fact": (
        "{company} 작년 매출이 얼마였는지",
        "{company:은는} 순이익을 얼마 냈는지",
        "{company} 영업이익 숫자 하나만",
        "{company:이가} 적자인지 흑자인지",
        "올해 말고 직전 해 {company} 실적이 얼마인지",
    ),
    "overview": (
        "{company:이가} 어떤 회사인지",
        "{company:을를} 한눈에 볼 수 있게 이것저것",
        "{company:과와} {peer} 사이에 어떤 차이가 있는지",
        "{sector} 회사 {company:을를} 전반적으로 훑어보면 어떤지",
    ),
}

_ENGLISH: dict[str, tuple[str, ...]] = {
    "profitability": (
        "what operating margin does {company} earn",
        "how has the ROE of {company} developed",
        "is the margin at {company} getting better or worse",
    ),
    "profit_peers": (
        "who earns the better ROE, {company} or {peer}",
        "does {peer} beat {company} on margin",
    ),
    "profit_screen": (
        "which {count} companies in the {sector} sector have the best margin",
        "rank the {sector} firms by margin, top {count}",
    ),
    "growth": (
        "is {company} still growing",
        "how steady was the growth of {company} over five years",
    ),
    "stability_screen": (
        "which {sector} companies carry the least debt",
        "name {count} {sector} firms with low leverage",
    ),
    "credit": (
        "can {company} carry its debt",
        "would you worry about leverage at {company}",
    ),
    "cash_flow": (
        "does {company} turn its earnings into cash",
        "how much cash is left at {company} after investing",
    ),
    "dividend": (
        "is the dividend of {company} sustainable",
        "what payout does {company} keep up",
    ),
    "dividend_peers": (
        "who pays the more generous dividend, {company} or {peer}",
        "compare the payout of {company} against {peer}",
    ),
    "dividend_screen": (
        "which {count} {sector} companies pay the highest dividend",
        "who leads the {sector} sector in dividend payments",
    ),
    "valuation": (
        "is {company} undervalued",
        "what valuation would be fair for {company}",
    ),
    "fact": (
        "what were the sales of {company} last year",
        "did {company} make a profit",
    ),
    "overview": (
        "what kind of company is {company}",
        "how do {company} and {peer} differ",
    ),
}

_CLAUSES: dict[Language, dict[str, tuple[str, ...]]] = {"ko": _KOREAN, "en": _ENGLISH}
