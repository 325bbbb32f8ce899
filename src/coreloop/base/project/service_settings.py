"""What coreloop.yaml can say of ``serve``."""

from dataclasses import dataclass, field
from typing import Final

_AT_LEAST_ONE: Final = {"least": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """What ``serve`` accepts. Requests, runs and open requests are counted by API key, in each process.

    Attributes
    ----------
    hosts : tuple of str
        Names by which clients reach the service, without port, beside its own address and ``localhost``.
    origins : tuple of str
        Web pages of other hosts that may call it, such as ``https://tools.example``.
    workers : int
        Runs and jobs that a process works on at once.
    max_body_bytes : int
        The largest body of a request.
    requests_per_minute : int
        On average, after a start of as many at once as are due in six seconds.
    runs_per_minute : int
        New runs, as above.
    open_requests : int
        Requests under way at once, event streams included.
    max_queued : int
        Jobs that may wait, in all processes; a new run is refused beyond.
    usd_per_key_per_day : float or None
        What the ended runs of a key may have spent in a day (UTC) before a new run is refused.
    """

    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    workers: int = field(default=4, metadata={"least": 1, "most": 64})
    max_body_bytes: int = field(default=100_000, metadata={"least": 1_000, "most": 100_000_000})
    requests_per_minute: int = field(default=6_000, metadata=_AT_LEAST_ONE)
    runs_per_minute: int = field(default=600, metadata=_AT_LEAST_ONE)
    open_requests: int = field(default=1_000, metadata=_AT_LEAST_ONE)
    max_queued: int = field(default=2_000, metadata=_AT_LEAST_ONE)
    usd_per_key_per_day: float | None = field(default=None, metadata={"least": 0})
