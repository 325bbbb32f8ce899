"""The lines of a passage that a screen shows: the marked sentence, and the code that says how."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from coreloop.answer.research.answer import AnswerPassage

LINES: Final = 15
"""Of all passages: with three, an answer and its sources, 24 lines."""
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


def lines_of(passages: Sequence["AnswerPassage"], n_lines: int = LINES) -> list[int]:
    """Lines of each passage, of so many for all; the first gets what the others leave."""
    fewest = (n_lines + 1) // 4
    others = [min(fewest, len(dense(passage.text))) for passage in passages[1:]]
    return [max(fewest, n_lines - sum(others)), *others][: len(passages)]


def dense(text: str) -> list[str]:
    """Return the lines of a text that are not blank."""
    return [line for line in text.splitlines() if line.strip()]


def marked_lines(passage: "AnswerPassage") -> list[str]:
    """Return the lines of a passage with its marked sentence between » and «."""
    start, end = passage.start, passage.end
    marked = f"»{passage.text[start:end]}«" if end > start else ""
    return f"{passage.text[:start]}{marked}{passage.text[end:]}".splitlines()


def excerpt(passage: "AnswerPassage", n_lines: int) -> list[str]:
    """Return at most so many lines of a passage; ``…`` stands for those between and after them.

    The marked ones come first, then those of the code that belongs to them, then what follows and precedes.
    """
    lines, code = _read_code([_cut(line) for line in marked_lines(passage) if line.strip()])
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
