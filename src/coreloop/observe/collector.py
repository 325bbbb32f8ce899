"""The collector: what an agent's server calls while it answers one request.

Auditing must not fail, slow or change a request. So nothing here raises; what could not be recorded is
counted by reason (`drops`) and logged once a reason, never with content. Only the standard library, orjson
and `records` are imported at start-up.

``no_stack += 1`` stands where a call may have failed for lack of a stack frame: nothing else is possible.
"""

import os
import time
from _thread import RLock  # threading.RLock is a function around it that takes as long again
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, Self, TypeAlias, cast

from coreloop.categories import Categories
from coreloop.encoding import MAX_STRING_CHARS, encode_line
from coreloop.observe import drops
from coreloop.observe.drops import drop
from coreloop.observe.journal import Journal
from coreloop.observe.parts import error_text, number, open_record, short_text, stored_text, texts, tool_call
from coreloop.observe.sources import SESSION_SOURCES, Sources, trace_sources
from coreloop.observe.version import tools_version_of
from coreloop.records import UNSPECIFIED, Record, ToolCall, hash_sequence, is_category

# The blocks that are open here, innermost last, and whether each is its collector's outermost. No tokens: one
# raises when it is used twice or in another context, and blocks may be left in any order.
_blocks: ContextVar[tuple[tuple["AuditCollector", bool], ...]] = ContextVar("coreloop_collectors", default=())
_P = ParamSpec("_P")
# Whether this process has opened a request: where none ever is, a call outside of one is no loss.
_audits = False


_Method: TypeAlias = Callable[Concatenate["AuditCollector", _P], None]


