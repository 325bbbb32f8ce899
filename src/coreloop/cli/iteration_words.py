"""The words of the block of an iteration, in Korean as the specification has them, and in English."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from coreloop.runs.events import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockWords:
    """A language's words; braces are filled in."""

    done: str
    findings: str
    unbelieved: str
    nothing: str
    figures: str
    inactive: str
    plan: str
    progress: str
    drift: Mapping[Rule, str]
    turn: str
    stuck: str
    failure: str
    cause: str
    solution: str
    goes_on: str
    condition_met: str
    ends: Mapping[str, str]
    """By the reason or the status of the end."""
    other_end: str
    paused: str
    first_focus: str
    next_begins: str
    """How the last line of a run that goes on begins: skills know it by this."""
    left: str
    open_contradictions: str


KOREAN: Final = BlockWords(
    done="📊 Iteration #{number} 완료",
    findings="🔍 이번 발견:",
    unbelieved="❓ 확인되지 않은 것:",
    nothing="없음",
    figures="확신도: {confidence} | Priority: {priority} | 지지: {supporting}개 | 반증: {against}개",
    inactive="📋 Inactive: {number}개 가설 (우선순위 낮음, 재평가 대기)",
    plan="📈 다음 계획",
    progress="📊 진행도",
    drift={
        "same_action": "⚠️ Loop Drift 감지: 같은 행동 3회 반복",
        "no_new_information": "⚠️ Loop Drift 감지: 5회 연속 새 정보 없음",
        "duplicates": "⚠️ Loop Drift 감지: 같은 검색 반복",
    },
    turn="   → 전략 변경: {labels}",
    stuck="⚠️ 막힘 감지",
    failure="과거 실패",
    cause="원인",
    solution="해결책",
    goes_on="→ 종료 조건 불만족 → 계속 실행",
    condition_met="→ 종료 조건 만족",
    ends={
        "max_iterations": "연구를 종료합니다. 최대 iteration에 도달했습니다.",
        "usd": "연구를 종료합니다. 예산을 모두 썼습니다.",
        "usd_per_day": "연구를 종료합니다. 오늘의 예산을 모두 썼습니다.",
        "tokens": "연구를 종료합니다. 토큰 한도에 도달했습니다.",
        "deadline": "연구를 종료합니다. 제한 시간이 지났습니다.",
        "completed": "연구를 종료합니다. 모든 서브질문에 답했습니다.",
        "stopped_by_user": "연구를 종료합니다. 사용자가 중단했습니다.",
    },
    other_end="연구를 종료합니다. 이유: {reason}",
    paused="일시정지 상태입니다. 계속하려면 터미널에서: dartlab-coreloop runs resume {run_id}",
    first_focus="🎯 첫 iteration: 전체 탐색 모드",
    next_begins="다음 iteration을 시작합니다...",
    left="⏳ 아직 남은 일",
    open_contradictions="⚠️ 풀리지 않은 모순 {number}건: 어느 쪽이 맞는지 확인되지 않았습니다.",
)
ENGLISH: Final = BlockWords(
    done="📊 Iteration #{number} done",
    findings="🔍 Findings:",
    unbelieved="❓ Not confirmed:",
    nothing="none",
    figures="Confidence: {confidence} | Priority: {priority} | For: {supporting} | Against: {against}",
    inactive="📋 Inactive: {number} hypotheses (low priority, kept for review)",
    plan="📈 Next",
    progress="📊 Progress",
    drift={
        "same_action": "⚠️ Loop drift: the same action three times in a row",
        "no_new_information": "⚠️ Loop drift: five iterations in a row without anything new",
        "duplicates": "⚠️ Loop drift: the same searches again",
    },
    turn="   → strategy changed to: {labels}",
    stuck="⚠️ Stuck",
    failure="Earlier failure",
    cause="Cause",
    solution="What helped",
    goes_on="→ no condition of the end is met → goes on",
    condition_met="→ a condition of the end is met",
    ends={
        "max_iterations": "The research ends: it reached its last iteration.",
        "usd": "The research ends: its budget is spent.",
        "usd_per_day": "The research ends: today's budget is spent.",
        "tokens": "The research ends: its tokens are spent.",
        "deadline": "The research ends: its time is over.",
        "completed": "The research ends: all sub-questions are answered.",
        "stopped_by_user": "The research ends: it was stopped.",
    },
    other_end="The research ends: {reason}.",
    paused="Paused. To go on, in a terminal: dartlab-coreloop runs resume {run_id}",
    first_focus="🎯 First iteration: look at everything",
    next_begins="The next iteration begins...",
    left="⏳ Still to do",
    open_contradictions="⚠️ Open contradictions: {number}. Which side is right was not settled.",
)
