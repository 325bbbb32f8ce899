"""What ``ask`` prints: each attempt and its repair to stderr, and the answer with its passages."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import click

from coreloop.answer.research.answer import AgentResponse, AnswerPassage, AnswerSource
from coreloop.answer.research.knowledge import knowledge_of
from coreloop.answer.research.verify import NO_EVIDENCE
from coreloop.base.messages import Phrase, join, number_of, say
from coreloop.base.text import printable
from coreloop.runs.run import Run

_LINES: Final = 15
_FEWEST: Final = 4
"""Lines of all passages, and of each: with three passages, an answer and its sources, 24 lines."""
_SOURCES: Final = 4
_MAX_CHARS: Final = 320
_LEAD_CHARS: Final = 40
"""Of a line, four on a screen, and of those before what is marked."""
_BEGINNING: Final = 5
"""Letters of a word of the heading or the marked line that a line of code shares with it."""
_WORD: Final = re.compile(r"[^\W\d_]{4,}|[가-힣]{2,}")
_COMMAND: Final = re.compile(r" {3,}\S|>>> |\.\.\. |\$ ")
_NO_STEP: Final = re.compile(
    r"""\s*(?: import\s | from\s\S+\simport | \# | \.{3}\s*$ | [)\]}]+,?\s*$ | \w+\s=\s[(\[{]$ )""",
    re.VERBOSE,
)
"""Lines of code that prepare or close: the last ones to be shown."""


def show_attempt(run: Run) -> None:
    """Print the newest attempt, its signal and what the repair did; nothing for an answer at once."""
    state = run.state
    if state.is_terminal or not state.iteration:
        return
    case = knowledge_of(state)
    attempt = case.attempts[-1]
    if not attempt.sentences:
        click.echo(
            say("attempt {number}: {reason}", number=attempt.number, reason=Phrase(case.signals[-1].reason)),
            err=True,
        )
    for repair in case.repairs:
        for line in repair.jobs if repair.attempt == attempt.number else ():
            click.echo(printable(f"  {line}"), err=True)


def show_answer(answer: AgentResponse, *, is_verbose: bool = False) -> None:
    """Print an answer of `ask`, its passages and its sources."""
    show_passages(answer, is_verbose=is_verbose)
    click.echo(
        say("{repairs}; answer {run_id}", repairs=number_of(answer.repairs, "repair"), run_id=answer.run_id)
    )
    if answer.reason:
        click.echo(printable(say(answer.reason)), err=True)


def show_passages(answer: AgentResponse, *, is_verbose: bool = False) -> None:
    """Print what an answer says, whether sources say so, the passages, and the other sources.

    Long passages are cut to the lines around what is marked, so that one screen holds all of it.
    """
    if answer.end != "nothing_said_so" or answer.final_answer != NO_EVIDENCE:
        for line in answer.final_answer.splitlines():
            click.echo(printable(line))
        click.echo()
    closest = say("; closest:") if answer.passages and answer.verdict == "nothing said so" else ""
    if answer.end != "search_down":
        click.echo(f"{say(answer.verdict)}{closest}")
    shares = [None] * len(answer.passages) if is_verbose else lines_of(answer.passages)
    is_cut = [
        _show_passage(passage, n_lines) for passage, n_lines in zip(answer.passages, shares, strict=True)
    ]
    shown_ids = {passage.id for passage in answer.passages}
    others = [source for source in answer.sources if source.id not in shown_ids]
    listed = others if is_verbose else others[:_SOURCES]
    for source in listed:
        click.echo(place_line(source))
    left_out = [say("the whole passages")] if any(is_cut) else []
    if len(listed) < len(others):
        left_out.append(say(number_of(len(others) - len(listed), "more source")))
    if left_out:
        click.echo(say("-v shows {left_out}", left_out=join(left_out)), err=True)


def lines_of(passages: Sequence[AnswerPassage]) -> list[int]:
    """Lines of each passage: the first gets what the others leave."""
    others = [min(_FEWEST, len(passage.text.splitlines())) for passage in passages[1:]]
    return [max(_FEWEST, _LINES - sum(others)), *others][: len(passages)]


