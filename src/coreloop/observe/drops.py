"""What this process could not record: counted by reason, and each reason logged once, without content."""

import errno
import os
from typing import Final

from coreloop.observe.journal import TornWriteError
from coreloop.observe.tally import Tally

AFTER_FLUSH: Final = "after_flush"
CATEGORY: Final = "category"
OK_PREDICATE: Final = "ok_predicate"
OUTSIDE_REQUEST: Final = "outside_request"
SETTINGS: Final = "settings"
SETTINGS_NEED_PYYAML: Final = "settings_need_pyyaml"
UNSERIALISABLE: Final = "unserialisable"

DROPPED = Tally()
_said: dict[str, object] = {}


def dropped() -> dict[str, int]:
    """What this process could not record, by reason.

    Returns
    -------
    dict of str to int
        Reasons are ``after_flush``, ``outside_request`` (a tool was called where no request is open: see
        `current`), ``ok_predicate`` (it raised), ``unserialisable``, ``category``, ``settings``
        (coreloop.yaml cannot be used), ``settings_need_pyyaml`` (it is not read until PyYAML is installed;
        the defaults apply), ``torn_write``, ``write_`` and the system's error name (``write_ENOSPC``), or
        ``bug_`` and an exception's type.
    """
    return DROPPED.counts()


def drop(reason: str) -> None:
    """Count one case; if there is no stack left to do so, raise RecursionError and count nothing."""
    DROPPED.add(reason)
    try:
        say_new()
    except RecursionError:
        return  # counted; said by the next one that has more stack


def drop_error(error: Exception) -> None:
    """Count what an exception cost."""
    drop(reason_of(error))


def reason_of(error: Exception) -> str:
    """The reason that an exception is counted under."""
    if isinstance(error, TornWriteError):
        return "torn_write"
    if isinstance(error, OSError):
        return f"write_{errno.errorcode.get(error.errno or 0, 'failed')}"
    return f"bug_{type(error).__name__}"


def say_new() -> None:
    """Log the reasons that have not been logged yet."""
    for reason in DROPPED.counts():
        if reason not in _said:
            _say(reason)


def _say(reason: str) -> None:
    mine = object()
    if _said.setdefault(reason, mine) is not mine:  # another thread was faster
        return
    try:
        import logging

        text = "audit: %s; the request goes on, further cases are only counted"
        logging.getLogger("coreloop").warning(text, reason)
    except RecursionError:
        _said.pop(reason, None)
        raise
    except Exception:  # the server's own filters and handlers may raise; the case is counted
        return


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=DROPPED.renew_lock)
