"""Whether it can be told what the model receives, and whether the agent can be asked again."""

import socket
from collections.abc import Iterator
from concurrent.futures import Future
from threading import Thread
from typing import Final
from urllib.parse import urlsplit

from coreloop.doctor.diagnosis import Diagnosis, Setup
from coreloop.doctor.programs import is_program
from coreloop.project.frameworks import find_framework
from coreloop.promote.schema import schema_command

_ANSWER_S: Final = 2.0
_PORTS: Final = {"http": 80, "https": 443}


def check_reach(setup: Setup) -> Iterator[Diagnosis]:
    """Whether the schemas that the model receives can be read; no command is run."""
    settings, root = setup.workspace.settings.reach, setup.workspace.root
    command = schema_command(settings, root)
    if command is None:
        yield _unmeasured(find_framework(root))
    elif not is_program(command.words[0], root):
        said = f"reach: {command.words[0]} is not a program that can be run"
        yield Diagnosis(
            "reach", "fault", said, "correct reach: in coreloop.yaml (docs/reference/settings.md)"
        )
    else:
        yield Diagnosis("reach", "ok", f"measured: {command.source}")


def check_replay(setup: Setup) -> Iterator[Diagnosis]:
    """Whether the endpoint takes connections; it is asked no question, since then tools would run."""
    url = setup.workspace.settings.replay.url
    if url is None:
        said = "no endpoint is set; statements need none; sequences of calls are promoted only after a replay"
        yield Diagnosis("replay", "ok", said, "to replay questions, set replay: {url: …} in coreloop.yaml")
        return
    place = _place(url)
    if place is None:
        todo = "write it like http://127.0.0.1:8400/api/ask"
        yield Diagnosis("replay", "fault", "replay: url is not an http or https address", todo)
        return
    yield _connected(*place)


def _unmeasured(framework: str | None) -> Diagnosis:
    said = "unmeasured: nobody knows what the model receives of a docstring"
    if framework is None:
        todo = "set reach: in coreloop.yaml to a framework or a command (docs/reference/settings.md)"
        return Diagnosis("reach", "warning", said, todo)
    setting = f'reach: {{framework: {framework}, tools: "package.module:TOOLS"}}'
    said += f"; the project depends on {framework}, which can be read"
    return Diagnosis("reach", "warning", said, f"set {setting} in coreloop.yaml")


def _place(url: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname and port and parts.scheme in _PORTS else None


def _connected(host: str, port: int) -> Diagnosis:
    shown = f"{host}:{port}"
    try:
        _connect(host, port)
    except ConnectionRefusedError:
        todo = "start the server, or correct replay: url in coreloop.yaml"
        return Diagnosis("replay", "fault", f"the endpoint {shown} refuses connections", todo)
    except (OSError, UnicodeError) as error:
        said = f"the endpoint {shown} cannot be reached: {error}"
        return Diagnosis("replay", "warning", said, "check the network and replay: url in coreloop.yaml")
    return Diagnosis("replay", "ok", f"the endpoint {shown} takes connections")


def _connect(host: str, port: int) -> None:
    """Connect and hang up. In a thread: looking up a name knows no time limit."""
    done: Future[None] = Future()

    def attempt() -> None:
        try:
            socket.create_connection((host, port), timeout=_ANSWER_S).close()
            done.set_result(None)
        except BaseException as error:  # whatever it is, the thread that waits is told
            done.set_exception(error)

    Thread(target=attempt, daemon=True).start()
    try:
        done.result(_ANSWER_S)
    except TimeoutError as error:
        raise OSError(f"no answer within {_ANSWER_S:.0f} s") from error
