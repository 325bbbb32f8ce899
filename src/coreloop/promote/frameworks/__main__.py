"""Print a project's tools as JSON, name and description as the framework sends them to a model.

    python .../frameworks/__main__.py FRAMEWORK module:attribute

Runs in the project's environment. stdout has the JSON alone, whatever the project prints while it is
imported; a failure is the last line of stderr and exit code 2.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import importlib.util
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent
# A script's own folder leads the path, and each reader there has the name of the package that it reads.
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]


class UnreadableError(Exception):
    """The tools cannot be read; the message says what to do."""


def main(framework: str, where: str) -> NoReturn:
    """Print the tools, or why they cannot be read."""
    stdout = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        answer = json.dumps(read_tools(framework, where))
    except UnreadableError as error:
        sys.stderr.write("\n" + " ".join(str(error).split()) + "\n")
        _end(2)
    with os.fdopen(stdout, "w", encoding="utf-8") as out:
        out.write(answer)
    _end(0)


def _end(code: int) -> NoReturn:
    """End at once: threads that the project started when it was imported are not waited for."""
    sys.stderr.flush()
    os._exit(code)


def read_tools(framework: str, where: str) -> list[dict[str, str]]:
    """The tools that ``module:attribute`` names, as dicts with ``name`` and ``description``."""
    found = _find(where)
    reader = _load_reader(framework)
    pairs = [pair for item in _items(found) for pair in _read(reader, item, where)]
    return [{"name": str(name), "description": description or ""} for name, description in pairs]


def _load_reader(framework: str) -> Any:
    path = HERE / f"{framework.replace('-', '_')}.py"
    spec = importlib.util.spec_from_file_location("coreloop_reader", path)
    assert spec is not None
    assert spec.loader is not None
    reader = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(reader)
    except ImportError as error:
        raise UnreadableError(
            f"{framework} is not installed for {sys.executable}, or in a version that cannot be read "
            f"({error}); set reach: python in coreloop.yaml to the interpreter that runs the tools"
        ) from error
    return reader


def _find(where: str) -> Any:
    module, _, attribute = where.partition(":")
    found = _import(module)
    try:
        found = functools.reduce(getattr, attribute.split("."), found)
    except AttributeError as error:
        raise UnreadableError(f"{module} has no {attribute}; name another one in reach: tools") from error
    return _called(found, where) if inspect.isroutine(found) else found


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and f"{module}.".startswith(f"{error.name}."):
            said = f"there is no module {error.name}; name one that can be imported in reach: tools"
            raise UnreadableError(said) from error
        raise UnreadableError(
            f"{module} needs the module {error.name}, which {sys.executable} does not have; "
            "set reach: python in coreloop.yaml to the interpreter that runs the tools"
        ) from error
    except (Exception, SystemExit) as error:
        raise UnreadableError(f"{module} cannot be imported: {_said(error)}") from error


def _called(function: Any, where: str) -> Any:
    """What a function without arguments returns."""
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError) as error:
        said = "needs arguments; name a list of tools, or a function that needs none and returns one"
        raise UnreadableError(f"{where} {said}") from error
    try:
        found = function()
        return asyncio.run(found) if inspect.iscoroutine(found) else found
    except (Exception, SystemExit) as error:
        raise UnreadableError(f"{where}() failed: {_said(error)}") from error


def _items(found: Any) -> list[Any]:
    if isinstance(found, dict):
        return [found] if isinstance(found.get("name"), str) else list(found.values())
    return list(found) if isinstance(found, (list, tuple, set, frozenset)) else [found]


def _read(reader: Any, item: Any, where: str) -> list[tuple[str, str | None]]:
    if isinstance(item, dict):  # a schema that the project wrote itself
        schema = item.get("function", item)
        if isinstance(schema, dict) and "name" in schema:
            return [(schema["name"], schema.get("description"))]
    try:
        pairs: list[tuple[str, str | None]] | None = reader.read(item)
    except (Exception, SystemExit) as error:
        what = getattr(item, "__name__", type(item).__name__)
        raise UnreadableError(f"{where}: the framework does not take {what}: {_said(error)}") from error
    if pairs is None:
        raise UnreadableError(f"{where} holds a {type(item).__name__}; it must be {reader.KINDS}")
    return pairs


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main(*sys.argv[1:])
