"""The phases of an iteration in the log: a line where one begins and one where it ends, without texts."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal

from coreloop.runs.active_run import Run

LOGGER: Final = "coreloop.runs"
"""A program that wants the lines gives it a handler; their figures are the attribute ``facts``."""
Phase = Literal["plan", "search", "reflect", "synthesize"]


@contextmanager
def phase(run: Run, name: Phase) -> Iterator[None]:
    """Log the beginning and the end of a phase of a run."""
    state, begun = run.state, time.monotonic()
    facts = {
        "phase": name,
        "run_id": state.run_id,
        "trace_id": state.trace_id,
        "kind": state.kind,
        "iteration": state.iteration + 1,
    }
    _log({**facts, "state": "begins"})
    error = ""
    try:
        yield
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        ms = round((time.monotonic() - begun) * 1000, 1)
        results, tokens = len(state.read_sources), state.spent.tokens
        _log({**facts, "state": "ends", "ms": ms, "results": results, "tokens": tokens, "error": error})


def _log(facts: dict[str, object]) -> None:
    logging.getLogger(LOGGER).info("phase", extra={"facts": facts})
