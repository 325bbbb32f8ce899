"""Print the names and descriptions of a project's tools as JSON, as the framework sends them to a model.

    python .../frameworks/__main__.py FRAMEWORK module:attribute
    python .../frameworks/__main__.py FRAMEWORK module,other_module:attribute

Runs in the project's environment. stdout has only the JSON, even if the project prints on import. After a
failure, the last line of stderr is the reason and the exit code is 2.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import json
import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent
# Python puts a script's folder first on the path, and its readers are named like the packages they read.
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]


class UnreadableError(Exception):
    """The tools cannot be read; the message says what to do."""


def main(framework: str, where: str) -> NoReturn:
    """Print the tools, or the reason why they cannot be read."""
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
    """Exit without waiting for threads that the project started on import."""
    sys.stderr.flush()
    os._exit(code)


def read_tools(framework: str, where: str) -> list[dict[str, str]]:
    """The tools that ``module:attribute``, or a module, has, as dicts with ``name`` and ``description``."""
    found = [(one, _find(one)) for one in where.replace(" ", "").split(",")]
    reader = _load_reader(framework)
    pairs = [pair for one, value in found for item in _items(value) for pair in _read(reader, item, one)]
    return [{"name": str(name), "description": description or ""} for name, description in pairs]


def _load_reader(framework: str) -> dict[str, Any]:
    path = HERE / f"{framework.replace('-', '_')}.py"
    try:
        return runpy.run_path(str(path))
    except ImportError as error:
        raise UnreadableError(
            f"{framework} is not installed for {sys.executable}, or its version is not supported "
            f"({error}); set reach: python in coreloop.yaml to the interpreter that runs the tools"
        ) from error


def _find(where: str) -> Any:
    module, _, attribute = where.partition(":")
    imported = _import(module)
    if not attribute:
        kinds = (type, dict, type(sys))
        return [
            one for one in vars(imported).values() if not (inspect.isroutine(one) or isinstance(one, kinds))
        ]
    try:
        value = functools.reduce(getattr, attribute.split("."), imported)
    except AttributeError as error:
        raise UnreadableError(
            f"{module} has no {attribute}; change tools under reach: in coreloop.yaml"
        ) from error
    return _call(value, where) if inspect.isroutine(value) else value


def _import(module: str) -> Any:
    try:
        with _told(f"{module} cannot be imported"):
            return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and f"{module}.".startswith(f"{error.name}."):
            reason = f"there is no module {error.name}; change tools under reach: in coreloop.yaml"
            raise UnreadableError(reason) from error
        raise UnreadableError(
            f"{module} needs the module {error.name}, which {sys.executable} does not have; "
            "set reach: python in coreloop.yaml to the interpreter that runs the tools"
        ) from error


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Say what failed in the project's code, and why; what is not installed is told otherwise."""
    try:
        yield
    except ModuleNotFoundError:
        raise
    except (Exception, SystemExit) as error:
        raise UnreadableError(f"{what}: {type(error).__name__}: {error}") from error


def _call(function: Any, where: str) -> Any:
    """The result of a function without arguments."""
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError) as error:
        reason = "needs arguments; name a list of tools, or a function that returns a list"
        raise UnreadableError(f"{where} {reason}") from error
    with _told(f"{where}() failed"):
        result = function()
        return asyncio.run(result) if inspect.iscoroutine(result) else result


def _items(container: Any) -> list[Any]:
    if isinstance(container, dict):
        return [container] if isinstance(container.get("name"), str) else list(container.values())
    return list(container) if isinstance(container, (list, tuple, set, frozenset)) else [container]


def _read(reader: Any, item: Any, where: str) -> list[tuple[str, str | None]]:
    if isinstance(item, dict):  # a schema written by the project
        schema = item.get("function", item)
        if isinstance(schema, dict) and "name" in schema:
            return [(schema["name"], schema.get("description"))]
    name = getattr(item, "__name__", type(item).__name__)
    with _told(f"{where}: the framework rejects {name}"):
        pairs: list[tuple[str, str | None]] | None = reader["read"](item)
    if pairs is None and ":" in where:
        raise UnreadableError(f"{where} contains a {type(item).__name__}; it must be {reader['KINDS']}")
    return pairs or []


if __name__ == "__main__":
    main(*sys.argv[1:])
