"""What is shown where a question may continue an earlier run, in the language of the question."""

from dataclasses import dataclass
from typing import Any, Final

from coreloop.answer.agent.sessions import LikeRuns
from coreloop.answer.models.questions import is_korean
from coreloop.answer.research.likeness import Like
from coreloop.base.text import printable

_QUESTION_CHARS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWords:
    """A language's words; braces are filled in."""

    begun: str
    resumed: str
    new: str
    recommended: str
    other: str
    exact: str
    similar: str
    header: str
    figures: str


_KOREAN: Final = SessionWords(
    begun="→ 새 세션 시작: {run_id}",
    resumed="→ 세션 재개: {run_id}",
    new="새로 시작하기",
    recommended="계속하기 (Recommended)",
    other="기존 세션 계속",
    exact="기존 세션 발견! ({iterations} iterations)  '{question}'",
    similar="{number}개의 유사한 세션 발견: 어떤 세션을 사용하시겠습니까?",
    header="세션 선택",
    figures="{iterations} iterations | 유사도: {score:.0%}",
)
_ENGLISH: Final = SessionWords(
    begun="→ new session: {run_id}",
    resumed="→ session resumed: {run_id}",
    new="Start new",
    recommended="Continue (Recommended)",
    other="Continue the earlier session",
    exact="An earlier session asks the same ({iterations} iterations): '{question}'",
    similar="{number} earlier sessions are like it: which one?",
    header="Session",
    figures="{iterations} iterations | likeness: {score:.0%}",
)


def session_words(question: str) -> SessionWords:
    """Return the words in the language of a question."""
    return _KOREAN if is_korean(question) else _ENGLISH


def found_line(like: Like) -> str:
    """Say that a run with the same question exists."""
    question = printable(like.row.question)
    return session_words(question).exact.format(iterations=like.row.iteration, question=question)


def offer(like: Like) -> str:
    """Offer to continue a run: its question, its iterations, and how like it is."""
    return f"{_label(like)}  {_figures(like)}"


def choice_json(found: LikeRuns, question: str) -> dict[str, Any]:
    """Build the choice in the form of an agent's own question tool, with the command of each answer."""
    words, is_exact = session_words(question), found.match == "exact"
    asked = found_line(found.runs[0]) if is_exact else words.similar.format(number=len(found.runs))
    options = [
        {
            "label": words.recommended if is_exact else _label(like),
            "description": f"{_figures(like)} | {like.row.status}",
            "command": f"--continue {like.row.run_id}",
        }
        for like in found.runs
    ]
    new = {"label": words.new, "description": "", "command": "--new"}
    return {"match": found.match, "question": asked, "header": words.header, "options": [*options, new]}


def _label(like: Like) -> str:
    words, question = session_words(like.row.question), printable(like.row.question)
    short = question if len(question) <= _QUESTION_CHARS else f"{question[:_QUESTION_CHARS]}..."
    return f"{words.recommended if like.likeness == 'exact' else words.other}: {short}"


def _figures(like: Like) -> str:
    words = session_words(like.row.question)
    return words.figures.format(iterations=like.row.iteration, score=like.score)
