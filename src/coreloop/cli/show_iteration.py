"""The block that an agent shows after each iteration."""

from collections.abc import Iterator
from typing import Final

from coreloop.answer.models.questions import is_korean
from coreloop.base.text import printable
from coreloop.runs.agent.report import AgentReport
from coreloop.runs.amounts import dollars
from coreloop.runs.state import State

GOES_ON: Final = "다음 iteration을 시작합니다..."
"""In Korean for everybody: skills know a run that goes on by it."""
DRIVEN: Final = "recorded; the driver says what follows"
_LINE_CHARS: Final = 300


def iteration_lines(state: State, report: AgentReport) -> Iterator[str]:
    """Yield the lines of the block.

    Parameters
    ----------
    state : State
        After the report was committed.
    report : AgentReport
        The report.
    """
    number = report.iteration or (state.iteration if state.drives_itself else state.iteration + 1)
    yield f"Iteration #{number}"
    yield from _section(
        "findings",
        [f"{finding.text} ({', '.join(finding.sources) or 'no source'})" for finding in report.findings],
    )
    yield from _section("next", list(report.next_actions))
    answered = sum(not part.is_open for part in state.sub_questions)
    yield f"progress: {answered} of {len(state.sub_questions)} answered"
    yield f"Iteration {number}/{state.limits.max_iterations} · {state.status} · {_money(state)}"
    yield _what_follows(state)


def _what_follows(state: State) -> str:
    if state.status != "running":
        return f"stopped: {state.stop_reason}" if state.stop_reason else state.status
    if not state.drives_itself:  # its driver still checks the command's end, --until and the spending
        return DRIVEN
    return goes_on_line(state.question)


def goes_on_line(question: str) -> str:
    """Say that the next iteration begins, in the language of a question, too."""
    return GOES_ON if is_korean(question) else f"{GOES_ON} (the next iteration begins)"


def _section(name: str, texts: list[str]) -> Iterator[str]:
    yield f"{name}:" if texts else f"{name}: none"
    yield from (f"  - {_printable(text)}" for text in texts)


def _printable(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _LINE_CHARS else f"{text[: _LINE_CHARS - 1]}…"


def _money(state: State) -> str:
    limit = "" if state.limits.microusd is None else f"/{dollars(state.limits.microusd)}"
    return f"{dollars(state.spent.microusd)}{limit}"
