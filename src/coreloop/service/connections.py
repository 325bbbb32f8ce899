"""How many connections there may be."""

from functools import cache
from typing import Final

BACKLOG: Final = 1_024
"""How many connections wait to be accepted."""
ACCEPTED_AT_ONCE: Final = 16
"""In one turn of the event loop, which closes what is too much some turns later."""
_MOST_CONNECTIONS: Final = 4_000
_OTHER_FILES: Final = 8 * ACCEPTED_AT_ONCE + 128
"""What is accepted before it is closed; databases, the index in each thread, calls of models."""


@cache
def most_connections() -> int:
    """Return how many connections may be open, so that the process can always open a file."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _MOST_CONNECTIONS
    infinite, wanted = resource.RLIM_INFINITY, _MOST_CONNECTIONS + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = wanted if hard == infinite else min(hard, wanted)
    if soft != infinite and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(1, min(_MOST_CONNECTIONS, files - _OTHER_FILES))
