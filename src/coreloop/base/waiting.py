"""Wait for what another process does, where nothing tells that it is done."""

import time
from collections.abc import Callable
from typing import TypeVar

_Answer = TypeVar("_Answer")


def wait_until(ask: Callable[[], _Answer], *, within_s: float, pause_s: float) -> _Answer:
    """Ask at once and after each pause, until the answer is true or the time is over.

    Returns
    -------
    object
        The last answer.
    """
    give_up_at = time.monotonic() + within_s
    while not (answer := ask()) and time.monotonic() < give_up_at:
        time.sleep(pause_s)
    return answer
