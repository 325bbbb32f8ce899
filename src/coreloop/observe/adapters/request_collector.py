"""The collector of one request of a framework: calls in the order in which the model asked for them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coreloop.base.records import Record, ToolCall, hash_question
from coreloop.observe import drops
from coreloop.observe.argument_sources import Sources
from coreloop.observe.blocks import exit_block
from coreloop.observe.collector import AuditCollector, never_raises
from coreloop.observe.record_parts import stored_text

if TYPE_CHECKING:
    from coreloop.base.project.score_rule import Score


class AskedCall(NamedTuple):
    """A call that the model asked for, and how it ended.

    ``error`` is None if the framework reported none; the result may still say that the call failed.
    """

    name: str
    args: Mapping[str, Any]
    error: str | BaseException | None
    duration_ms: float | None
    result: Any
    result_size_bytes: int | None


class AdaptedCollector(AuditCollector):
    """Records calls that an adapter reports; a decorated tool inside the request is not recorded again."""

    __slots__ = ("_remembers", "_traced")

    def observe_tool_call(self, *args: Any, **kwargs: Any) -> None:
        """Ignore the call: the adapter reports what the model asked for, this call included."""

    def __exit__(self, *error: object) -> None:
        """Leave the block without a flush: the adapter knows when the request ends, and with what answer."""
        try:
            exit_block(self)
        except RecursionError:
            drops.DROPPED.no_stack += 1

    @never_raises
    def observe_batch(self, calls: Sequence[AskedCall], *, remember: bool = True) -> None:
        """Record calls that the model asked for before it saw any of their results.

        Without ``remember``, their results are only asked whether they say that the call failed.
        """
        self._remembers = remember
        self._traced: list[tuple[Record, ToolCall, dict[str, Any], object]] = []
        for call in calls:
            super().observe_tool_call(
                call.name,
                call.args,
                error=call.error,
                duration_ms=call.duration_ms,
                result_size_bytes=call.result_size_bytes,
                result=call.result,
            )
        try:
            self._trace_batch()
        except Exception as error:  # only the sources are lost
            drops.drop_error(error)

    @never_raises
    def add(self, fields: Mapping[str, Any]) -> None:
        """Set optional fields of the record."""
        record = self._record()
        if record is not None:
            record.update(fields)  # type: ignore[typeddict-item]

    @never_raises
    def set_question(self, text: str) -> None:
        """Set the question if there is none yet."""
        record = self._record()
        if record is None or record["question"]:
            return
        question = stored_text(text)
        record["question"], record["question_hash"] = question, hash_question(question)
        record["category_hash"] = self._settings.categories.label(question)
        if self._sources is not None:
            self._sources.add_question(question)

    @never_raises
    def judge(self, scores: "Sequence[Score]") -> None:
        """Set the verdict by the project's rule of outcomes, if one of the scores is what it names."""
        from coreloop.base.project.score_rule import judgment_by

        judgment = judgment_by(self._settings.outcome, scores)
        record = self._record()
        if judgment is not None and record is not None:
            record["judgment"] = judgment

    @property
    def audit_dir(self) -> Path | None:
        """The folder ``audit``; None if recording is off."""
        return None if self._off else self._settings.journal.folder.parent

    @property
    def n_remembered(self) -> int:
        """How many values of results this request keeps hashes of."""
        sources = None if self._off else self._sources
        return 0 if sources is None else len(sources)

    def _trace_sources(self, record: Record, call: ToolCall, args: dict[str, Any], result: object) -> None:
        self._traced.append((record, call, args, result if self._remembers else ...))

    def _trace_batch(self) -> None:
        """As `sources.trace_sources`, but no call of the batch has its value from another one's result."""
        if not self._traced:
            return
        sources = self._sources = self._sources or self._new_sources()
        results = any(result is not ... for *_, result in self._traced)
        lookups = [
            sources.look_up(args, self._settings.compared(call["name"]) if sources.has_results else None)
            if results or sources.has_results
            else None
            for _, call, args, _ in self._traced
        ]
        for (_, call, _, result), lookup in zip(self._traced, lookups, strict=True):
            if lookup is not None:
                lookup.add_to(call)
            sources.remember(call["name"], result, lookup, ok=call["ok"])

    def _new_sources(self) -> Sources:
        record = self._traced[0][0]
        traced = {id(call) for _, call, _, _ in self._traced}
        sources = Sources()
        sources.add_question(record["question"])
        if any(call["ok"] and id(call) not in traced for call in record["tool_calls"]):
            sources.mark_incomplete()
        return sources
