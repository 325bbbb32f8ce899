"""Counts of what this process could not record, by reason; each reason is logged once, without content."""

import errno
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar, cast

_HINTS: Final = {
    "case_key": "data/audit/case.key cannot be read or made, so records have no case; set CORELOOP_CASE_KEY",
    "decorator_order": "put @observed_tool directly above def, below the framework's decorator or @property",
    "outside_request": (
        "tools are called without an open AuditCollector, so nothing is recorded; in a thread pool, submit "
        "contextvars.copy_context().run, with a copy per call"
    ),
    "settings": "coreloop.yaml cannot be used; the defaults apply",
    "settings_need_pyyaml": "coreloop.yaml is not read; pip install PyYAML, or set CORELOOP_DATA_DIR",
}

_Method = TypeVar("_Method", bound=Callable[..., None])

_counts: dict[str, int] = {}


def dropped() -> dict[str, int]:
    """Count what this process could not record, by reason.

    Returns
    -------
    dict of str to int
        Reasons are ``after_flush``, ``outside_request`` (a tool was called without an open request: see
        `current`), ``decorator_order`` (`observed_tool` stands above a framework's decorator, which made an
        object of the function), ``generator`` (as a tool), ``unserialisable``, ``large_arguments`` (of
        over 2,000 values or 64 KB, the first are recorded), ``category``, ``settings`` (coreloop.yaml cannot
        be used), ``settings_need_pyyaml`` (coreloop.yaml is not read until PyYAML is
        installed), ``never_ended`` (a framework reported no end of a request), ``descriptions_full`` (over
        1,000 sets of descriptions), ``case_key`` (the key of cases cannot be read or made; the record was
        written without ``case``), ``write_`` and the system's error name
        (``write_ENOSPC``), or ``bug_`` and an exception's type.
    """
    return dict(_counts)


def drop(reason: str) -> None:
    """Count a case, and log the first one of a reason."""
    known = _counts.get(reason, 0)
    _counts[reason] = known + 1
    if not known:
        _log(reason)


def drop_error(error: Exception) -> str:
    """Count a loss caused by an exception; return the reason under which it is counted."""
    reason = f"bug_{type(error).__name__}"
    if isinstance(error, OSError):
        reason = f"write_{errno.errorcode.get(error.errno or 0, 'failed')}"
    drop(reason)
    return reason


def never_raises(method: _Method) -> _Method:
    """Count what a method raises instead: it must not disturb the host."""

    @wraps(method)
    def guarded(self: object, *args: Any, **kwargs: Any) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as error:
            drop_error(error)

    return cast("_Method", guarded)


def _log(reason: str) -> None:
    try:
        import logging

        text = "audit: %s; the request continues, and further cases are only counted"
        hint = f" ({_HINTS[reason]})" if reason in _HINTS else ""
        logging.getLogger("coreloop").warning(text, reason + hint)
    except Exception:  # the server's logging filters and handlers may raise; the case is counted
        return
