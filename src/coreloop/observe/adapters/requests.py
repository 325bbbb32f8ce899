"""The requests that a framework has under way, and what it reports of them, under the framework's own ids.

An adapter turns its framework's callbacks into these calls. As in the collector, nothing here raises.
"""

import atexit
import os
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from coreloop.base.record_lines import text_of
from coreloop.base.records import hash_question
from coreloop.observe import drops
from coreloop.observe.adapters.plain_values import named_args, plain_result
from coreloop.observe.argument_sources import PROCESS_LEAVES
from coreloop.observe.calls import AskedCalls, TracedCall, recorded_call, trace_calls
from coreloop.observe.collector import AuditCollector
from coreloop.observe.descriptions_in_force import SentTool, keep_descriptions
from coreloop.observe.drops import never_raises
from coreloop.observe.record_parts import stored_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coreloop.base.project.score_rule import Score

MAX_UNDER_WAY: Final = 4096
"""A request takes 5 KB until it ends, or 45 KB with 20 tools and three results of 40 values: 180 MB together.
Servers answer fewer at once."""
MAX_SILENCE_S: Final = 3600.0
"""A request without an event for so long has lost its end: sources of arguments are forgotten then, too."""
NEVER_ENDED: Final = "never_ended"
UNFINISHED: Final = "unfinished: the framework reported no end"
NO_RESULT: Final = "unfinished: the framework reported no result"


_ALL: "weakref.WeakSet[Requests]" = weakref.WeakSet()


class AdaptedRequest(AuditCollector):
    """A request under way: calls that an adapter reports, in the order in which the model asked for them.

    A decorated tool inside the request is not recorded again.
    """

    def __init__(self, question: str, parent: "AdaptedRequest | None", **about: Any) -> None:
        self.id = f"req-{os.urandom(8).hex()}"
        super().__init__(question, request_id=self.id, **about)
        self.calls = AskedCalls()
        self.known = set[int]()  # hashes of the ids of all calls
        self.tools: dict[str, SentTool] = {}
        self.fields: dict[str, Any] = {} if parent is None else {"parent_request_id": parent.id}
        self.rounds = 0
        self.touched_s = 0.0
        self.n_remembered = 0

    def observe_tool_call(self, *args: Any, **kwargs: Any) -> None:
        """Ignore the call: the adapter reports what the model asked for, this call included."""

    def __exit__(self, *error: object) -> None:
        """Leave the block without a flush: the adapter knows when the request ends, and with what answer."""
        self._leave()

    @never_raises
    def settle(self, *, remember: bool) -> None:
        """Record the calls whose answers the model saw together.

        Without ``remember``, their results are only asked whether they say that the call failed.
        """
        calls, self.calls = self.calls.all, AskedCalls()
        record = self._record()
        if record is None:
            return
        recorded = [recorded_call(call, self._settings, drops.drop) for call in calls]
        for call, kept in zip(calls, recorded, strict=True):
            self._add_call(record, kept, call.result, call.error)
            if not remember:
                call.result = ...
        if self._sources is None:
            if all(call.result is ... for call in calls):
                return
            self._sources = self._new_sources(record, recorded)
        try:
            trace_calls(list(zip(calls, recorded, strict=True)), self._sources, self._settings)
        except Exception as error:  # only the sources are lost
            drops.drop_error(error)
        self.n_remembered = len(self._sources)

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
        if judgment is not None:
            self.fields["judgment"] = judgment

    @never_raises
    def write(self, *, answer: str | None, error: str | BaseException | None) -> None:
        """Write the record."""
        if self._off:
            return
        if self.tools:
            audit_dir = self._settings.journal.folder.parent
            self.fields["descriptions"] = keep_descriptions(self.tools.values(), audit_dir)
        self._pending[0].update(self.fields)  # type: ignore[typeddict-item]
        self.flush(None if answer is None else len(answer), error=error, rounds=self.rounds or None)


