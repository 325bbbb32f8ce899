"""Whether appended text reaches the model: what the tool's description is before and after the edit."""

import inspect
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from coreloop.docstrings.edit import Edited
from coreloop.errors import ReachError
from coreloop.leftovers import temporary_folder
from coreloop.project.settings import ReachSettings
from coreloop.text import printable

TIMEOUT_S: Final = 120
_SECRETS: Final = ("GITHUB_TOKEN", "GH_TOKEN")


@dataclass(frozen=True, slots=True)
class Cap:
    """A provider's limit: characters it reads, whether it binds, and the appended lines that it cuts off."""

    provider: str
    limit: int
    binds: bool
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """What the model receives.

    Attributes
    ----------
    before, after : str
        The description of the tool without and with the edit.
    measured : bool
        Whether the project's own schema command said so; else it is the whole docstring, by assumption.
    missing : tuple of str
        Appended lines that are not in ``after`` at all; all of them where the edit changed nothing and
        nobody can tell which files the command read.
    caps : tuple of Cap
        One per provider of coreloop.yaml.
    """

    before: str
    after: str
    measured: bool
    missing: tuple[str, ...]
    caps: tuple[Cap, ...]

    @property
    def ok(self) -> bool:
        """Whether every appended line arrives, at every provider whose cap binds."""
        return not self.missing and not any(cap.binds and cap.lost for cap in self.caps)


def compare_descriptions(
    before: str,
    after: str,
    lines: Sequence[str],
    *,
    providers: Sequence[str],
    caps: Mapping[str, int],
    measured: bool,
) -> Reach:
    """Compare a tool's two descriptions.

    Parameters
    ----------
    before, after : str
        As the model receives them.
    lines : sequence of str
        What was appended.
    providers : sequence of str
        Those of the candidate's records: their caps bind, others only warn.
    caps : mapping of provider to characters
        Where a provider cuts.
    measured : bool
        Whether the descriptions come from the project's schema command.
    """
    return Reach(
        before=before,
        after=after,
        measured=measured,
        missing=_absent(lines, after),
        caps=tuple(
            Cap(name, limit, name in providers, _absent(lines, after[:limit])) for name, limit in caps.items()
        ),
    )


def docstring_reach(edited: Edited, *, providers: Sequence[str], caps: Mapping[str, int]) -> Reach:
    """The reach where nothing is known of the schema: the description is taken to be the whole docstring."""
    before, after = inspect.cleandoc(edited.before), inspect.cleandoc(edited.after)
    return compare_descriptions(
        before, after, edited.appended, providers=providers, caps=caps, measured=False
    )


def command_reach(
    export: Callable[[Path], None],
    prefix: str,
    file: str,
    edited: Edited,
    *,
    tool: str,
    settings: ReachSettings,
    providers: Sequence[str],
) -> Reach:
    """Ask the project's own schema command for the description, before and after the edit.

    Parameters
    ----------
    export : callable
        Writes the project's files, unedited, into a folder.
    prefix : str
        The project's folder below it, empty when it is the same; the command runs there.
    file : str
        The edited file's path below the project's folder.
    edited : Edited
        The edit.
    tool : str
        Name of the tool in the schema.
    settings : ReachSettings
        The command, and the caps.
    providers : sequence of str
        Those of the candidate's records.

    Raises
    ------
    ReachError
        The command failed, took too long, printed no schema with that tool, or did not read the exported
        files.
    """
    with temporary_folder("coreloop-reach-") as scratch:
        root = Path(scratch, "tree")
        root.mkdir()
        export(root)
        folder = root / prefix
        before = _described(settings.command, folder, tool)
        (folder / file).write_bytes(edited.source)
        after = _described(settings.command, folder, tool)
        verified = before != after or _check_origin(settings.command, folder, file)
    found = compare_descriptions(
        before, after, edited.appended, providers=providers, caps=settings.caps, measured=True
    )
    return found if verified else replace(found, missing=edited.appended)


def find_description(schema: object, tool: str) -> str | None:
    """The description of a tool in a schema of OpenAI's, Anthropic's or MCP's shape, at any depth."""
    return next((text for name, text in _descriptions(schema) if name == tool), None)


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


def _absent(lines: Sequence[str], text: str) -> tuple[str, ...]:
    """Lines whose words are not in the text one after the other; a schema may break lines elsewhere."""
    flat = " ".join(text.split())
    return tuple(line for line in lines if " ".join(line.split()) not in flat)


def _described(command: Sequence[str], folder: Path, tool: str) -> str:
    output = _run(command, folder)
    try:
        schema = json.loads(output)
    except (ValueError, RecursionError) as error:
        raise ReachError(f"reach: {command[0]} printed no JSON; it must print the tools' schemas") from error
    text = find_description(schema, tool)
    if text is None:
        raise ReachError(f"reach: the schemas that {command[0]} printed have no tool {tool!r}")
    return text


def _run(command: Sequence[str], folder: Path) -> bytes:
    shown = " ".join(command)
    try:
        with subprocess.Popen(
            list(command),
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            stdout, stderr = _output(process, shown)
    except OSError as error:
        raise ReachError(f"reach: {shown} cannot be run ({error.strerror})") from error
    if process.returncode:
        said = stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise ReachError(f"reach: {shown} ended with {process.returncode}: {printable(said[-1])}")
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


def _check_origin(command: Sequence[str], folder: Path, file: str) -> bool:
    """When the edit changed nothing, tell a schema that leaves it out from a command that reads other files.

    False where nobody can tell: such a command (``uv run``, a script) may have read a checkout that holds the
    lines already, so they prove nothing. An edit that shows in the description is its own proof: those
    words are nowhere but in the exported tree.
    """
    module = Path(file).with_suffix("")
    parts = [part for part in module.parts if part != "src"]
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    if not all(part.isidentifier() for part in parts) or "python" not in Path(command[0]).name:
        return False
    probe = f"import importlib.util; print(importlib.util.find_spec({name!r}).origin)"
    said = _run([command[0], "-c", probe], folder).decode("utf-8", "replace")
    origin = (said.strip().splitlines() or [""])[-1]  # a package may print something when it is imported
    if not Path(origin).is_relative_to(folder.resolve()) and not Path(origin).is_relative_to(folder):
        raise ReachError(f"reach: {name} was read from {origin}, not from the exported files")
    return True
