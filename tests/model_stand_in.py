"""An OpenAI-compatible endpoint of our own: answers what a test tells it to, and keeps what it was sent."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[["_Handler"], None]


@dataclass
class ModelStandIn:
    """The server's address, what it does with the next requests, the requests, and what it answered."""

    url: str = ""
    acts: list[Act] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    is_released: threading.Event = field(default_factory=threading.Event)


class _Handler(BaseHTTPRequestHandler):
    stand_in: ModelStandIn
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.stand_in.bodies.append(json.loads(body))
        self.stand_in.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.close_connection = True
        self.stand_in.acts.pop(0)(self)

    def log_message(self, *_: object) -> None:
        pass

    def start(self, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()


@contextmanager
def model_stand_in() -> Iterator[ModelStandIn]:
    """Run the server."""
    stand_in = ModelStandIn()
    handler = type("Handler", (_Handler,), {"stand_in": stand_in})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    stand_in.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield stand_in
    finally:
        stand_in.is_released.set()
        server.shutdown()
        server.server_close()


def streams(
    *texts: str,
    finish: str | None = "stop",
    usage: tuple[int, int] | None = (10, 5),
    model: str = "gpt-5-2026",
    **message: Any,
) -> Act:
    """Answer with a chat completion, as the API's description says."""
    content = {"role": "assistant", "content": "".join(texts), "refusal": None, **message}
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_777_000_000,
        "model": model,
        "choices": [{"index": 0, "message": content, "finish_reason": finish, "logprobs": None}],
    }
    if usage is not None:
        counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        body["usage"] = counts
    return answers(200, body)


def error_body(message: str) -> dict[str, Any]:
    """An error answer's JSON."""
    return {"error": {"type": "invalid_request_error", "message": message, "param": None, "code": None}}


def answers(status: int, body: Any = None, **headers: str) -> Act:
    """Answer with a status and JSON."""

    def act(handler: _Handler) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.stand_in.sent.append(data)
        handler.start(status, content_type="application/json", **headers)
        handler.wfile.write(data)

    return act


def hangs(first: bytes = b"") -> Act:
    """Send a beginning and then nothing, until the test is over."""

    def act(handler: _Handler) -> None:
        handler.start(content_type="application/json")
        handler.wfile.write(first)
        handler.wfile.flush()
        handler.stand_in.is_released.wait()

    return act


def drips() -> Act:
    """Send a byte now and then, so that no single read takes long."""

    def act(handler: _Handler) -> None:
        handler.start(content_type="application/json")
        while not handler.stand_in.is_released.wait(0.02):
            try:
                handler.wfile.write(b" ")
                handler.wfile.flush()
            except OSError:
                return

    return act


def floods() -> Act:
    """Send white space until the reader hangs up."""

    def act(handler: _Handler) -> None:
        handler.start(content_type="application/json")
        try:
            while not handler.stand_in.is_released.is_set():
                handler.wfile.write(b" " * 65_536)
        except OSError:
            return

    return act