class Requests:
    """The requests under way of one framework in this process.

    A key is what the framework calls a request: any hashable value. Events of an unknown key are counted as
    ``after_flush``; answers to calls that the model did not ask for are ignored.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`.
    max_under_way : int
        The request that was silent for longest is flushed beyond it, as ``never_ended``.
    clock_s : callable
        Seconds of a monotonic clock.
    """

    def __init__(
        self,
        data_dir: str | os.PathLike[str] | None = None,
        *,
        max_under_way: int = MAX_UNDER_WAY,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._data_dir = data_dir
        self._max_under_way = max_under_way
        self._clock_s = clock_s
        self.forget()
        _ALL.add(self)

    def __len__(self) -> int:
        return len(self._under_way)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._under_way

    def get(self, key: Hashable) -> AdaptedRequest | None:
        """Return a request under way, or None."""
        return self._under_way.get(key)

    @never_raises
    def start(
        self,
        key: Hashable,
        question: str = "",
        *,
        parent: Hashable = None,
        session_id: str | None = None,
    ) -> None:
        """Start a request; one under way under the same key continues.

        Parameters
        ----------
        parent : hashable, optional
            The key of the request whose agent called this one; its id becomes ``parent_request_id``.
        """
        now_s = self._clock_s()
        self._flush_silent(now_s)
        if key in self._under_way:
            return
        outer = self._under_way.get(parent) if parent is not None else None
        request = AdaptedRequest(question, outer, session_id=session_id, data_dir=self._data_dir)
        request.touched_s = now_s
        with self._lock:
            self._under_way[key] = request

    @never_raises
    def replied(
        self,
        key: Hashable,
        *,
        provider: str | None = None,
        model: str | None = None,
        input_tokens: object = None,
        output_tokens: object = None,
        cost_usd: object = None,
    ) -> None:
        """Count a reply of the model, and what the framework says that it used."""
        request = self._touched(key)
        if request is None:
            return
        named = {"provider": provider, "model": model}
        request.fields.update({name: text_of(value)[:100] for name, value in named.items() if value})
        request.rounds += 1
        used = {"input_tokens": input_tokens, "output_tokens": output_tokens, "cost_usd": cost_usd}
        for name, value in used.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 2**40:
                request.fields[name] = request.fields.get(name, 0) + value

    @never_raises
    def question(self, key: Hashable, text: str) -> None:
        """Set the question of a request that started without one."""
        request = self._under_way.get(key)
        if request is not None and text:
            request.set_question(text)

    @never_raises
    def sent(self, key: Hashable, tools: Iterable[SentTool]) -> None:
        """Add the tools that the model was sent; a later description of a name replaces an earlier one."""
        request = self._touched(key)
        if request is not None:
            request.tools.update((tool.name, tool) for tool in tools)

    @never_raises
    def asked(self, key: Hashable, call_id: Hashable, name: str, args: object) -> None:
        """Note that the model asked for a call; ``args`` is a mapping or JSON text. Repeats are ignored."""
        request = self._touched(key)
        if request is None:
            return
        with self._lock:
            if hash(call_id) not in request.known:
                request.known.add(hash(call_id))
                request.calls.ask(call_id, text_of(name), named_args(args))

    @never_raises
    def timed(self, key: Hashable, call_id: Hashable, duration_ms: float) -> None:
        """Note how long an open call took."""
        call = self._open(key, call_id)
        if call is not None:
            call.duration_ms = round(duration_ms, 3)

    @never_raises
    def answered(
        self,
        key: Hashable,
        call_id: Hashable,
        result: object = ...,
        *,
        error: str | BaseException | None = None,
        duration_ms: float | None = None,
    ) -> None:
        """Note the result that the model got for a call, or why it failed. The first answer counts."""
        request = self._touched(key)
        if request is None:
            return
        with self._lock:
            plain, size_bytes = plain_result(result)
            call = request.calls.answer(call_id, plain, size_bytes=size_bytes, error=error)
            if call is None:
                return
            if duration_ms is not None:
                call.duration_ms = round(duration_ms, 3)
            if not request.calls.open:
                self._settle(request)

    def open_calls(self, key: Hashable) -> dict[Hashable, TracedCall]:
        """Return the calls without an answer, by id."""
        request = self._under_way.get(key)
        if request is None:
            return {}
        with self._lock:
            return {call_id: calls[0] for call_id, calls in request.calls.open.items()}

    def args_of(self, key: Hashable, call_id: Hashable) -> Mapping[str, Any]:
        """Return the arguments of an open call."""
        call = self._open(key, call_id)
        return {} if call is None else call.args

    @never_raises
    def end(
        self,
        key: Hashable,
        *,
        answer: str | None = None,
        error: str | BaseException | None = None,
        open_calls: str | BaseException | None = None,
    ) -> None:
        """Write the request's record; calls without an answer have failed.

        Parameters
        ----------
        answer : str, optional
            Only its length is recorded.
        open_calls : str or exception, optional
            Why calls have no answer. Default: the request's error.
        """
        if self._touched(key) is not None:
            self._write(key, answer=answer, error=error, open_calls=open_calls or error or NO_RESULT)

    def flush(self) -> None:
        """Write every request under way as unfinished."""
        for key in list(self._under_way):
            self._give_up(key)

    def forget(self) -> None:
        """Drop everything without writing: after a fork, the parent writes its requests."""
        self._lock = threading.RLock()
        self._under_way: OrderedDict[Hashable, AdaptedRequest] = OrderedDict()
        self._n_remembered = 0

    def _open(self, key: Hashable, call_id: Hashable) -> TracedCall | None:
        request = self._under_way.get(key)
        calls = None if request is None else request.calls.open.get(call_id)
        return calls[0] if calls else None

    def _touched(self, key: Hashable) -> AdaptedRequest | None:
        """The request, which is now the one that was heard of last; None, counted, if it is unknown."""
        with self._lock:
            request = self._under_way.get(key)
            if request is None:
                drops.drop(drops.AFTER_FLUSH)
                return None
            request.touched_s = self._clock_s()
            self._under_way.move_to_end(key)
            return request

    def _flush_silent(self, now_s: float) -> None:
        while self._under_way:
            key, oldest = next(iter(self._under_way.items()))
            if len(self._under_way) < self._max_under_way and now_s - oldest.touched_s < MAX_SILENCE_S:
                return
            self._give_up(key)

    def _give_up(self, key: Hashable) -> None:
        drops.drop(NEVER_ENDED)
        self._write(key, answer=None, error=UNFINISHED, open_calls=NO_RESULT)

    @never_raises
    def _write(
        self,
        key: Hashable,
        *,
        answer: str | None,
        error: str | BaseException | None,
        open_calls: str | BaseException,
    ) -> None:
        with self._lock:
            request = self._under_way.pop(key, None)
            if request is None:
                return
            for calls in request.calls.open.values():
                for call in calls:
                    call.error, call.unknown = open_calls, None
            self._settle(request)
            self._n_remembered -= request.n_remembered
        request.write(answer=answer, error=error)

    def _settle(self, request: AdaptedRequest) -> None:
        before = request.n_remembered
        request.settle(remember=self._n_remembered < PROCESS_LEAVES)
        self._n_remembered += request.n_remembered - before


def _flush_all() -> None:
    for requests in list(_ALL):
        requests.flush()


def _forget_all() -> None:
    for requests in list(_ALL):
        requests.forget()


atexit.register(_flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
