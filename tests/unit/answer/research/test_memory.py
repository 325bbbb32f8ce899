"""Memory: the newest in view, the rest archived, and raw sources that nothing changes."""

from coreloop.answer.research.findings import Finding
from coreloop.answer.research.memory import (
    MAX_VIEW_TOKENS,
    compacted,
    compaction_reason,
    remember,
)
from coreloop.answer.research.research_state import Knowledge, ReadSource
from researching import source


def knowledge(iterations: int, *, chars: int = 1_000) -> Knowledge:
    sources = [
        ReadSource(n, source(f"{n} " + "x" * chars, f"https://{n}.example"), f"{n}.example", "q", n)
        for n in range(1, iterations + 1)
    ]
    findings = [
        Finding(text=str(n), sources=(n,), confidence=0.6, tag="", hypothesis_id=None, iteration=n)
        for n in range(1, 41)
    ]
    return Knowledge(sources=sources, findings=findings)


def test_compaction_begins_under_a_quarter_of_the_budget_and_over_fifty_thousand_tokens():
    small, large = remember(knowledge(3), iteration=3), remember(knowledge(9, chars=6_000), iteration=9)
    assert compaction_reason(small, tokens_left=2_600, token_budget=10_000) != ""  # does not fit
    assert compaction_reason(small, tokens_left=26_000, token_budget=100_000) == ""
    assert "25%" in compaction_reason(small, tokens_left=24_000, token_budget=100_000)
    assert "50,000" in compaction_reason(large, tokens_left=None, token_budget=None)


def test_a_compacted_source_is_a_summary_and_a_handle_and_the_raw_text_stays():
    known = knowledge(9, chars=6_000)
    memory = compacted(remember(known, iteration=9), keep=[1])
    assert memory.most_tokens <= MAX_VIEW_TOKENS
    short = next(read for read in memory.working if read.number == 2)
    assert short.source.text.endswith(" (archived: iteration 2, source 2)")
    assert memory.working[0].source == known.sources[0].source
    assert len(known.sources[1].source.text) > 6_000
