"""The tools' schemas as the model receives them, printed by a command in a copy of the project."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from coreloop.base.errors import ReachError
from coreloop.base.project.promotion_settings import ReachSettings
from coreloop.base.project.tools import bare_name
from coreloop.base.text import printable
from coreloop.descriptions.texts import find_texts

TIMEOUT_S: Final = 120  # chosen: more than an agent's imports take
_READERS: Final = Path(__file__).parent / "frameworks" / "__main__.py"
_FAILED_READER: Final = 2  # its exit code when it says itself what failed
_SECRETS: Final = frozenset({"GITHUB_TOKEN", "GH_TOKEN"})
_MAX_BYTES: Final = 50_000_000
"""Of output: the schemas of 500 tools at the longest description that Claude Code reads take 2 MB."""
_PARAMETERS: Final = ("parameters", "input_schema", "inputSchema")
_INTERPRETERS: Final = (".venv/bin/python", ".venv/Scripts/python.exe", "venv/bin/python")


@dataclass(frozen=True, slots=True)
class SchemaCommand:
    """A command that prints the tools' schemas as JSON.

    Attributes
    ----------
    words : tuple of str
        Program and arguments.
    source : str
        Name for humans.
    python : str or None
        The interpreter, if it is known to respect ``PYTHONPATH``.
    reader : bool
        Whether it is coreloop's reader for a framework.
    project : Path, optional
        The project's folder, of which other folders are copies of the base branch.
    """

    words: tuple[str, ...]
    source: str
    python: str | None
    reader: bool = False
    project: Path | None = None


@dataclass(frozen=True, slots=True)
class SentTool:
    """A tool as a model is sent it; ``parameters`` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


def schema_command(settings: ReachSettings, project: Path) -> SchemaCommand | None:
    """The command of the settings, or None if not configured.

    Parameters
    ----------
    settings : ReachSettings
        The framework and its tools, or a command.
    project : Path
        The project's folder, which may contain the interpreter.
    """
    configured = _configured_python(settings, project)
    if settings.framework is not None and settings.tools is not None:
        own = (str(project / name) for name in _INTERPRETERS if (project / name).is_file())
        python = configured or next(own, sys.executable)
        words = (python, str(_READERS), settings.framework, settings.tools)
        return SchemaCommand(words, f"as {settings.framework} sends it", python, True, project)
    if not settings.command:
        return None
    first, *others = settings.command
    if first == "python":
        first = configured or (shutil.which("python") and first) or sys.executable
    interpreter = first if "python" in Path(first).name else None
    return SchemaCommand((first, *others), "from the schema command", interpreter, False, project)


def read_description(command: SchemaCommand, folder: Path, tool: str) -> str:
    """Run the command in a folder and return a tool's description.

    Raises
    ------
    ReachError
        The command failed, took too long, or printed no schema with that tool.
    """
    schema = read_schema(command, folder)
    text = find_description(schema, tool)
    if text is not None:
        return text
    if not command.reader:
        raise ReachError(f"reach: the schemas that {command.words[0]} printed have no tool {tool!r}")
    known = ", ".join(map(printable, [*tools_of(schema)][:10])) or "no tools"
    raise ReachError(
        f"reach: {command.words[-1]} has no tool {tool!r}, only {known}; change tools under reach: in "
        "coreloop.yaml"
    )


def read_tools(command: SchemaCommand, folder: Path) -> tuple[str, ...]:
    """Run the command in a folder and return the names of the tools that it printed.

    Raises
    ------
    ReachError
        The command failed, took too long, or printed no tool.
    """
    names = tuple(tools_of(read_schema(command, folder)))
    if not names:
        raise ReachError(f"reach: {_printable(command)} has no tool with a name and a description")
    return names


def read_schema(command: SchemaCommand, folder: Path) -> object:
    """Run the command in a folder and return the JSON that it printed.

    Raises
    ------
    ReachError
        The command failed, took too long, or printed no JSON.
    """
    output = _run(command, folder)
    try:
        return json.loads(output)
    except (ValueError, RecursionError) as error:
        raise ReachError(
            f"reach: {command.words[0]} did not print JSON; it must print the tools' schemas"
        ) from error


def tools_of(schema: object) -> dict[str, SentTool]:
    """The tools of a schema of any provider's, at any depth, by name; the first of each."""
    tools, waiting = dict[str, SentTool](), [schema]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            name, text = item.get("name"), item.get("description")
            schemas = (item[key] for key in _PARAMETERS if isinstance(item.get(key), dict))
            parameters = next(schemas, {"type": "object"})
            if isinstance(name, str) and isinstance(text, str):
                tools.setdefault(name, SentTool(name, text, parameters))
            item = [value for value in item.values() if value is not parameters]
        waiting += reversed(item if isinstance(item, list) else ())
    return tools


