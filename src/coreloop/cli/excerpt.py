"""An answer on a screen: its passages around their marked sentences, and its sources."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from coreloop.base.messages import in_language_of, number_of
from coreloop.base.text import printable

if TYPE_CHECKING:
    from coreloop.answer.research.answer import AgentResponse, AnswerPassage, AnswerSource
    from coreloop.answer.search.provider import Source

LINES: Final = 15
"""Of all passages: with three, an answer and its sources, 24 lines."""
_MAX_CHARS: Final = 320
_LEAD_CHARS: Final = 40
"""Of a line, four on a screen, and of those before what is marked."""
_SOURCES: Final = 4  # chosen: the screen has 24 lines


@dataclass(frozen=True, slots=True)
class PassageView:
    """An answer for people: what it says, whether sources say so, the passages, and the other sources.

    Long passages are cut to the lines around what is marked, so that one screen holds all of it; ``n_lines``
    is what all passages get. The verdict is in the language of the question.
    """

    answer: "AgentResponse"
    question: str
    is_verbose: bool = False
    n_lines: int = LINES

    def answer_lines(self) -> Iterator[str]:
        """Yield an answer of `ask`."""
        yield from self.lines()
        tell, answer = in_language_of(self.question), self.answer
        repairs = number_of(answer.repairs, "repair", tell)
        yield tell("{repairs}; run {id}", repairs=repairs, id=answer.run_id)
        if answer.mends:
            yield tell("it replaces run {id}, which was rejected", id=answer.mends)

    def lines(self) -> Iterator[str]:
        """Yield the answer, its verdict, passages and sources."""
        from coreloop.answer.research.verify import NO_EVIDENCE

        answer, tell = self.answer, in_language_of(self.question)
        if answer.untrusted_question not in {"", self.question}:
            yield f"→ {printable(answer.untrusted_question)}"
        if answer.end != "nothing_said_so" or answer.final_answer != tell(NO_EVIDENCE):
            yield from (*map(printable, answer.final_answer.splitlines()), "")
        is_open = answer.passages and answer.verdict == "nothing said so"
        if answer.end != "search_down":
            yield tell("the closest passages:" if is_open else answer.verdict)
        for passage, n_lines in self._shares():
            yield place_line(passage)
            lines = marked_lines(passage) if n_lines is None else excerpt(passage, n_lines, self.question)
            yield from (f"    {printable(line)}".rstrip() for line in lines)
        yield from map(place_line, self._sources()[0])

    def left_out(self) -> Iterator[str]:
        """Yield what ``-v`` would show, too."""
        tell = in_language_of(self.question)
        texts = [tell("the whole passages")] if any(n_lines for _, n_lines in self._shares()) else []
        if n_more := self._sources()[1]:
            texts.append(number_of(n_more, "more source", tell))
        if texts:
            yield tell("-v shows {what}", what=", ".join(texts))

    def _shares(self) -> "list[tuple[AnswerPassage, int | None]]":
        """The passages, each with its lines; None for a passage that is shown as it is."""
        shares = zip(self.answer.passages, lines_of(self.answer.passages, self.n_lines), strict=True)
        return [(part, None if self.is_verbose or len(_dense(part.text)) <= n else n) for part, n in shares]

    def _sources(self) -> "tuple[Sequence[AnswerSource], int]":
        """The sources beside the passages, and how many more there are."""
        shown_ids = {passage.id for passage in self.answer.passages}
        others = [source for source in self.answer.sources if source.id not in shown_ids]
        listed = others if self.is_verbose else others[:_SOURCES]
        return listed, len(others) - len(listed)


def place_line(source: "AnswerSource | Source") -> str:
    """Return where a source stands: ``[1] guide.md:1  Returns  (2026-04-25)``, or ``report.pdf, page 3``."""
    mark = f"{source.id} " if hasattr(source, "id") else ""
    line = f"{', page ' if source.type == 'pdf' else ':'}{source.line}" if source.line else ""
    title = source.title if source.title != source.location else ""
    day = f"  ({source.published})" if source.published else ""
    return printable(f"{mark}{source.location}{line}  {title}{day}").rstrip()


def lines_of(passages: Sequence["AnswerPassage"], n_lines: int = LINES) -> list[int]:
    """Lines of each passage, of so many for all; the first gets what the others leave."""
    fewest = (n_lines + 1) // 4
    others = [min(fewest, len(_dense(passage.text))) for passage in passages[1:]]
    return [max(fewest, n_lines - sum(others)), *others][: len(passages)]


def marked_lines(passage: "AnswerPassage") -> list[str]:
    """Return the lines of a passage with its marked sentence between » and «."""
    start, end = passage.start, passage.end
    marked = f"»{passage.text[start:end]}«" if end > start else ""
    return f"{passage.text[:start]}{marked}{passage.text[end:]}".expandtabs(4).splitlines()


def excerpt(passage: "AnswerPassage", n_lines: int, question: str = "") -> list[str]:
    """Return so many lines, from one before the mark on, or else around those with most words of a question.

    ``…`` stands for those left out.
    """
    from coreloop.answer.text.terms import term_set

    lines = [_cut(line) for line in _dense("\n".join(marked_lines(passage)))]
    wanted, latest = term_set(question), max(0, len(lines) - n_lines)
    near = [wanted & term_set(" ".join(lines[at : at + max(1, n_lines - 2)])) for at in range(latest + 1)]
    best = near.index(max(near, key=len))
    at = next((at for at, line in enumerate(lines) if "»" in line), best)
    first = min(max(0, at - 1), latest)
    shown = lines[first : first + n_lines]
    if first:
        shown[0] = f"… {shown[0]}"
    if first + n_lines < len(lines):
        shown[-1] += " …"
    return shown


def _dense(text: str) -> list[str]:
    """The lines of a text but blank ones, and those that only underline or rule."""
    return [line for line in text.splitlines() if line.strip(" =-~^+|:")]


def _cut(line: str) -> str:
    """The part of a long line that begins shortly before what is marked."""
    if len(line) <= _MAX_CHARS:
        return line
    start = max(0, line.find("»") - _LEAD_CHARS)
    end = max(start + _MAX_CHARS, line.find("«") + 1)
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
