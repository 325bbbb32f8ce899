"""The requests that a framework has under way, and what it reports of them.

An adapter turns its framework's callbacks into these calls. As in the collector, nothing here raises.
"""

import atexit
import os
import time
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from coreloop.base.record_lines import text_of
from coreloop.observe import drops
from coreloop.observe.adapters.plain_values import plain_result, schema_rejection
from coreloop.observe.calls import AskedCalls
from coreloop.observe.collector import AuditCollector, current
from coreloop.observe.descriptions_in_force import SentTool, keep_descriptions
from coreloop.observe.drops import never_raises
from coreloop.observe.importers.trace_values import arguments
from coreloop.observe.record_parts import TracedCall

MAX_UNDER_WAY: Final = 1024
"""A request takes 45 KB until it ends, with 20 tools and three results of 40 values. Servers answer fewer at
once: the oldest beyond it has lost its end."""
UNFINISHED: Final = "unfinished: the framework reported no end"
NO_RESULT: Final = "unfinished: the framework reported no result"
DataDir: TypeAlias = str | os.PathLike[str] | None
"""As for `AuditCollector`."""


class AdaptedRequest(AuditCollector):
    """A request under way: calls that an adapter reports, in the order in which the model asked for them.

    With a ``parent`` whose agent called this one, it gets ``parent_request_id``.
    A decorated tool inside the request is not recorded again. What is reported after the end is counted as
    ``after_flush``; answers to calls that the model did not ask for are ignored.
    """

    def __init__(
        self,
        question: str = "",
        *,
        parent: "AdaptedRequest | None" = None,
        session_id: str | None = None,
        data_dir: DataDir = None,
    ) -> None:
        self.id = f"req-{os.urandom(8).hex()}"
        super().__init__(question, request_id=self.id, session_id=session_id, data_dir=data_dir)
        self.tools: dict[str, SentTool] = {}
        self._calls = AskedCalls()
        self.running: dict[Hashable, float] = {}  # since when the tools of calls run
        self._known = set[int]()  # hashes of the ids of all calls
        self._fields: dict[str, Any] = {} if parent is None else {"parent_request_id": parent.id}
        self._rounds = 0
        self._framework = ""
        if self.is_open:
            for id in list(_under_way)[:1] if len(_under_way) >= MAX_UNDER_WAY else ():
                if oldest := _under_way.pop(id, None):  # another thread may have given it up
                    oldest.give_up()
            _under_way[self.id] = self

    @property
    def is_open(self) -> bool:
        """Whether the request is under way."""
        return bool(self._pending)

    @property
    def open_calls(self) -> dict[Hashable, TracedCall]:
        """The calls without an answer, by id."""
        with self._lock:
            return {call_id: calls[0] for call_id, calls in self._calls.open.items()}

    def args_of(self, call_id: Hashable) -> Mapping[str, Any]:
        """Return the arguments of an open call."""
        call = self.open_calls.get(call_id)
        return {} if call is None else call.args

    def rejection(self, call_id: Hashable) -> str:
        """Say why a tool rejected the arguments of an open call, by the schema that the model was sent."""
        call = self.open_calls.get(call_id)
        tool = None if call is None else self.tools.get(call.name)
        return schema_rejection(None if tool is None else tool.schema, self.args_of(call_id))

    def observe_tool_call(self, *args: Any, **kwargs: Any) -> None:
        """Ignore the call: the adapter reports what the model asked for, this call included."""

    def __exit__(self, *error: object) -> None:
        """Leave the block without a flush: the adapter knows when the request ends, and with what answer."""
        self._leave()

    @never_raises
    def replied(self, *, provider: str | None = None, model: str | None = None, **used: object) -> None:
        """Count a reply of the model, and what the framework says that it used, see `used`."""
        if self._record() is None:
            return
        named = {"provider": provider, "model": model}
        self._fields.update({name: text_of(value)[:100] for name, value in named.items() if value})
        self._rounds += 1
        self.used(**used)

    def used(self, **used: object) -> None:
        """Add ``input_tokens``, ``output_tokens`` and ``cost_usd``; what is no number is ignored."""
        for name, value in used.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 2**40:
                self._fields[name] = self._fields.get(name, 0) + value

    @never_raises
    def sent(self, tools: Iterable[SentTool], framework: str = "") -> None:
        """Add the tools that a framework sent to the model; a later description replaces an earlier one."""
        self._framework = framework
        self.tools.update((tool.name, tool) for tool in tools)

    @never_raises
    def asked(self, call_id: Hashable, name: str, args: object) -> None:
        """Note that the model asked for a call; ``args`` is a mapping or JSON text. Repeats are ignored."""
        if self._record() is None:
            return
        with self._lock:
            if hash(call_id) not in self._known:
                self._known.add(hash(call_id))
                self._calls.ask(call_id, text_of(name), arguments(args))

    @never_raises
    def started(self, call_id: Hashable) -> None:
        """Note that the tool of a call runs from now on."""
        if self.is_open:
            self.running[call_id] = time.perf_counter()

    @never_raises
    def finished(self, call_id: Hashable) -> None:
        """Note how long a call took since it started; it may be answered later."""
        call, started_s = self.open_calls.get(call_id), self.running.pop(call_id, None)
        if call is not None and started_s is not None:
            call.duration_ms = round((time.perf_counter() - started_s) * 1000, 3)

    @never_raises
    def answered(
        self, call_id: Hashable, result: object = ..., *, error: str | BaseException | None = None
    ) -> None:
        """Note the result that the model got for a call, or why it failed. The first answer counts."""
        if self._record() is None:
            return
        with self._lock:
            self.finished(call_id)
            plain, size_bytes = plain_result(result)
            self._calls.answer(call_id, plain, size_bytes=size_bytes, error=error)
            if not self._calls.open and self._calls.all:
                self._settle()

    @never_raises
    def end(self, *, answer: str | None = None, error: str | BaseException | None = None) -> None:
        """Write the record, of the answer only its length; calls without a result have failed, too."""
        _under_way.pop(self.id, None)
        record = self._record()
        if record is None:
            return
        why = error if error and error != UNFINISHED else NO_RESULT
        with self._lock:
            for call in self.open_calls.values():
                call.error, call.unknown = why, None
            self._settle()
        if self.tools:
            audit_dir = self._settings.journal.folder.parent
            kept = keep_descriptions(self.tools.values(), audit_dir, self._framework)
            self._fields["descriptions"] = kept
        record.update(self._fields)  # type: ignore[typeddict-item]
        self.flush(None if answer is None else len(answer), error=error, rounds=self._rounds or None)

    def give_up(self) -> None:
        """Write the record of a request whose end was lost."""
        drops.drop("never_ended")
        self.end(error=UNFINISHED)

    @never_raises
    def _settle(self) -> None:
        """Record the calls whose answers the model saw together."""
        calls, self._calls = self._calls.all, AskedCalls()
        self._add_calls(self._pending[0], calls)


# All requests of this process, by id, the oldest first.
_under_way: dict[str, AdaptedRequest] = {}


def ended() -> AdaptedRequest:
    """Return a request that has ended, for reports of an unknown one."""
    request = AdaptedRequest()
    _under_way.pop(request.id, None)
    request._pending.clear()
    return request


def enclosing() -> AdaptedRequest | None:
    """Return the request whose agent runs this code as a tool."""
    collector = current()
    return collector if isinstance(collector, AdaptedRequest) else None


def give_up_all() -> None:
    """Write every request under way as unfinished."""
    for request in list(_under_way.values()):
        request.give_up()


atexit.register(give_up_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_under_way.clear)  # the parent writes its requests
