"""How a record counts, as facts say: its outcome, and its signals if it failed."""

from pathlib import Path

from coreloop.learn.facts.read_lines import MineSettings, facts_of_lines
from coreloop.learn.mine.window import EVERY_DAY, merge
from coreloop.observe.reading.outcome import RequestOutcome


def weighed(
    raw: bytes, *, min_chunk_len: int | None = 400, verdicts: dict[str, str] | None = None
) -> tuple[RequestOutcome, int]:
    """The outcome and the signals of the record in a line."""
    settings = MineSettings(min_chunk_len=min_chunk_len, verdicts=verdicts or {})
    file = facts_of_lines([(0, raw)], settings, path=Path("a.jsonl"))
    (group,) = merge([file], EVERY_DAY).requests
    (outcome,), (signals,) = group.column("outcome"), group.column("signals")
    return RequestOutcome(outcome), signals
