"""The phases of an iteration in the log: a line where one begins and one where it ends, without texts."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal

from coreloop.base.validation import fields_of
from coreloop.runs.active_run import Run

LOGGER: Final = "coreloop.runs"
"""A program that wants the lines gives it a handler; their figures are the attribute ``facts``."""
Phase = Literal["plan", "search", "reflect", "synthesize"]


@contextmanager
def phase(run: Run, name: Phase) -> Iterator[None]:
    """Log the beginning and the end of a phase of a run."""
    facts = {"phase": name, **fields_of(run.state, "run_id", "trace_id", "kind")}
    facts["iteration"] = run.state.iteration + 1
    _log({**facts, "state": "begins"})
    try:
        yield
    finally:
        results, tokens = len(run.state.read_sources), run.state.spent.tokens
        _log({**facts, "state": "ends", "results": results, "tokens": tokens})


def _log(facts: dict[str, object]) -> None:
    logging.getLogger(LOGGER).info("phase", extra={"facts": facts})
