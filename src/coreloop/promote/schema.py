"""What the project's tools look like to a model: a command is run in a copy of the project and prints it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from coreloop.errors import ReachError
from coreloop.project.settings import ReachSettings
from coreloop.text import printable

TIMEOUT_S: Final = 120
_SECRETS: Final = ("GITHUB_TOKEN", "GH_TOKEN")
_READERS: Final = Path(__file__).parent / "frameworks" / "__main__.py"
_FAILED_READER: Final = 2
_INTERPRETERS: Final = (".venv/bin/python", ".venv/Scripts/python.exe")


@dataclass(frozen=True, slots=True)
class SchemaCommand:
    """What prints the tools' schemas as JSON.

    Attributes
    ----------
    words : tuple of str
        Program and arguments.
    source : str
        What a human calls it.
    python : str or None
        The interpreter, where it is known to be one that finds modules by ``PYTHONPATH``.
    reader : bool
        Whether it is one of coreloop's own.
    """

    words: tuple[str, ...]
    source: str
    python: str | None
    reader: bool = False


def schema_command(settings: ReachSettings, project: Path) -> SchemaCommand | None:
    """What the settings say prints the schemas, or None if they say nothing.

    Parameters
    ----------
    settings : ReachSettings
        The framework and its tools, or a command.
    project : Path
        The project's folder, where the interpreter is looked for.
    """
    if settings.framework is not None and settings.tools is not None:
        python = _interpreter(settings, project)
        words = (python, str(_READERS), settings.framework, settings.tools)
        return SchemaCommand(words, f"as {settings.framework} sends it", python, reader=True)
    if not settings.command:
        return None
    first, *others = settings.command
    if first == "python":
        first = _given(settings, project) or ("python" if shutil.which("python") else sys.executable)
    named = first if "python" in Path(first).name else None
    return SchemaCommand((first, *others), "from the schema command", named)


def read_description(command: SchemaCommand, folder: Path, tool: str) -> str:
    """The description of a tool, as the command prints it in a folder.

    Raises
    ------
    ReachError
        The command failed, took too long, or printed no schema with that tool.
    """
    output = _run(command, folder)
    try:
        schema = json.loads(output)
    except (ValueError, RecursionError) as error:
        said = f"reach: {command.words[0]} printed no JSON; it must print the tools' schemas"
        raise ReachError(said) from error
    text = find_description(schema, tool)
    if text is None:
        raise ReachError(f"reach: {_without(command, schema, tool)}")
    return text


def find_description(schema: object, tool: str) -> str | None:
    """The description of a tool in a schema of OpenAI's, Anthropic's or MCP's shape, at any depth."""
    return next((text for name, text in _descriptions(schema) if name == tool), None)


def check_origin(command: SchemaCommand, folder: Path, file: str) -> bool:
    """When the edit changed nothing, tell a schema that leaves it out from a command that reads other files.

    False where nobody can tell: such a command (``uv run``, a script) may have read a checkout that holds the
    lines already, so they prove nothing. An edit that shows in the description is its own proof: those
    words are nowhere but in the exported tree.

    Raises
    ------
    ReachError
        The module was read from somewhere else.
    """
    module = Path(file).with_suffix("")
    parts = [part for part in module.parts if part != "src"]
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    if not all(part.isidentifier() for part in parts) or command.python is None:
        return False
    probe = f"import importlib.util; print(importlib.util.find_spec({name!r}).origin)"
    asked = SchemaCommand((command.python, "-c", probe), command.source, command.python)
    said = _run(asked, folder).decode("utf-8", "replace")
    origin = (said.strip().splitlines() or [""])[-1]  # a package may print something when it is imported
    if not Path(origin).is_relative_to(folder.resolve()) and not Path(origin).is_relative_to(folder):
        raise ReachError(f"reach: {name} was read from {origin}, not from the exported files")
    return True


def _interpreter(settings: ReachSettings, project: Path) -> str:
    given = _given(settings, project)
    own = (project / name for name in _INTERPRETERS)
    return given or next((str(path.absolute()) for path in own if path.is_file()), sys.executable)


def _given(settings: ReachSettings, project: Path) -> str | None:
    """The interpreter of the settings: a path below the project's folder, an absolute one, or a name."""
    if settings.python is None or not {"/", os.sep} & set(settings.python):
        return settings.python
    return str((project / settings.python).absolute())  # not resolved: a link is what makes an environment


def _descriptions(schema: object) -> Iterator[tuple[str, str]]:
    if isinstance(schema, list):
        for item in schema:
            yield from _descriptions(item)
    elif isinstance(schema, dict):
        name, text = schema.get("name"), schema.get("description")
        if isinstance(name, str) and isinstance(text, str):
            yield name, text
        for item in schema.values():
            yield from _descriptions(item)


def _without(command: SchemaCommand, schema: object, tool: str) -> str:
    if not command.reader:
        return f"the schemas that {command.words[0]} printed have no tool {tool!r}"
    names = [name for name, _ in _descriptions(schema)]
    known = f"has {', '.join(map(printable, names[:10]))}" if names else "has none"
    return f"{command.words[-1]} has no tool {tool!r}, it {known}; name another one in reach: tools"


def _run(command: SchemaCommand, folder: Path) -> bytes:
    shown = command.words[-1] if command.reader else " ".join(command.words)
    try:
        with subprocess.Popen(
            list(command.words),
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            stdout, stderr = _output(process, shown)
    except OSError as error:
        what = command.words[0] if command.reader else shown
        raise ReachError(f"reach: {what} cannot be run ({error.strerror})") from error
    if process.returncode:
        said = printable((stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"])[-1])
        own = command.reader and process.returncode == _FAILED_READER
        raise ReachError(
            f"reach: {said}" if own else f"reach: {shown} ended with {process.returncode}: {said}"
        )
    return stdout


def _output(process: subprocess.Popen[bytes], shown: str) -> tuple[bytes, bytes]:
    try:
        return process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        # With what it started: a grandchild that holds the pipe would be waited for without end.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise ReachError(f"reach: {shown} took longer than {TIMEOUT_S} s") from error


def _environment(folder: Path) -> dict[str, str]:
    """The exported tree leads the path, since an editable install would answer with the user's checkout."""
    kept = {name: value for name, value in os.environ.items() if name not in _SECRETS}
    roots = [str(root) for root in (folder / "src", folder) if root.is_dir()]
    return {**kept, "PYTHONPATH": os.pathsep.join([*roots, *filter(None, [kept.get("PYTHONPATH")])])}
