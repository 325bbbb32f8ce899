"""HTTP/1.1 as strangers may speak it: heads of bounded size that two readers cannot read in two ways."""

from typing import Any, Final

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from coreloop.answer.models.contracts import ErrorDetail, ErrorResponse
from coreloop.web.connections import Connections, client_address
from coreloop.web.log import log

MAX_HEAD_BYTES: Final = 16_384
HEAD_S: Final = 10.0
"""For the head of a request, and between two requests of a connection."""
_LENGTH: Final = b"content-length"
_CODING: Final = b"transfer-encoding"
_VERSIONS: Final = frozenset({b"1.0", b"1.1"})


def protocol() -> type[H11Protocol]:
    """Return the protocol of a new server, which counts its own connections."""
    return type("Protocol", (_Protocol,), {"by_address": Connections()})


class _Protocol(H11Protocol):
    """HTTP/1.1 whose clients must send the head of a request in time, and whose refusals are JSON."""

    by_address: Connections

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.conn = _Reader(h11.SERVER, MAX_HEAD_BYTES)

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a head; close the connection if there are too many."""
        super().connection_made(transport)
        if not self.by_address.open(self._address):
            transport.abort()
            return
        self.timeout_keep_alive_task = self.loop.call_later(HEAD_S, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another connection."""
        super().connection_lost(exc)
        self.by_address.close(self._address)

    @property
    def _address(self) -> str:
        return client_address(self.client[0]) if self.client else ""

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


class _Reader(h11.Connection):
    """Refuses what a proxy in front may understand in another way (request smuggling, RFC 9112 section 11.2).

    The library reads lines that end with a bare LF and any version of HTTP, obeys Transfer-Encoding where a
    Content-Length says another thing, and limits only a head that has not arrived yet.
    """

    def next_event(self) -> Any:
        """As of the library; such a request is a protocol error of the client."""
        if self.their_state is h11.IDLE:
            _check_head(self.trailing_data[0])
        event = super().next_event()
        if isinstance(event, h11.Request):
            _check_request(event)
        return event


def _check_head(data: bytes) -> None:
    head, _, _ = data.partition(b"\r\n\r\n")
    if len(head) > MAX_HEAD_BYTES:
        raise h11.RemoteProtocolError("the head is too large")
    if b"\n" in head.replace(b"\r\n", b""):
        raise h11.RemoteProtocolError("a line ends with a bare LF")


def _check_request(request: h11.Request) -> None:
    if request.http_version not in _VERSIONS:
        raise h11.RemoteProtocolError("another version of HTTP")
    if {_LENGTH, _CODING} <= {name for name, _ in request.headers}:
        raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