def place_line(source: AnswerSource) -> str:
    """Return where a source stands: ``[1] guide.md:1  Returns  (2026-04-25)``."""
    line = f":{source.line}" if source.line else ""
    day = f"  ({source.published})" if source.published else ""
    return printable(f"{source.id} {source.location}{line}  {source.title}{day}")


def _show_passage(passage: AnswerPassage, n_lines: int | None) -> bool:
    """Print a passage, and say whether it was cut to so many lines.

    Its marked sentence is bold on a terminal, and between » and « elsewhere.
    """
    click.echo(place_line(passage))
    lines = _marked_lines(passage)
    shown = lines if n_lines is None or len(lines) <= n_lines else excerpt(passage, n_lines)
    is_marked = False
    for line in shown:
        is_marked = is_marked or "»" in line
        indented = f"    {printable(line)}".rstrip()
        click.echo(click.style(indented, bold=True) if is_marked else indented)
        is_marked = is_marked and "«" not in line
    return len(shown) < len(lines)


def _marked_lines(passage: AnswerPassage) -> list[str]:
    start, end = passage.start, passage.end
    marked = f"»{passage.text[start:end]}«" if end > start else ""
    return f"{passage.text[:start]}{marked}{passage.text[end:]}".splitlines()


def excerpt(passage: AnswerPassage, n_lines: int) -> list[str]:
    """Return at most so many lines of a passage; ``…`` stands for those between and after them.

    The marked ones come first, then those of the code that belongs to them, then what follows and precedes.
    """
    lines, code = _read_code([_cut(line) for line in _marked_lines(passage) if line.strip()])
    first = next((place for place, line in enumerate(lines) if "»" in line), 0)
    last = next((place for place, line in enumerate(lines) if "«" in line), first)
    topic = {word[:_BEGINNING] for word in _WORD.findall(f"{passage.title} {lines[first]}".casefold())}
    block = [] if passage.type == "python" else _block_at(code, last)
    steps = sorted(block, key=lambda place: _rank_step(lines[place], topic))
    others = sorted(range(len(lines)), key=lambda place: (place < first - 1, place < first, place))
    chosen: list[int] = []
    for place in dict.fromkeys([*range(first, last + 1), *steps, *others]):
        more = sorted([*chosen, place])
        if len(_with_gaps(lines, more)) <= n_lines:
            chosen = more
    return _with_gaps(lines, chosen)


def _cut(line: str) -> str:
    """The part of a long line that begins shortly before what is marked."""
    if len(line) <= _MAX_CHARS:
        return line
    start = max(0, line.find("»") - _LEAD_CHARS)
    end = max(start + _MAX_CHARS, line.find("«") + 1)
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _read_code(lines: list[str]) -> tuple[list[str], list[int]]:
    """Return the lines without fences, and the places of those of code."""
    shown, code, is_fenced = list[str](), list[int](), False
    for line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
            continue
        if is_fenced or _COMMAND.match(line):
            code.append(len(shown))
        shown.append(line)
    return shown, code


def _block_at(code: list[int], mark: int) -> list[int]:
    """Return the places of the first code below a line, or of the last above it."""
    below = [place for place in code if place > mark]
    block = below[:1] or code[-1:]
    step = 1 if below else -1
    while block and block[-1] + step in code:
        block.append(block[-1] + step)
    return block


def _rank_step(line: str, topic: set[str]) -> tuple[bool, int]:
    return _NO_STEP.match(line) is not None, -sum(word in line.casefold() for word in topic)


def _with_gaps(lines: list[str], chosen: list[int]) -> list[str]:
    shown = []
    for before, place in pairwise([*chosen[:1], *chosen]):
        shown += [*(["…"] if place > before + 1 else []), lines[place]]
    if chosen and chosen[-1] < len(lines) - 1:
        shown[-1] += " …"
    return shown