def find_description(schema: object, tool: str) -> str | None:
    """The description of a tool, or of ``tool[argument]``, in a schema of any provider's, at any depth."""
    texts = {name: sent.description for name, sent in tools_of(schema).items()}
    if "[" in tool:
        found = find_texts("schema.json", json.dumps(schema).encode())
        texts = {text.name: text.value for text in reversed(found)}
    mounted = [text for name, text in texts.items() if name.endswith(f"_{tool}")]
    rest = mounted[0] if len(mounted) == 1 else None
    return texts.get(tool, texts.get(bare_name(tool), rest))  # clients log mcp__rooms__book_room of book_room


def check_origin(command: SchemaCommand, folder: Path, file: str) -> bool:
    """After an edit without effect, whether the command really read the exported files.

    False if unknown: such a command (``uv run``, a script) may have read a checkout that already has the
    lines, which would prove nothing. An edit that shows in the description needs no such check: its words are
    only in the exported tree.

    Raises
    ------
    ReachError
        The module was read from another place.
    """
    if not file.endswith(".py"):
        return False
    module = Path(file).with_suffix("")
    parts = [part for part in module.parts if part != "src"]
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    if not all(part.isidentifier() for part in parts) or command.python is None:
        return False
    probe = f"import importlib.util; print(importlib.util.find_spec({name!r}).origin)"
    probe_command = SchemaCommand((command.python, "-c", probe), command.source, command.python)
    output = _run(probe_command, folder).decode("utf-8", "replace")
    origin = (output.strip().splitlines() or [""])[-1]  # a package may print when it is imported
    if not Path(origin).is_relative_to(folder.resolve()) and not Path(origin).is_relative_to(folder):
        raise ReachError(f"reach: {name} was read from {origin}, not from the exported files")
    return True


def _configured_python(settings: ReachSettings, project: Path) -> str | None:
    """The interpreter of the settings: a path relative to the project, an absolute path, or a name."""
    if settings.python is None or not {"/", os.sep} & set(settings.python):
        return settings.python
    return str((project / settings.python).absolute())  # not resolved: the link selects the environment


def _run(command: SchemaCommand, folder: Path) -> bytes:
    """What the command prints; it must read the folder instead of the user's checkout."""
    printed = _printable(command)
    # files instead of pipes: a grandchild could keep a pipe open
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            code = _run_in_copy(command, folder, out, err)
        except subprocess.TimeoutExpired as error:
            raise ReachError(f"reach: {printed} took longer than {TIMEOUT_S} s") from error
        except OSError as error:
            program = command.words[0] if command.reader else printed
            raise ReachError(f"reach: {program} cannot be run ({error.strerror})") from error
        out.seek(0)
        err.seek(0)
        if code == 0:
            return out.read(_MAX_BYTES)
        last = (err.read(_MAX_BYTES).decode("utf-8", "replace").strip().splitlines() or ["no message"])[-1]
    is_said = command.reader and code == _FAILED_READER
    reason = last if is_said else f"{printed} exited with {code}: {last}"
    if command.project not in {None, folder}:
        with suppress(ReachError):
            _run(replace(command, project=None), command.project)
            reason = f"{reason.partition('; ')[0]} on the base branch yet; commit it"
    raise ReachError(f"reach: {printable(reason)}")


def _run_in_copy(command: SchemaCommand, folder: Path, out: BinaryIO, err: BinaryIO) -> int:
    """Run the command; kill it with all that it started if it takes too long."""
    process = subprocess.Popen(
        command.words,
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        start_new_session=True,
    )
    try:
        process.wait(TIMEOUT_S)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode


def _environment(folder: Path) -> dict[str, str]:
    """Puts the exported tree first on the path, since an editable install would load the user's checkout."""
    environ = {name: value for name, value in os.environ.items() if name not in _SECRETS}
    roots = [str(root) for root in (folder / "src", folder) if root.is_dir()]
    # Nothing in the project changes.
    environ |= {"PYTHONDONTWRITEBYTECODE": "1", "CORELOOP_AUDIT_DISABLE": "1"}
    return {**environ, "PYTHONPATH": os.pathsep.join([*roots, *filter(None, [environ.get("PYTHONPATH")])])}


def _printable(command: SchemaCommand) -> str:
    return command.words[-1] if command.reader else " ".join(command.words)
