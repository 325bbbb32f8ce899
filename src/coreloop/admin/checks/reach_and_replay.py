"""Check that reach can be measured and that the replay endpoint can be reached."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from coreloop.admin.checks.diagnosis import Diagnosis, Setup, listed
from coreloop.admin.checks.setup import project_tools
from coreloop.admin.init.new_settings import reach_todo
from coreloop.base.errors import GitError, ReachError
from coreloop.base.messages import number_of
from coreloop.base.project.tools import Tool
from coreloop.base.tempfiles import temporary_folder
from coreloop.promote.commits import WritableRepository
from coreloop.promote.tool_schemas import SchemaCommand, read_tools, schema_command

_CORRECT: Final = "correct reach: in coreloop.yaml"
_ANSWER_S: Final = 2.0  # chosen: an endpoint on this machine or network answers at once
_PORTS: Final = {"http": 80, "https": 443}


def check_reach(setup: Setup) -> Iterator[Diagnosis]:
    """Check that the schemas that the model receives can be read: the command of ``reach:`` is run."""
    settings, root = setup.workspace.settings.reach, setup.workspace.root
    command = schema_command(settings, root)
    if command is None:
        tools = project_tools(setup.workspace).values()
        files = {tool.file if isinstance(tool, Tool) else ".py" for tool in tools}
        if files and not any(file.endswith(".py") for file in files):
            yield Diagnosis("reach", "ok", f"as {listed(sorted(files))} says it")
            return
        message = "unmeasured: it is unknown which part of a docstring the model receives"
        yield Diagnosis("reach", "warning", message, reach_todo(setup.workspace))
    else:
        yield _measured(command, root, setup.workspace.settings.forge.base)


def check_replay(setup: Setup) -> Iterator[Diagnosis]:
    """Check that the endpoint accepts connections; no question is sent, since tools would run."""
    url = setup.workspace.settings.replay.url
    if url is None:
        message = (
            "no endpoint is set; statements need none; sequences of calls are promoted only after a replay"
        )
        yield Diagnosis("replay", "ok", message, "to replay questions, set replay: {url: …} in coreloop.yaml")
        return
    address = _address(url)
    if address is None:
        todo = "write it like http://127.0.0.1:8400/api/ask"
        yield Diagnosis("replay", "fault", "replay: url is not an http or https address", todo)
        return
    yield _check_connection(*address)


def _measured(command: SchemaCommand, root: Path, base: str) -> Diagnosis:
    try:
        names = read_tools(command, root)
        with suppress(GitError), temporary_folder("coreloop-reach-") as copy:  # as a promotion reads them
            repository = WritableRepository(root)
            repository.export(repository.base(base), Path(copy))
            read_tools(command, copy / root.resolve().relative_to(repository.root.resolve()))
    except ReachError as error:
        return Diagnosis("reach", "fault", str(error), "" if "; " in str(error) else _CORRECT)
    return Diagnosis("reach", "ok", f"measured: {command.source}, {number_of(len(names), 'tool')}")


def _address(url: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname and port and parts.scheme in _PORTS else None


def _check_connection(host: str, port: int) -> Diagnosis:
    name = f"{host}:{port}"
    try:
        socket.create_connection((host, port), timeout=_ANSWER_S).close()
    except ConnectionRefusedError:
        todo = "start the server, or correct replay: url in coreloop.yaml"
        return Diagnosis("replay", "fault", f"the endpoint {name} refuses connections", todo)
    except (OSError, UnicodeError) as error:
        message = f"the endpoint {name} cannot be reached: {error}"
        return Diagnosis("replay", "warning", message, "check the network and replay: url in coreloop.yaml")
    return Diagnosis("replay", "ok", f"the endpoint {name} takes connections")
