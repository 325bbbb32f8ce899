"""What is shown where a question may continue an earlier run, as the specification words it."""

from typing import Any, Final

from coreloop.answer.agent.sessions import LikeRuns
from coreloop.answer.research.likeness import Like
from coreloop.base.text import printable

BEGUN: Final = "→ 새 세션 시작: "
RESUMED: Final = "→ 세션 재개: "
NEW: Final = "새로 시작하기 (start new)"
_CONTINUE: Final = "계속하기 (Recommended)"
_QUESTION_CHARS: Final = 40


def found_line(like: Like) -> str:
    """Say that a run with the same question exists."""
    question = printable(like.row.question)
    return f"기존 세션 발견! ({like.row.iteration} iterations)  '{question}'"


def offer(like: Like) -> str:
    """Offer to continue a run: its question, its iterations, and how like it is."""
    label = _CONTINUE if like.likeness == "exact" else "기존 세션 계속"
    question = printable(like.row.question)
    short = question if len(question) <= _QUESTION_CHARS else f"{question[:_QUESTION_CHARS]}..."
    return f"{label}: {short}  {like.row.iteration} iterations | 유사도: {like.score:.0%}"


def choice_json(found: LikeRuns) -> dict[str, Any]:
    """Build the choice in the form of an agent's own question tool, with the command of each answer."""
    options = [_option(like) for like in found.runs]
    new = {"label": NEW, "description": "a new run; the earlier ones stay", "command": "--new"}
    return {
        "match": found.match,
        "question": found_line(found.runs[0])
        if found.match == "exact"
        else f"{len(found.runs)}개의 유사한 세션 발견: 어떤 세션을 사용하시겠습니까?",
        "header": "세션 선택",
        "options": [*options, new],
    }


def _option(like: Like) -> dict[str, str]:
    label = _CONTINUE if like.likeness == "exact" else offer(like).partition("  ")[0]
    return {
        "label": label,
        "description": f"{like.row.iteration} iterations | 유사도: {like.score:.0%} | {like.row.status}",
        "command": f"--continue {like.row.run_id}",
    }
