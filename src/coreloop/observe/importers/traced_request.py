"""A request of an imported trace, independent of its format, and its conversion into a record."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from coreloop.base import records
from coreloop.base.project.score_rule import OutcomeRule, Score
from coreloop.base.record_lines import text_of
from coreloop.observe.argument_sources import Sources
from coreloop.observe.calls import recorded_call, trace_calls
from coreloop.observe.case_keys import RequestIdentifiers
from coreloop.observe.log_settings import LogSettings
from coreloop.observe.record_parts import Drop, TracedCall, error_text, number, open_record


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedRequest:
    """One request of an imported trace.

    Attributes
    ----------
    source : str
        The format's name.
    ids : tuple of str
        Identify the request in its format, independent of the file.
    ended : datetime
        With a zone; `UNDATED` if the trace does not say.
    undated : bool
        Whether ``ended`` is the time of the file, see `coreloop.observe.importers.files.read_each`.
    is_call : bool
        Whether it is a call as a server of tools sees it: its record has no answer and no rounds.
    answer_chars : int or None
        Length of the final answer; None if the trace does not have it.
    scores : tuple of Score
        Of other systems; the last of a name counts.
    parent_id : str or None
        `id` of the request whose agent made this one.
    input_tokens, output_tokens : int or None
        In all replies of the model; None if the trace does not say.
    """

    source: str
    ids: tuple[str, ...]
    question: str
    ended: datetime
    calls: tuple[TracedCall, ...]
    answer_chars: int | None = 0
    error: str | None = None
    violation: str | None = None
    provider: str | None = None
    model: str | None = None
    session_id: str | None = None
    rounds: int | None = None
    duration_ms: float | None = None
    judgment: records.RecordedJudgment | None = None
    scores: tuple[Score, ...] = ()
    parent_id: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    undated: bool = False
    is_call: bool = False

    @property
    def id(self) -> str:
        """``imp-`` and 16 hex digits of SHA-256 of the format and ids: the same in every import."""
        return request_id(self.source, self.ids)


def request_id(source: str, ids: tuple[str, ...]) -> str:
    """Return the `TracedRequest.id` of a request of a format."""
    key = "\0".join((source, *ids))
    return ID_PREFIX + sha256(key.encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class SkippedTrace:
    """A part of a trace that is not imported, and the reason."""

    reason: str


# Tools by which agents answer, in lower case: frameworks end a run with such a call, without a result.
_FINAL_CALLS: Final = {
    *("final_answer", "final_result", "final_output", "finish", "finish_task", "submit", "submit_answer"),
    *("attempt_completion", "exit", "done", "terminate", "complete_task", "task_complete", "task_done"),
    *("structuredoutput", "structured_output", "set_model_response", "return_result", "finalanswer"),
}
ID_PREFIX: Final = "imp-"
TORN: Final = SkippedTrace("torn or not JSON")
FOREIGN: Final = SkippedTrace("not of this format")
UNDATED: Final = datetime.fromtimestamp(0, UTC)
NO_TIME: Final = SkippedTrace("no valid time")


def record_of(request: TracedRequest, settings: LogSettings, drop: Drop, sources: Sources) -> records.Record:
    """Convert a request into a v2 record, with the functions of the collector.

    Parameters
    ----------
    request : TracedRequest
        With all its calls: the sequence hash covers them even if the line has no room for all.
    settings : LogSettings
        Of the log. Without a key of cases, the record has no ``case``.
    drop : callable
        Called with the reason for each value that cannot be stored.
    sources : Sources
        The memory of earlier requests of the session.
    """
    record = open_record(
        request.question,
        request_id=request.id,
        categories=settings.categories,
        provider=request.provider,
        model=request.model,
        session_id=request.session_id,
    )
    for call in request.calls:
        if call.unknown == records.NO_RESULT and call.name.lower().replace("-", "_") in _FINAL_CALLS:
            call.unknown = records.FINAL
    recorded_calls = [recorded_call(call, settings, drop) for call in request.calls]
    sources.add_question(request.question)
    trace_calls(recorded_calls, sources, settings)
    identifiers = RequestIdentifiers()
    for recorded in recorded_calls:
        identifiers.note(recorded.texts)
    if identifiers and (key := settings.case_key()):
        record["case"] = identifiers.case(key)
    record["tool_calls"] = [recorded.call for recorded in recorded_calls]
    record["tool_sequence_hash"] = records.hash_sequence(
        records.join_steps(recorded.step for recorded in recorded_calls if recorded.step is not None)
    )
    judgment = _judgment_by(settings.outcome, request.scores) or request.judgment
    if judgment is not None:
        record["judgment"] = judgment
    _add_ending(record, request, drop)
    return record


def _judgment_by(rule: OutcomeRule | None, scores: Sequence[Score]) -> records.RecordedJudgment | None:
    """The verdict by a score: P or V; None without a rule or a score that it can compare."""
    if rule is None or (passed := rule.passes(scores)) is None:
        return None
    at = next((score.at for score in reversed(scores) if score.name == rule.name), None)
    judge = f"score {rule.name}"[:100]
    return {"verdict": "P" if passed else "V", "judged_at": at, "judged_by": judge, "pr_url": None}


def _add_ending(record: records.Record, request: TracedRequest, drop: Drop) -> None:
    """Add what is known at the end of a request."""
    record["ts"] = request.ended.astimezone(UTC).isoformat(timespec="microseconds")
    answer_chars = request.answer_chars
    if request.calls and request.calls[-1].unknown == records.FINAL:
        answer_chars = sum(len(text_of(value)) for value in request.calls[-1].args.values())
    record["chunk_len"] = None if request.is_call else answer_chars
    record["error"] = error_text(request.error)
    record["violation"] = error_text(request.violation)
    record["rounds"] = None if request.is_call else request.rounds
    record["duration_total_ms"] = number(request.duration_ms, drop=drop)
    optional = {
        "unknown": records.NO_ANSWER if answer_chars is None else None,
        "parent_request_id": request.parent_id,
        "undated": request.undated,
        "input_tokens": request.input_tokens,
        "output_tokens": request.output_tokens,
    }
    record.update({name: value for name, value in optional.items() if value})  # type: ignore[typeddict-item]
    record["origin"] = request.source
