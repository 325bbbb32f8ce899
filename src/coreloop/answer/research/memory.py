"""What a prompt shows of a research: the newest in full, older sources as a summary and a number."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from coreloop.answer.models.contracts import Material, NumberedSource
from coreloop.answer.research.findings import Finding, citation_marks
from coreloop.answer.research.research_state import AGAINST, COMPACTED, Knowledge, ReadSource, knowledge_of
from coreloop.runs import events
from coreloop.runs.active_run import Run
from coreloop.runs.state import State

WORKING_ITERATIONS: Final = 10  # whose sources are in view
SEMANTIC_FINDINGS: Final = 30  # the newest findings that are in view
MAX_VIEW_TOKENS: Final = 50_000
LEAST_BUDGET_SHARE: Final = 0.25  # of the token budget; with less left, prompts are compacted
_SUMMARY_CHARS: Final = 160  # A text that is no longer than its summary would be stays
_CALL_TOKENS: Final = 10_000  # of a call beside what is in view: the prompt, the schema, the reply


@dataclass(frozen=True, slots=True)
class Memory:
    """What is in view of a prompt.

    Attributes
    ----------
    working : tuple of ReadSource
        Sources; a compacted one has a text that is a summary and a handle.
    semantic : tuple of Finding
        Findings, oldest first.
    archived : tuple of int
        Numbers of the sources that are out of view or compacted; `retrieve` returns them as they were.
    """

    working: tuple[ReadSource, ...]
    semantic: tuple[Finding, ...]
    archived: tuple[int, ...] = ()

    @property
    def most_tokens(self) -> int:
        """The most tokens that it can have: one for each byte, as reservations count."""
        texts = [text for read in self.working for text in (read.source.title, read.source.text)]
        texts += [finding.text for finding in self.semantic]
        return sum(len(text.encode("utf-8", "replace")) for text in texts)


def remember(knowledge: Knowledge, *, iteration: int) -> Memory:
    """Return what an iteration has in view before any compaction."""
    oldest = iteration - WORKING_ITERATIONS
    working = tuple(read for read in knowledge.sources if read.iteration > oldest)
    archived = tuple(read.number for read in knowledge.sources if read.iteration <= oldest)
    return Memory(working, tuple(knowledge.findings[-SEMANTIC_FINDINGS:]), archived)


def retrieve(knowledge: Knowledge, iteration: int) -> tuple[ReadSource, ...]:
    """Return the sources that an iteration read, as they were retrieved."""
    return tuple(read for read in knowledge.sources if read.iteration == iteration)


def view(run: Run, *, is_answer: bool = False) -> Memory:
    """Return what is in view of the next prompt.

    Texts are replaced by their findings and a handle until the view fits, those of findings last; the run's
    events say so, and the raw texts stay as they are.
    """
    state, knowledge = run.state, knowledge_of(run.state)
    memory = remember(knowledge, iteration=state.iteration + 1)
    budget, room, is_low = state.limits.tokens, MAX_VIEW_TOKENS, False
    if budget is not None:
        kept = 0 if is_answer else state.limits.kept.tokens
        left = max(0, budget - (state.spent + state.reserved).tokens - kept)
        # all but the rest of the call, or a third if more calls come
        room = min(room, left - _CALL_TOKENS if is_answer else left // 3)
        is_low = left < LEAST_BUDGET_SHARE * budget
    cited = {number for finding in knowledge.findings for number in finding.sources}
    whole = memory.archived
    for read in sorted(memory.working, key=lambda read: (read.number in cited, read.iteration, -read.number)):
        if memory.most_tokens > room and len(read.source.text) > _SUMMARY_CHARS:
            memory = _with_summary(memory, read)
    if memory.archived != whole:
        low = f"less than {LEAST_BUDGET_SHARE:.0%} of the token budget is left"
        reason = low if is_low else f"the sources do not fit in {room:,} tokens"
        about = {"reason": reason, "iteration": state.iteration + 1, "archived": memory.archived}
        run.record(events.Noted, name=COMPACTED, data=about)
    return memory


def _with_summary(memory: Memory, read: ReadSource) -> Memory:
    found = [finding.text for finding in memory.semantic if read.number in finding.sources]
    summary = f"Findings: {' '.join(found)}" if found else f"No finding about {read.query or 'the question'}."
    handle = f"(archived: iteration {read.iteration}, source {read.number})"
    short = replace(read, source=replace(read.source, text=f"{summary} {handle}"))
    working = tuple(short if other.number == read.number else other for other in memory.working)
    return Memory(working, memory.semantic, (*memory.archived, read.number))


def numbered_source(read: ReadSource) -> NumberedSource:
    """Return a source as models are sent it."""
    source = read.source
    return NumberedSource(
        number=read.number, title=source.title, text=source.text, type=source.type, location=source.location
    )


def material_of(state: State, memory: Memory, notes: Iterable[str] = ()) -> Material:
    """Build what a call is about from what is in view."""
    return Material(
        question=state.question,
        sub_questions=tuple(part.text for part in state.sub_questions if part.text != AGAINST),
        sources=tuple(map(numbered_source, memory.working)),
        searched=tuple(search.query for search in state.search_history),
        notes=tuple(notes),
    )


def notes_of(knowledge: Knowledge, memory: Memory) -> list[str]:
    """Return the findings in view and the active hypotheses as notes for a model."""
    findings = [
        f"finding {finding.tag}: {finding.text} {citation_marks(finding.sources)}"
        for finding in memory.semantic
    ]
    hypotheses = [f"hypothesis {one.id} ({one.confidence:.2f}): {one.statement}" for one in knowledge.focus]
    return findings + hypotheses
