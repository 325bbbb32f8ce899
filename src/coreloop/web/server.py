"""The process of a service: its address, its signals, and its end."""

import asyncio
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from secrets import token_bytes
from threading import Thread
from types import FrameType
from typing import Any, Final

import h11
import msgspec
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from coreloop.answer.models.contracts import ErrorDetail, ErrorResponse
from coreloop.base.database import ADDRESS as DATABASE
from coreloop.base.errors import UsageError
from coreloop.base.postgres import is_started
from coreloop.base.project.workspace import Workspace
from coreloop.base.waiting import wait_until
from coreloop.observe.importers.received import Receiver, open_receiver
from coreloop.web.app import build_app, build_receiver
from coreloop.web.keys import ACCEPTED_AT_ONCE, BACKLOG, VARIABLE, ApiKey, Connections, SignIn, client_address
from coreloop.web.problems import log, logged_to_stderr
from coreloop.web.service import Door, open_service
from coreloop.web.traces import write_records

_DRAIN_S: Final = 1.0
"""In which requests still get an answer, 503, before the address is closed."""
_END_S: Final = 10.0
"""How long an end waits for responses under way, and then for the workers' steps."""
_DATABASE_S: Final = 60.0
"""In which a Postgres recovers from a crash; whoever started this process starts it again after that."""
_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenAddress:
    """Where a service listens; port 0 for a free one."""

    host: str = "127.0.0.1"
    port: int = 8765

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False


def serve(
    workspace: Workspace,
    environ: Mapping[str, str],
    *,
    address: ListenAddress,
    keys: tuple[ApiKey, ...],
    workers: int,
    tell: Callable[[str], None],
) -> None:
    """Serve a project until SIGTERM or Ctrl-C; then runs are left at a step, for other processes.

    Parameters
    ----------
    environ : mapping
        Keys of models and search services, and ``CORELOOP_DATABASE_URL``.
    address : ListenAddress
        Where to listen.
    keys : tuple of ApiKey
        Required unless the address is the loopback.
    workers : int
        Runs and jobs at once.
    tell : callable
        Called with the address, once it answers.

    Raises
    ------
    UsageError
        The address is taken, or open to others without a key.
    WorkspaceError, RunStoreError
        There is nothing to search in, or a database cannot be used.
    """
    hosts = _hosts(workspace, address, keys)
    with logged_to_stderr():
        _wait_for_database(environ)
        with (
            closing(_listening(address)) as listener,
            open_service(workspace, environ, keys=keys, hosts=hosts) as service,
        ):
            service.workers.start(workers)
            try:
                _run(build_app(service), service, service.receiver, address, listener, tell)
            finally:
                log("left", whole=service.workers.join(_END_S))


def receive(
    workspace: Workspace, *, address: ListenAddress, keys: tuple[ApiKey, ...], tell: Callable[[str], None]
) -> None:
    """Take spans for a project until SIGTERM or Ctrl-C; parameters and errors as of `serve`."""
    hosts = _hosts(workspace, address, keys)
    with (
        logged_to_stderr(),
        closing(_listening(address)) as listener,
        open_receiver(workspace) as receiver,
    ):
        door = Door(keys=keys, sign_in=SignIn(keys, token_bytes(32)), hosts=hosts, origins=())
        _run(build_receiver(receiver, door), door, receiver, address, listener, tell)


def _hosts(workspace: Workspace, address: ListenAddress, keys: tuple[ApiKey, ...]) -> frozenset[str]:
    """The names of an address; an address of others needs keys."""
    if not (keys or address.is_loopback):
        raise UsageError(
            f"an address other than 127.0.0.1 needs API keys; set {VARIABLE} or give --keys FILE"
        )
    named = {name.lower() for name in workspace.settings.service.hosts}
    return _LOOPBACK_NAMES | {address.host.lower()} | named


def _run(
    app: ASGIApp,
    door: Door,
    receiver: Receiver,
    address: ListenAddress,
    listener: socket.socket,
    tell: Callable[[str], None],
) -> None:
    """Serve an application, and write the records of what comes in, until the process is told to end."""
    port = listener.getsockname()[1]
    log("listening", address=address.host, port=port)
    tell(f"http://{f'[{address.host}]' if ':' in address.host else address.host}:{port}")
    writing = Thread(target=write_records, args=(receiver, door), name="records")
    writing.start()
    try:
        _Server(app, door).run(sockets=[listener])
    finally:
        door.shutdown.set()
        writing.join()
        write_records(receiver, door)  # what was acknowledged while requests ended


def _wait_for_database(environ: Mapping[str, str]) -> None:
    """Give a database time that starts together with this process; what else is wrong, opening it says."""
    url = environ.get(DATABASE, "")
    if url and not is_started(url):
        log("database", state="away", error=f"it takes no connections; waited for up to {_DATABASE_S:.0f} s")
        if wait_until(partial(is_started, url), within_s=_DATABASE_S, pause_s=0.2):
            log("database", state="back")


def _listening(address: ListenAddress) -> socket.socket:
    """Bind before anything else is opened, so that a taken address is one clear line."""
    try:
        family = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((address.host, address.port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot listen on {address.host} port {address.port}: {reason}") from error
    # connections inherit it; asyncio sets it on its own sockets only, and each response would take 40 ms more
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


class _Server(uvicorn.Server):
    """A server that says at the first signal that it ends, and closes its address a little later."""

    def __init__(self, app: ASGIApp, service: Door) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=protocol(),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,  # any local client could choose the address that limits count
                server_header=False,
                h11_max_incomplete_event_size=MAX_HEAD_BYTES,
                timeout_keep_alive=int(HEAD_S),
                backlog=ACCEPTED_AT_ONCE,
                timeout_graceful_shutdown=int(_END_S),
            )
        )
        self._service = service
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)  # asyncio has set it to the number that it accepts at once

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """At the first signal, leave; at the second, end at once."""
        if self._service.shutdown.is_set() or self._loop is None:
            self.should_exit = self.force_exit = True
            return
        self._service.shutdown.set()
        log("leaving", signal=signal.Signals(sig).name)
        self._loop.call_soon_threadsafe(self._begin_shutdown, self._loop)

    def _begin_shutdown(self, loop: asyncio.AbstractEventLoop) -> None:
        self._service.begin_shutdown()
        loop.call_later(_DRAIN_S, setattr, self, "should_exit", True)


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
            head, _, _ = self.trailing_data[0].partition(b"\r\n\r\n")
            if len(head) > MAX_HEAD_BYTES:
                raise h11.RemoteProtocolError("the head is too large")
            if b"\n" in head.replace(b"\r\n", b""):
                raise h11.RemoteProtocolError("a line ends with a bare LF")
        event = super().next_event()
        if not isinstance(event, h11.Request):
            return event
        if event.http_version not in _VERSIONS:
            raise h11.RemoteProtocolError("another version of HTTP")
        if {_LENGTH, _CODING} <= {name for name, _ in event.headers}:
            raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
        return event
