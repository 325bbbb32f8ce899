"""The collector, which an agent's server calls while it answers a request.

Auditing must not break, delay or change a request. So nothing here raises: losses are counted by reason
(`drops`), and each reason is logged once, without content. Only the standard library, orjson and `records`
are imported at start-up.
"""

import os
import time
from _thread import RLock  # threading.RLock wraps it in a function, which doubles the time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, Final, Self

from coreloop.base.record_lines import MAX_STRING_CHARS, encode_line
from coreloop.base.records import UNSPECIFIED, Record, hash_sequence, is_category, join_steps
from coreloop.observe import drops
from coreloop.observe import record_parts as parts
from coreloop.observe.argument_sources import SESSION_SOURCES, Sources, copied, values_in
from coreloop.observe.calls import recorded_call, trace_calls
from coreloop.observe.case_keys import RequestIdentifiers
from coreloop.observe.drops import drop, never_raises
from coreloop.observe.journal import day_stamp
from coreloop.observe.log_settings import OWN_RECORDS, RECORDS, folder_of, is_disabled, log_settings

# Of groups of calls, whose results wait until it is known what they are searched for: with up to 3 MB.
_MAX_UNTRACED: Final = 16


class AuditCollector:
    """Collects the events of one request and writes them as one record.

    Use it as a context manager: `current` then finds it from nested code, an exception is recorded as the
    ``error`` and re-raised, and the end of the block flushes the record if it is still open.

    Parameters
    ----------
    question : str
        The user's question, stored unchanged in files of mode 0600.
    stockCode_hint, provider, model : str, optional
        Stored up to 100 characters.
    session_id : str, optional
        Stored only as a hash. With it, sources of arguments are also searched in the session's earlier
        requests in this process, until it pauses for an hour.
    tools_version : str, optional
        Version of the docstrings that the model sees, up to 100 characters. Default:
        ``CORELOOP_TOOLS_VERSION``, else the commit of the git repository that contains coreloop.yaml or,
        without coreloop.yaml, the folder.
    request_id : str, optional
        The record's id, up to 100 characters, for a request that has one already. Default: a random one.
    data_dir : path, optional
        Contains ``audit/ai-ask/``. Default: as set in coreloop.yaml or ``CORELOOP_DATA_DIR``, else ``data``.
        The nearest coreloop.yaml above it sets the category rules and selectors.
    clock_ns : callable
        Nanoseconds since 1970, UTC.

    Notes
    -----
    ``CORELOOP_AUDIT_DISABLE=1`` or ``DARTLAB_AUDIT_DISABLE=1`` turns it off, as do ``true``, ``yes`` and
    ``on`` in upper or lower case. No method raises; see `dropped`. The threads of a request may share its
    collector.

    Examples
    --------
    >>> with AuditCollector(question="삼성전자 수익성 분석해줘", data_dir="data") as audit:
    ...     audit.observe_tool_call("analysis", {"axis": "수익성"}, ok=True, duration_ms=18)
    ...     audit.flush(chunk_len=1823)
    """

    _LOG: ClassVar[str] = RECORDS

    def __init__(
        self,
        question: str = "",
        *,
        stockCode_hint: str | None = None,  # noqa: N803 - the record's own field name
        provider: str | None = None,
        model: str | None = None,
        session_id: str | None = None,
        tools_version: str | None = None,
        request_id: str | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._off = True  # until opened: a partial collector records nothing
        self._pending: list[Record] = []
        self._steps: list[str] = []
        self._identifiers = RequestIdentifiers()
        self._conversation: list[dict[str, Any]] = []
        self._sources: Sources | None = None  # of a session, or of a long request
        self._untraced: list[list[parts.RecordedCall]] = []
        self._lock = RLock()  # reentrant: adapters hold it while they add calls
        self._clock_ns = clock_ns
        try:
            self._started_ns = time.monotonic_ns()
            folder = folder_of(data_dir)
            settings = log_settings(*folder, self._LOG)
            if settings is None:
                return
            self._settings = settings
            record = parts.open_record(
                question,
                request_id=parts.short_text(request_id) or f"req-{os.urandom(8).hex()}",
                categories=self._settings.categories,
                stock_code_hint=stockCode_hint,
                provider=provider,
                model=model,
                session_id=session_id,
            )
            if version := parts.short_text(tools_version or self._settings.tools_version):
                record["tools_version"] = version
            if "session_hash" in record:
                session = (folder, record["session_hash"])
                self._sources = SESSION_SOURCES.open(session, self._started_ns / 1e9)
                self._sources.add_question(record["question"])
            self._pending.append(record)
            self._off = False
        except Exception as error:
            drops.drop_error(error)

    def _record(self) -> Record | None:
        """Return the open record; after the flush, count the call as dropped and return None."""
        for record in self._pending:
            return record
        if not self._off:
            drop("after_flush")
        elif self is _OUTSIDE and not is_disabled():
            drop("outside_request")
        return None

    @never_raises
    def observe_tool_call(
        self,
        name: str,
        args: Mapping[str, object] | None = None,
        *,
        ok: bool | None = None,
        error: str | BaseException | None = None,
        duration_ms: float | None = None,
        result_size_bytes: int | None = None,
        result: object = ...,
        overrides_used: Iterable[str] | None = None,
        extreme_flags: Iterable[str] = (),
    ) -> None:
        """Record a finished call.

        Parameters
        ----------
        name : str
            The tool's name as the model sees it.
        args : mapping, optional
            Arguments by name; copied, so later changes have no effect. A string of more than 500
            characters is stored as its size and a preview.
        ok : bool, optional
            Whether the call succeeded; by default, whether ``error`` is absent and the result does not say
            that it failed (``ok`` in coreloop.yaml).
        error : str or exception, optional
            Why the call failed.
        duration_ms : float, optional
            Milliseconds.
        result_size_bytes : int, optional
            Size of the result that the model received.
        result : object, optional
            The result that the model received: JSON text, other text, or plain lists and dicts;
            other objects are not inspected. It is not stored, except with ``measure: {contexts: true}`` in
            coreloop.yaml. A copy, in a session hashes of its values, stays in memory to record calls with
            ``args_from``, the fields that their arguments come from; without any result, there is none.
        overrides_used : iterable of str, optional
            Keys of the tool's assumptions that the caller replaced.
        extreme_flags : iterable of str
            Names of implausible values that the tool reported.
        """
        record = self._record()
        if record is None:
            return
        traced = parts.TracedCall(
            name=name,
            args=args,
            ok=ok,
            error=error,
            duration_ms=duration_ms,
            result_size_bytes=result_size_bytes,
            result=result,
            overrides_used=overrides_used,
            extreme_flags=extreme_flags,
        )
        self._add_calls(record, [traced])

    def _add_calls(self, record: Record, calls: Sequence[parts.TracedCall]) -> None:
        """Add finished calls, and in a session or a long request the sources of their arguments."""
        made = [recorded_call(call, self._settings, drop) for call in calls]
        with self._lock:  # keeps calls and sequence in the same order across a request's threads
            for traced, call, new_step, plain_args, texts in made:
                if new_step is not None:
                    self._steps.append(new_step)
                record["tool_calls"].append(call)
                if self._settings.contexts is not None:
                    kept = parts.kept_call(call["name"], plain_args, traced.result, traced.error)
                    self._conversation.append(kept)
                self._identifiers.note(texts)
            if self._sources is None:
                for traced in calls:
                    traced.result = copied(traced.result)
                self._untraced.append(made)
                if len(self._untraced) > _MAX_UNTRACED:
                    self._sources = self._traced(record, None)
                return
        trace_calls(made, self._sources, self._settings)

    def _traced(self, record: Record, searched: Collection[str | float] | None) -> Sources:
        """Add the sources of arguments that wait for it; return the memory of their request."""
        sources, groups = Sources(searched=searched), self._untraced
        self._untraced = []
        sources.add_question(record["question"])
        for calls in groups:
            trace_calls(calls, sources, self._settings)
        return sources

    @never_raises
    def observe_override(
        self, tool: str, keys: Iterable[str], *, trigger: str | None = None, succeeded: bool = True
    ) -> None:
        """Record that an assumption of ``tool`` was overridden, why, and whether that helped.

        Parameters
        ----------
        tool : str
            Tool name.
        keys : iterable of str
            The overridden assumptions, for example ``wacc``.
        trigger : str, optional
            The reason, for example ``detectExtremeFlags:wacc>0.25``.
        succeeded : bool
            Whether the tool then gave a plausible result.
        """
        record = self._record()
        if record is not None:
            record["override_calls"].append(
                {
                    "tool": parts.stored_text(tool, 200),
                    "override_keys": parts.texts(keys, drop=drop),
                    "trigger": None if trigger is None else parts.stored_text(trigger, MAX_STRING_CHARS),
                    "succeeded": bool(succeeded),
                }
            )

    @never_raises
    def observe_violation(self, text: str) -> None:
        """Record that the answer violated a rule; several violations are joined by ``; ``."""
        record = self._record()
        if record is not None:
            new = parts.stored_text(text, MAX_STRING_CHARS)
            with self._lock:
                record["violation"] = f"{record['violation']}; {new}" if record["violation"] else new

    @never_raises
    def set_category_hash(self, label: str) -> None:
        """Override the category given by the keyword rules.

        A label must be one to four parts of ASCII letters and digits, joined by ``-``, because it can
        appear in a docstring. Any other label is counted as dropped, and the category is ``UNSPECIFIED``.
        """
        record = self._record()
        if record is None:
            return
        record["category_hash"] = label if isinstance(label, str) and is_category(label) else UNSPECIFIED
        if record["category_hash"] != label:
            drop("category")

    @never_raises
    def flush(
        self,
        chunk_len: int | None = None,
        *,
        error: str | BaseException | None = None,
        rounds: int | None = None,
        skill_used: str | None = None,
    ) -> None:
        """Write the record; further calls are counted as dropped.

        Parameters
        ----------
        chunk_len : int, optional
            Length of the answer in characters; 0 is an empty answer, None unknown.
        error : str or exception, optional
            Why the request failed.
        rounds : int, optional
            Turns between the model and its tools.
        skill_used : str, optional
            Name of the skill that answered.
        """
        try:
            record = self._pending.pop()  # atomic: if two threads flush, only one gets the record
        except IndexError:
            if not self._off:
                drop("after_flush")
            return
        try:
            record["ts"], day, second = day_stamp(self._clock_ns())
            record["tool_sequence_hash"] = hash_sequence(join_steps(self._steps))
            record["chunk_len"] = parts.number(chunk_len, drop=drop)
            record["duration_total_ms"] = (time.monotonic_ns() - self._started_ns) // 1_000_000
            record["error"] = parts.error_text(error)
            record["rounds"] = parts.number(rounds, drop=drop)
            record["skill_used"] = parts.short_text(skill_used)
            self._add_sources(record)
            if self._identifiers and (key := self._settings.case_key()):
                record["case"] = self._identifiers.case(key)
            line = encode_line(record, self._settings.selectors, mask_error=parts.error_without_values)
            self._settings.journal.append(line, day, second)
            if self._settings.contexts is not None:
                conversation = parts.conversation_line(record, self._conversation)
                self._settings.contexts.append(conversation, day, second)
        except Exception as problem:
            self._settings.journal.count_dropped(drops.drop_error(problem))

    @never_raises
    def _add_sources(self, record: Record) -> None:
        made = [call for calls in self._untraced for call in calls]
        if any(call.traced.result is not ... for call in made):  # without results nothing is looked up
            self._traced(record, values_in(call.texts for call in made))

    def __enter__(self) -> Self:
        _blocks.set((*_blocks.get(), self))
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._leave()
        if self._pending:
            self.flush(error=error)

    def _leave(self) -> None:
        _blocks.set(tuple(block for block in _blocks.get() if block is not self))


class OwnCollector(AuditCollector):
    """Records what coreloop itself was asked (`ask`, `research`), apart from the agent, in ``audit/own/``."""

    _LOG: ClassVar[str] = OWN_RECORDS


def current() -> AuditCollector:
    """Return the collector of the current request.

    Returns
    -------
    AuditCollector
        The innermost collector of this thread's or task's context; outside of any request, a collector that
        is off. `asyncio.to_thread` copies the context. A plain thread pool does not: calls observed there
        are counted as ``outside_request``. Submit ``contextvars.copy_context().run``, with a copy per call.
    """
    blocks = _blocks.get()
    return blocks[-1] if blocks else _OUTSIDE


# The open blocks of this thread or task, the innermost last. Without tokens, which raise if used twice or in
# another context: blocks may be exited in any order.
_blocks: ContextVar[tuple[AuditCollector, ...]] = ContextVar("coreloop_collectors", default=())


_OUTSIDE: Final = AuditCollector.__new__(AuditCollector)
_OUTSIDE._off, _OUTSIDE._pending = True, []  # shared by all threads: nothing writes to it
