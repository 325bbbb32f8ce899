"""What a prompt shows of a research: the newest in full, older sources as a summary and a number."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from coreloop.answer.research.findings import Finding
from coreloop.answer.research.research_state import Knowledge, ReadSource

WORKING_ITERATIONS: Final = 10
"""Whose sources are in view."""
SEMANTIC_FINDINGS: Final = 30
"""The newest findings that are in view."""
MAX_VIEW_TOKENS: Final = 50_000
LEAST_BUDGET_SHARE: Final = 0.25
"""Of the token budget; with less left, prompts are compacted."""
_SUMMARY_CHARS: Final = 160
"""A text that is no longer than its summary would be stays."""


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


def remember(knowledge: Knowledge, *, iteration: int) -> Memory:
    """Return what an iteration has in view before any compaction."""
    oldest = iteration - WORKING_ITERATIONS
    working = tuple(read for read in knowledge.sources if read.iteration > oldest)
    archived = tuple(read.number for read in knowledge.sources if read.iteration <= oldest)
    return Memory(working, tuple(knowledge.findings[-SEMANTIC_FINDINGS:]), archived)


def retrieve(knowledge: Knowledge, iteration: int) -> tuple[ReadSource, ...]:
    """Return the sources that an iteration read, as they were retrieved."""
    return tuple(read for read in knowledge.sources if read.iteration == iteration)


def most_tokens(memory: Memory) -> int:
    """Return the most tokens that a view can have: one for each byte, as reservations count."""
    texts = [text for read in memory.working for text in (read.source.title, read.source.text)]
    texts += [finding.text for finding in memory.semantic]
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def compaction_reason(memory: Memory, *, tokens_left: int | None, token_budget: int | None) -> str:
    """Say why a view must be compacted, or return ""."""
    if token_budget is not None and tokens_left is not None:
        if tokens_left < LEAST_BUDGET_SHARE * token_budget:
            return f"less than {LEAST_BUDGET_SHARE:.0%} of the token budget is left"
        if most_tokens(memory) > tokens_left:
            return "the sources do not fit the tokens that are left"
    if most_tokens(memory) > MAX_VIEW_TOKENS:
        return f"the sources have more than {MAX_VIEW_TOKENS:,} tokens"
    return ""


def compacted(memory: Memory, *, keep: Sequence[int] = (), max_tokens: int = MAX_VIEW_TOKENS) -> Memory:
    """Replace texts by their findings and a handle until the view fits; the raw texts stay as they are.

    Parameters
    ----------
    memory : Memory
        Of `remember`.
    keep : sequence of int
        Numbers of the sources that stay in full longest, for example those of findings.
    max_tokens : int
        Of the result, unless the summaries alone have more.
    """
    wanted = set(keep)
    order = sorted(memory.working, key=lambda read: (read.number in wanted, read.iteration, -read.number))
    for read in order:
        if most_tokens(memory) <= max_tokens:
            break
        memory = _with_summary(memory, read)
    return memory


def _with_summary(memory: Memory, read: ReadSource) -> Memory:
    if len(read.source.text) <= _SUMMARY_CHARS:
        return memory
    found = [finding.text for finding in memory.semantic if read.number in finding.sources]
    summary = f"Findings: {' '.join(found)}" if found else f"No finding about {read.query or 'the question'}."
    handle = f"(archived: iteration {read.iteration}, source {read.number})"
    short = replace(read, source=replace(read.source, text=f"{summary} {handle}"))
    working = tuple(short if other.number == read.number else other for other in memory.working)
    return Memory(working, memory.semantic, (*memory.archived, read.number))
