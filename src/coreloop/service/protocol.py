"""Connections: how many there may be, how long a head may take, and what is not HTTP."""

from functools import cache
from typing import Any, Final

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from coreloop.models.contracts import ErrorDetail, ErrorResponse
from coreloop.service.log import log

HEADERS_S: Final = 10.0
"""For the head of a request, and between two requests of a connection."""
BACKLOG: Final = 128
"""How many connections wait to be accepted. asyncio accepts as many in one go."""
_MOST_CONNECTIONS: Final = 4_000
_OTHER_FILES: Final = 64
"""Databases, the index, calls of models."""


@cache
def most_connections() -> int:
    """Return how many connections may be open, so that the process can always open a file."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _MOST_CONNECTIONS
    infinite, wanted = resource.RLIM_INFINITY, _MOST_CONNECTIONS + BACKLOG + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = wanted if hard == infinite else min(hard, wanted)
    if soft != infinite and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(1, min(_MOST_CONNECTIONS, files - BACKLOG - _OTHER_FILES))


class Protocol(H11Protocol):
    """HTTP/1.1 whose clients must send the head of a request in time, and whose refusals are JSON."""

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a head; close the connection if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            transport.abort()
            return
        self.timeout_keep_alive_task = self.loop.call_later(HEADERS_S, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Keep the time limit while no whole head has arrived."""
        timer, self.timeout_keep_alive_task = self.timeout_keep_alive_task, None
        super().data_received(data)
        is_waiting = self.conn.their_state is h11.IDLE and not self.transport.is_closing()
        if timer is not None and is_waiting and self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = timer
        elif timer is not None:
            timer.cancel()

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be read, and close the connection."""
        log("request", method="", route="", status=400)
        detail = ErrorDetail(
            type="malformed", message="this is not HTTP/1.1, or its head is too large", retryable=False
        )
        body = msgspec.json.encode(ErrorResponse(error=detail))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.write(self.conn.send(h11.Response(status_code=400, headers=headers)) or b"")
            self.transport.write(self.conn.send(h11.Data(data=body)) or b"")
        self.transport.close()
