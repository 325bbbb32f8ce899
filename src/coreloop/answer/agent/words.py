"""What an agent and its user read about a run, in the language of the question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from coreloop.answer.models.questions import is_korean
from coreloop.answer.research.support import Missing, Unsupported


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWords:
    """A language's words; braces are filled in."""

    unread: str
    given: str
    not_there: str
    no_source: str
    not_about: str
    superseded: str
    not_said: str
    missing: Mapping[Missing, str]
    """Why a quote does not say a finding; "" where the reason says it in this language."""
    instead: Mapping[Missing, str]
    """The same, where what it says instead is known."""
    several: str
    superlative: str
    answer: str
    least_parts: str
    execute: str
    execute_against: str
    do: str
    work: Mapping[str, str]
    """What the next iteration is about: ``answer`` a sub-question, ``refute``, or ``split`` the question."""
    paused: str
    over: str
    order: str
    situation: str
    layers: tuple[str, ...]
    tools: Mapping[str, str]
    """Names of the tools of thought; a missing one keeps its English name."""


ENGLISH: Final = AgentWords(
    unread="coreloop has not read {place}; read it with runs read, and name its number",
    given="source {number} is a text that you gave, which coreloop could not read itself",
    not_there="the quote does not stand in source {number}; quote it word for word",
    no_source="it has no source",
    not_about="its quote shares too few words with {part} to answer it",
    superseded="source {number} says itself that it was replaced, so it answers nothing; read the newer one",
    not_said="the quote does not say it: {reason}",
    missing={},
    instead={},
    several="no one sentence or row of the quote says all of it; report one finding for each",
    superlative="the quote does not say that it is the most, the first, the only one, or all",
    answer="answer {part}",
    least_parts="plan at least {number} sub-questions",
    execute="execute a chosen query with the intent {intent}",
    execute_against="execute a chosen query for counter-evidence with for: {part}",
    do="Do one iteration: {work}. Plan its searches with dartlab-coreloop runs plan {run_id} --file FILE, "
    "and give its report to dartlab-coreloop runs record {run_id} --file FILE.",
    work={
        "answer": "answer {part}, {text}, with a source",
        "refute": "look for evidence against the findings",
        "split": "split the question into sub-questions",
    },
    paused="End your turn: the run is paused; a person lets it go on by runs resume {run_id}.",
    over="The run is over, {reason}: answer from dartlab-coreloop runs report {run_id}, and end your turn.",
    order="Change your strategy to: {labels}.",
    situation="Layer 1, situation: what is known, what is not, how sure each hypothesis is",
    layers=(
        "Layer 2, three perspectives: directly; as three to five experts who would disagree (roles); "
        "as an outsider",
        "Layer 3, dialectic: thesis, antithesis, synthesis",
        "Layer 4, self-check: logic, quality of evidence, bias, alternatives, blind spots; zoom out, zoom in",
        "Layer 5, the tool that fits the situation",
        "Layer 6, three paths: the usual one (a), another (b), the opposite (c), and their cross-check",
    ),
    tools={},
)
KOREAN: Final = AgentWords(
    unread="coreloop가 읽지 않은 출처입니다({place}). runs read로 읽고 출처 번호를 적으세요",
    given="출처 {number}은(는) 직접 준 글이며, coreloop가 확인하지 못했습니다",
    not_there="인용문이 출처 {number}에 없습니다. 글자 그대로 인용하세요",
    no_source="출처가 없습니다",
    not_about="인용문이 {part}의 답이라고 보기에는 겹치는 낱말이 너무 적습니다",
    superseded="출처 {number}은(는) 폐지되거나 대체된 문서라서 답이 될 수 없습니다. 새 문서를 읽으세요",
    not_said="인용문이 그렇게 말하지 않습니다: {reason}",
    missing={
        "date": "인용문에 날짜 {what}의 내용이 없습니다",
        "number": "인용문에 {what}이(가) 없습니다",
        "name": "인용문에 '{what}'라는 말이 없습니다",
        "negation": "한쪽은 부정하고 다른 쪽은 부정하지 않습니다",
        "words": "인용문과 표현이 너무 다릅니다. 인용문의 낱말로 쓰세요",
        "label": "인용문에 '{what}'라는 말이 없습니다",
        "opposite": "인용문은 '{what}'의 반대입니다",
    },
    instead={
        "label": "'{what}'이(가) 아니라 '{said}'입니다",
        "opposite": "'{what}'의 반대인 '{said}'입니다",
    },
    several="인용문의 한 문장이나 한 행이 전부를 말하지는 않습니다. 문장이나 행마다 발견을 나누세요",
    superlative="가장, 최초, 유일, 모두라는 말이 인용문에 없습니다",
    answer="{part}에 답하기",
    least_parts="서브질문을 {number}개 이상 계획하기",
    execute="계획한 {intent} 검색 실행하기",
    execute_against="{part}의 반증 검색 실행하기",
    do="iteration을 한 번 진행하세요: {work}. 검색은 dartlab-coreloop runs plan {run_id} --file FILE로 "
    "계획하고, 결과는 dartlab-coreloop runs record {run_id} --file FILE로 기록합니다.",
    work={
        "answer": "{part} '{text}'에 출처를 들어 답하기",
        "refute": "지금까지의 발견을 뒤집을 증거 찾기",
        "split": "질문을 서브질문으로 나누기",
    },
    paused="턴을 끝내세요. 연구가 일시정지되어 있습니다. 사용자가 터미널에서 "
    "dartlab-coreloop runs resume {run_id}로 다시 시작할 수 있습니다.",
    over="연구가 끝났습니다({reason}). "
    "dartlab-coreloop runs report {run_id}의 보고서로 답하고 턴을 끝내세요.",
    order="전략을 바꾸세요: {labels}.",
    situation="Layer 1 현황: 알게 된 것, 모르는 것, 가설마다의 확신도",
    layers=(
        "Layer 2 세 관점: 직접(direct), 의견이 다른 전문가 3–5명(roles), 제3자(outsider)",
        "Layer 3 정·반·합(thesis, antithesis, synthesis)",
        "Layer 4 메타인지: 논리, 증거의 질, 편향, 대안, 맹점. Zoom Out, Zoom In",
        "Layer 5 상황에 맞는 사고 도구",
        "Layer 6 세 경로: 정통(a), 대안(b), 반대(c)와 교차 검증(cross_check)",
    ),
    tools={
        "first principles": "제1원칙",
        "Bayes": "베이지안 추론",
        "falsification": "반증 가능성",
        "Occam's razor": "오컴의 면도날",
    },
)


def agent_words(question: str) -> AgentWords:
    """Return the words in the language of a question."""
    return KOREAN if is_korean(question) else ENGLISH


def unsaid(words: AgentWords, reason: Unsupported) -> str:
    """Say why a quote does not say a finding."""
    own = {ENGLISH.several: words.several, ENGLISH.superlative: words.superlative}
    if reason.reason in own:
        return words.not_said.format(reason=own[reason.reason])
    template = (words.instead if reason.said else words.missing).get(reason.missing)
    own_words = template.format(what=reason.what, said=reason.said) if template else reason.reason
    return words.not_said.format(reason=own_words)
