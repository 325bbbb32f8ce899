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
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, cast

from coreloop.base.record_lines import text_of
from coreloop.observe import drops
from coreloop.observe.adapters.plain_values import named_args, plain_result
from coreloop.observe.adapters.request_collector import AdaptedCollector, AskedCall
from coreloop.observe.descriptions_in_force import SentTool, keep_descriptions
from coreloop.observe.session_sources import PROCESS_LEAVES

MAX_UNDER_WAY: Final = 4096
"""A request takes 5 KB until it ends, or 45 KB with 20 tools and three results of 40 values: 180 MB together.
Servers answer fewer at once."""
MAX_SILENCE_S: Final = 3600.0
"""A request without an event for so long has lost its end: sources of arguments are forgotten then, too."""
NEVER_ENDED: Final = "never_ended"
UNFINISHED: Final = "unfinished: the framework reported no end"
NO_RESULT: Final = "unfinished: the framework reported no result"

_P = ParamSpec("_P")
_S = TypeVar("_S")
_ALL: "weakref.WeakSet[Requests]" = weakref.WeakSet()


def guarded(
    method: "Callable[Concatenate[_S, _P], None]",
) -> "Callable[Concatenate[_S, _P], None]":
    """Count what a method raises: it must not disturb the host."""

    @wraps(method)
    def call(self: _S, *args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as error:
            count_fault(error)

    return cast("Callable[Concatenate[_S, _P], None]", call)


def count_fault(error: Exception) -> None:
    """Count an adapter's own fault, even if no stack is left."""
    try:
        drops.drop_error(error)
    except RecursionError:
        drops.DROPPED.no_stack += 1


@dataclass(slots=True)
class _Asked:
    name: str
    args: Mapping[str, Any]
    error: str | BaseException | None = None
    duration_ms: float | None = None
    result: Any = ...
    size_bytes: int | None = None
    is_answered: bool = False


@dataclass(slots=True)
class _Request:
    collector: AdaptedCollector
    id: str
    touched_s: float
    calls: dict[Hashable, _Asked] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)  # hashes of the ids of settled calls
    tools: dict[str, SentTool] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    rounds: int = 0
    n_remembered: int = 0
    lock: Any = field(default_factory=threading.RLock)


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
        self._lock = threading.RLock()
        self._under_way: OrderedDict[Hashable, _Request] = OrderedDict()
        self._n_remembered = 0
        _ALL.add(self)

    def __len__(self) -> int:
        return len(self._under_way)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._under_way

    def collector(self, key: Hashable) -> AdaptedCollector | None:
        """Return the collector of a request under way, or None."""
        request = self._under_way.get(key)
        return None if request is None else request.collector

    @guarded
    def start(
        self,
        key: Hashable,
        question: str = "",
        *,
        parent: Hashable = None,
        provider: str | None = None,
        model: str | None = None,
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
        id = f"req-{os.urandom(8).hex()}"
        collector = AdaptedCollector(
            question,
            provider=provider,
            model=model,
            session_id=session_id,
            request_id=id,
            data_dir=self._data_dir,
        )
        request = _Request(collector, id, now_s)
        outer = self._under_way.get(parent) if parent is not None else None
        if outer is not None:
            request.fields["parent_request_id"] = outer.id
        with self._lock:
            self._under_way[key] = request

    @guarded
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
        request.collector.add({name: text_of(value)[:100] for name, value in named.items() if value})
        request.rounds += 1
        used = {"input_tokens": input_tokens, "output_tokens": output_tokens, "cost_usd": cost_usd}
        for name, value in used.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 2**40:
                request.fields[name] = request.fields.get(name, 0) + value

    @guarded
    def question(self, key: Hashable, text: str) -> None:
        """Set the question of a request that started without one."""
        request = self._under_way.get(key)
        if request is not None and text:
            request.collector.set_question(text)

    @guarded
    def sent(self, key: Hashable, tools: Iterable[SentTool]) -> None:
        """Add the tools that the model was sent; a later description of a name replaces an earlier one."""
        request = self._touched(key)
        if request is not None:
            request.tools.update((tool.name, tool) for tool in tools)

    @guarded
    def asked(self, key: Hashable, call_id: Hashable, name: str, args: object) -> None:
        """Note that the model asked for a call; ``args`` is a mapping or JSON text. Repeats are ignored."""
        request = self._touched(key)
        if request is None:
            return
        with request.lock:
            if call_id not in request.calls and hash(call_id) not in request.done:
                request.calls[call_id] = _Asked(text_of(name), named_args(args))

    @guarded
    def timed(self, key: Hashable, call_id: Hashable, duration_ms: float) -> None:
        """Note how long an open call took."""
        request = self._under_way.get(key)
        call = None if request is None else request.calls.get(call_id)
        if call is not None:
            call.duration_ms = round(duration_ms, 3)

    @guarded
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
        with request.lock:
            call = request.calls.get(call_id)
            if call is None or call.is_answered:
                return
            call.error, call.is_answered = error, True
            call.result, call.size_bytes = plain_result(result)
            if duration_ms is not None:
                call.duration_ms = round(duration_ms, 3)
            if all(other.is_answered for other in request.calls.values()):
                self._settle(request)

    def open_calls(self, key: Hashable) -> dict[Hashable, str]:
        """Return the calls without an answer: id -> tool."""
        request = self._under_way.get(key)
        if request is None:
            return {}
        with request.lock:
            return {call_id: call.name for call_id, call in request.calls.items() if not call.is_answered}

    def args_of(self, key: Hashable, call_id: Hashable) -> Mapping[str, Any]:
        """Return the arguments of an open call."""
        request = self._under_way.get(key)
        call = None if request is None else request.calls.get(call_id)
        return {} if call is None else call.args

    def schema_of(self, key: Hashable, name: str) -> Any:
        """Return the schema that the model was sent for a tool, or None."""
        request = self._under_way.get(key)
        tool = None if request is None else request.tools.get(name)
        return None if tool is None else tool.schema

    @guarded
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
        with self._lock:
            request = self._under_way.pop(key, None)
        if request is None:
            drops.drop(drops.AFTER_FLUSH)
            return
        self._write(request, answer=answer, error=error, open_calls=open_calls or error or NO_RESULT)

    def flush(self) -> None:
        """Write every request under way as unfinished."""
        for key in list(self._under_way):
            self._give_up(key)

    def forget(self) -> None:
        """Drop everything without writing: after a fork, the parent writes its requests."""
        self._lock = threading.RLock()
        self._under_way = OrderedDict()
        self._n_remembered = 0

    def _touched(self, key: Hashable) -> _Request | None:
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

    @guarded
    def _give_up(self, key: Hashable) -> None:
        with self._lock:
            request = self._under_way.pop(key, None)
        if request is not None:
            drops.drop(NEVER_ENDED)
            self._write(request, answer=None, error=UNFINISHED, open_calls=NO_RESULT)

    def _write(
        self,
        request: _Request,
        *,
        answer: str | None,
        error: str | BaseException | None,
        open_calls: str | BaseException,
    ) -> None:
        with request.lock:
            for call in request.calls.values():
                if not call.is_answered:
                    call.error, call.is_answered = open_calls, True
            self._settle(request)
        with self._lock:
            self._n_remembered -= request.n_remembered
        audit_dir = request.collector.audit_dir
        if request.tools and audit_dir is not None:
            request.fields["descriptions"] = keep_descriptions(request.tools.values(), audit_dir)
        request.collector.add(request.fields)
        request.collector.flush(
            None if answer is None else len(answer), error=error, rounds=request.rounds or None
        )

    def _settle(self, request: _Request) -> None:
        """Record the calls whose answers the model saw together."""
        asked, request.calls = request.calls, {}
        request.done.update(hash(call_id) for call_id in asked)
        remembers = self._n_remembered < PROCESS_LEAVES
        request.collector.observe_batch(
            [
                AskedCall(call.name, call.args, call.error, call.duration_ms, call.result, call.size_bytes)
                for call in asked.values()
            ],
            remember=remembers,
        )
        n_remembered = request.collector.n_remembered
        with self._lock:
            self._n_remembered += n_remembered - request.n_remembered
        request.n_remembered = n_remembered


def _flush_all() -> None:
    for requests in list(_ALL):
        requests.flush()


def _forget_all() -> None:
    for requests in list(_ALL):
        requests.forget()


atexit.register(_flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