def _never_raises(method: "_Method[_P]") -> "_Method[_P]":
    @wraps(method)
    def guarded(self: "AuditCollector", *args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            if not self._off:
                method(self, *args, **kwargs)
            elif self is _OUTSIDE and _audits:
                drop(drops.OUTSIDE_REQUEST)
        except Exception as error:  # the one place that must not disturb its caller
            try:
                drops.drop_error(error)
            except RecursionError:
                drops.DROPPED.no_stack += 1

    return cast("_Method[_P]", guarded)


class AuditCollector:
    """Collects what happens during one request and writes it as one record.

    Use it as a context manager: `current` then finds it from code deep below, an exception becomes the
    record's ``error`` (and goes on), and leaving the outermost block flushes what was not flushed.

    Parameters
    ----------
    question : str
        What the user asked; kept as it is, in files of mode 0600.
    stockCode_hint, provider, model : str, optional
        Kept as they are, up to 100 characters.
    session_id : str, optional
        Stored only as a hash. With it, what results held is remembered for the session's later requests of
        this process, for up to an hour.
    tools_version : str, optional
        Which docstrings the model sees, up to 100 characters; else ``CORELOOP_TOOLS_VERSION``, else the
        commit of the git repository that holds coreloop.yaml or, without one, the folder.
    data_dir : path, optional
        Holds ``audit/ai-ask/``; else the one that coreloop.yaml or ``CORELOOP_DATA_DIR`` names, else
        ``data``. The nearest coreloop.yaml above it gives the category rules and selectors.
    clock_ns : callable
        Nanoseconds since 1970, UTC.

    Notes
    -----
    ``CORELOOP_AUDIT_DISABLE=1`` or ``DARTLAB_AUDIT_DISABLE=1`` turns it off; ``true``, ``yes`` and ``on`` do
    so too, in upper or lower case. No method raises; see `dropped`. A collector belongs to one request, whose
    threads and signal handlers may share it.

    Examples
    --------
    >>> with AuditCollector(question="삼성전자 수익성 분석해줘", data_dir="data") as audit:
    ...     audit.observe_tool_call("analysis", {"axis": "수익성"}, ok=True, duration_ms=18)
    ...     audit.flush(chunk_len=1823)
    """

    __slots__ = (
        "_clock_ns",
        "_entered",
        "_house",
        "_last_step",
        "_lock",
        "_off",
        "_pending",
        "_sequence",
        "_sources",
        "_started_ns",
    )

    def __init__(
        self,
        question: str = "",
        *,
        stockCode_hint: str | None = None,  # noqa: N803 - the record's own field name
        provider: str | None = None,
        model: str | None = None,
        session_id: str | None = None,
        tools_version: str | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._off = True  # until everything is at hand: half a collector records nothing
        self._pending: list[Record] = []
        self._entered = False
        try:
            if _is_disabled():
                return
            self._sequence = ""
            self._last_step = ""
            # A signal handler may interrupt its own thread. In the locked sections nothing that can be
            # interrupted comes before what must stay together.
            self._lock = RLock()
            self._clock_ns = clock_ns
            self._started_ns = time.monotonic_ns()
            self._begin(question, stockCode_hint, provider, model, session_id, tools_version, data_dir)
        except Exception as error:
            try:
                drops.drop_error(error)
            except RecursionError:
                drops.DROPPED.no_stack += 1

    def _begin(
        self,
        question: str,
        stock_code_hint: str | None,
        provider: str | None,
        model: str | None,
        session_id: str | None,
        tools_version: str | None,
        data_dir: str | os.PathLike[str] | None,
    ) -> None:
        global _audits  # noqa: PLW0603
        _audits = True
        if drops.DROPPED.no_stack:
            drops.say_new()  # what could not be said where there was no stack
        folder = _folder_of(data_dir)
        self._house = _house(*folder)
        record = open_record(
            question,
            request_id=f"req-{os.urandom(8).hex()}",
            categories=self._house.categories,
            stock_code_hint=stock_code_hint,
            provider=provider,
            model=model,
            session_id=session_id,
        )
        version = short_text(tools_version) or self._house.tools_version
        if version:
            record["tools_version"] = version
        self._sources: Sources | None = None
        if "session_hash" in record:
            session = (folder, record["session_hash"])
            self._sources = SESSION_SOURCES.open(session, self._started_ns / 1e9)
            self._sources.hear(record["question"])
        self._pending.append(record)
        self._off = False

    def _record(self) -> Record | None:
        """The record while it is open; else None, and the call is counted as dropped."""
        for record in self._pending:
            return record
        drop(drops.AFTER_FLUSH)
        return None

    @_never_raises
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
        """Record one call, after it ended.

        Parameters
        ----------
        name : str
            The tool's name as the model knows it.
        args : mapping, optional
            Arguments by name; copied now, so later changes do not show. A string of more than 500
            characters is kept as its size and a preview.
        ok : bool, optional
            Whether the call did what it was asked for; by default, whether there is no ``error``.
        error : str or exception, optional
            What went wrong.
        duration_ms : float, optional
            Milliseconds.
        result_size_bytes : int, optional
            Size of the result that the model received.
        result : object, optional
            What the model received: JSON as a text, plain lists, dicts and dataclasses, or a text. Never
            stored: its values are remembered as hashes, so that calls are recorded with ``args_from``, the
            fields where their arguments stood before. Anything else is not looked into. Without any result
            nothing is looked up.
        overrides_used : iterable of str, optional
            Keys of the tool's assumptions that the caller replaced.
        extreme_flags : iterable of str
            Names of implausible values that the tool reported.
        """
        record = self._record()
        if record is None:
            return
        call, taken, plain_args = tool_call(
            name,
            args,
            ok=ok,
            error=error,
            duration_ms=duration_ms,
            result_size_bytes=result_size_bytes,
            overrides_used=overrides_used,
            extreme_flags=extreme_flags,
            selectors=self._house.selectors,
            drop=drop,
        )
        with self._lock:  # threads of one request: the calls and the sequence in one order
            # As `records.join_steps` does it, one step at a time: nothing is left to join at the flush.
            if taken is not None and taken != self._last_step:
                self._sequence = f"{self._sequence}>{taken}" if self._sequence else taken
                self._last_step = taken
            record["tool_calls"].append(call)
        if result is not ... or self._sources is not None:
            self._trace_sources(record, call, plain_args, result)

    def _trace_sources(self, record: Record, call: ToolCall, args: dict[str, Any], result: object) -> None:
        """Add to a recorded call where its arguments came from; whatever that costs, the call stays."""
        try:
            with self._lock:
                if self._sources is None:  # a request without results needs none
                    sources = Sources()
                    sources.hear(record["question"])
                    if any(other["ok"] and other is not call for other in record["tool_calls"]):
                        sources.mark_incomplete()
                    self._sources = sources
            trace_sources(self._sources, call, args, result)
        except Exception as error:
            drops.drop_error(error)

    @_never_raises
    def observe_override(
        self, tool: str, keys: Iterable[str], *, trigger: str | None = None, succeeded: bool = True
    ) -> None:
        """Record that an assumption of ``tool`` was replaced, why, and whether that helped.

        Parameters
        ----------
        tool : str
            Tool name.
        keys : iterable of str
            The replaced assumptions, ``wacc`` for example.
        trigger : str, optional
            What made it necessary, ``detectExtremeFlags:wacc>0.25`` for example.
        succeeded : bool
            Whether the tool then gave a plausible result.
        """
        record = self._record()
        if record is not None:
            record["override_calls"].append(
                {
                    "tool": stored_text(tool, 200),
                    "override_keys": texts(keys, drop=drop),
                    "trigger": None if trigger is None else stored_text(trigger, MAX_STRING_CHARS),
                    "succeeded": bool(succeeded),
                }
            )

    @_never_raises
    def observe_violation(self, text: str) -> None:
        """Record that the answer broke a rule; several are joined by ``; ``."""
        record = self._record()
        if record is not None:
            new = stored_text(text, MAX_STRING_CHARS)
            with self._lock:
                record["violation"] = f"{record['violation']}; {new}" if record["violation"] else new

    @_never_raises
    def set_category_hash(self, label: str) -> None:
        """Replace the category that the keyword rules gave.

        A label that is not one to four parts of ASCII letters and digits, joined by ``-``, could carry
        text into a docstring: it is counted as dropped and the category becomes ``UNSPECIFIED``.
        """
        record = self._record()
        if record is None:
            return
        record["category_hash"] = label if isinstance(label, str) and is_category(label) else UNSPECIFIED
        if record["category_hash"] != label:
            drop(drops.CATEGORY)

    def flush(
        self,
        chunk_len: int | None = None,
        *,
        error: str | BaseException | None = None,
        rounds: int | None = None,
        skill_used: str | None = None,
    ) -> None:
        """Write the record; the first call counts, further ones are counted as dropped.

        Parameters
        ----------
        chunk_len : int, optional
            Length of the answer in characters; 0 is an empty answer, None is not known.
        error : str or exception, optional
            Why the request as a whole failed.
        rounds : int, optional
            Turns between the model and its tools.
        skill_used : str, optional
            Name of the skill that answered.
        """
        # Written out instead of decorated: this is the call that a request waits for.
        try:
            record = self._pending.pop()  # atomic: of two threads that flush, one gets the record
        except IndexError:
            try:
                if not self._off:
                    drop(drops.AFTER_FLUSH)
            except RecursionError:
                drops.DROPPED.no_stack += 1
            return
        except RecursionError:  # the record stays: leaving the block may write it
            drops.DROPPED.no_stack += 1
            return
        try:
            record["ts"], day, second = _stamp(self._clock_ns())
            record["tool_sequence_hash"] = hash_sequence(self._sequence)
            if chunk_len is not None:
                record["chunk_len"] = number(chunk_len, drop=drop)
            record["duration_total_ms"] = (time.monotonic_ns() - self._started_ns) // 1_000_000
            if error is not None:
                record["error"] = error_text(error)
            if rounds is not None:
                record["rounds"] = number(rounds, drop=drop)
            if skill_used is not None:
                record["skill_used"] = short_text(skill_used)
            line = encode_line(record, self._house.selectors)
            self._house.journal.append(line, day, second)
        except Exception as problem:
            try:
                drops.drop_error(problem)
            except RecursionError:
                drops.DROPPED.no_stack += 1
            try:
                self._house.journal.count_dropped(drops.reason_of(problem))
            except RecursionError:
                self._house.journal.untold.no_stack += 1
                self._house.journal.has_untold = True

    def __enter__(self) -> Self:
        try:
            outermost = False
            if not self._off:
                with self._lock:
                    outermost, self._entered = not self._entered, True
            _blocks.set((*_blocks.get(), (self, outermost)))
        except RecursionError:
            drops.DROPPED.no_stack += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._leave() and self._pending:
                self.flush(error=error)
        except RecursionError:
            if self._pending:
                drops.DROPPED.no_stack += 1
                self._house.journal.untold.no_stack += 1
                self._house.journal.has_untold = True

    async def __aenter__(self) -> Self:
        try:
            self.__enter__()
        except RecursionError:
            drops.DROPPED.no_stack += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.__exit__(kind, error, trace)
        except RecursionError:
            if self._pending:
                drops.DROPPED.no_stack += 1
                self._house.journal.untold.no_stack += 1
                self._house.journal.has_untold = True

    def _leave(self) -> bool:
        """Take the innermost block of this collector off the stack: whether the request ends with it."""
        blocks = _blocks.get()
        for place in reversed(range(len(blocks))):
            if blocks[place][0] is self:
                _blocks.set(blocks[:place] + blocks[place + 1 :])
                return blocks[place][1]
        return True  # entered in another context, by a generator's first step for example


def warm_up(data_dir: str | os.PathLike[str] | None = None) -> None:
    """Read coreloop.yaml now, at the server's start, and not while the first request waits.

    Without it, the first collector of a data folder does so (some 70 ms, most of it imports).

    Parameters
    ----------
    data_dir : path, optional
        As in `AuditCollector`. Nothing is written; what is wrong with it is counted in `dropped`, as there.
    """
    if _is_disabled():
        return
    try:
        _house(*_folder_of(data_dir))
    except Exception as error:  # a server starts although its folder is no folder
        drops.drop_error(error)


def current() -> AuditCollector:
    """The collector of the request that this code runs for.

    Returns
    -------
    AuditCollector
        The innermost one entered in this thread's or task's context; outside of any, one that is off.
        `asyncio.to_thread` carries the context along. A bare thread pool does not: what is observed there
        belongs to no request and is counted as ``outside_request``. Submit
        ``contextvars.copy_context().run``, a copy for each call.
    """
    try:
        blocks = _blocks.get()
    except RecursionError:
        drops.DROPPED.no_stack += 1
        return _OUTSIDE
    return blocks[-1][0] if blocks else _OUTSIDE


class _House(NamedTuple):
    """What all requests of one data folder share; no dataclass, whose module costs 10 ms to import."""

    journal: Journal
    categories: Categories
    selectors: Mapping[str, Sequence[str]]
    tools_version: str | None


def _folder_of(data_dir: str | os.PathLike[str] | None) -> tuple[str, bool]:
    """The data folder or, where none was named, the working directory; and whether it was named."""
    # The folder as it is now: a process may change its own. Path does the same at five times the cost.
    folder = os.getcwd() if data_dir is None else os.path.abspath(data_dir)  # noqa: PTH100, PTH109
    return folder, data_dir is not None


@lru_cache(maxsize=32)
def _house(folder: str, named: bool) -> _House:
    """What belongs to the data folder that the caller named, or to the working directory."""
    start = Path(folder)
    root = next((folder for folder in (start, *start.parents) if (folder / "coreloop.yaml").is_file()), None)
    version = short_text(os.environ.get("CORELOOP_TOOLS_VERSION")) or tools_version_of(root or start)
    if root is None or not _can_read_yaml():
        data_dir = start if named else (root or start) / (os.environ.get("CORELOOP_DATA_DIR") or "data")
        return _House(Journal(data_dir / "audit" / "ai-ask"), Categories(), {}, version)

    from coreloop.errors import CoreloopError
    from coreloop.project.settings import Settings, load_settings

    try:
        settings = load_settings(root, check_paths=False)
    except (CoreloopError, OSError):
        drop(drops.SETTINGS)
        settings = Settings()
    data_dir = start if named else root / settings.data_dir
    return _House(
        Journal(data_dir / "audit" / "ai-ask"),
        Categories((rule.label, rule.any) for rule in settings.categories),
        settings.selectors(),
        version,
    )


def _can_read_yaml() -> bool:
    try:
        import yaml  # noqa: F401 - a server can do without it
    except ModuleNotFoundError:
        drop(drops.SETTINGS_NEED_PYYAML)
        return False
    return True


def _is_disabled() -> bool:
    environ = os.environ
    return _is_yes(environ.get("DARTLAB_AUDIT_DISABLE")) or _is_yes(environ.get("CORELOOP_AUDIT_DISABLE"))


def _is_yes(value: str | None) -> bool:
    return value is not None and value.strip().lower() in {"1", "true", "yes", "on"}


_second: tuple[int, str, str] = (-(10**10), "", "")


def _stamp(now_ns: int) -> tuple[str, str, int]:
    """ISO 8601 with microseconds, its day, its second; a second's text is kept, being most of the cost."""
    global _second  # noqa: PLW0603 - a triple, replaced as one: another thread's is as good
    begun_ns, text, day = _second
    past_ns = now_ns - begun_ns
    if not 0 <= past_ns < 1_000_000_000:
        seconds, past_ns = divmod(now_ns, 1_000_000_000)
        text = datetime.fromtimestamp(seconds, UTC).isoformat()[:19]
        begun_ns, day = now_ns - past_ns, text[:10]
        _second = (begun_ns, text, day)
    return f"{text}.{past_ns // 1000:06d}+00:00", day, begun_ns


_OUTSIDE: Final = AuditCollector.__new__(AuditCollector)
_OUTSIDE._off, _OUTSIDE._pending = True, []  # every thread's: nothing writes to it
