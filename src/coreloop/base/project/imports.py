"""What a file of the project takes from its other files, read without importing."""

import ast
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

_MAX_DEFINITIONS: Final = 200  # of other files: a tool that uses more is not described by what they name

Parse = Callable[[Path], ast.AST | None]
Exists = Callable[[Path], bool]
_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign


class _Import(NamedTuple):
    """What a name stands for: a name of another file (``*`` for all), or that file itself if empty."""

    file: Path
    name: str = ""


class _Names(NamedTuple):
    """The names of a file: those that it defines at its top level, and those that it imports."""

    defined: dict[str, _Definition]
    imported: dict[str, list[_Import]]


def module_name(root: Path, path: Path) -> str:
    """Return the name under which a project's file is imported."""
    module = ".".join(path.relative_to(root).with_suffix("").parts)
    return module.removeprefix("src.").removesuffix(".__init__")


class Imports:
    """What files take from others, each of which is read once.

    Parameters
    ----------
    root : Path
        The project's folder; what lies elsewhere is not followed.
    parse, exists : callable
        Read a file (None if it is not readable Python), and say whether it is there.
    """

    def __init__(self, root: Path, parse: Parse, exists: Exists = Path.is_file) -> None:
        self._root, self._parse, self._exists = root, parse, exists
        self._names = cache(self._read)

    def whole(self, path: Path) -> ast.Module:
        """A file with the definitions of others that it uses, and those that they use.

        Its own statements, then classes, functions and constants under the names that the file has for them,
        nearest first.
        """
        tree = self._parse(path) or ast.Module([], [])
        used: dict[int, _Definition] = {}
        waiting: list[tuple[Path, ast.AST]] = [(path, tree)]
        for file, node in waiting:  # grows
            for name, place, definition in self._named_by(file, node):
                if len(used) < _MAX_DEFINITIONS and place != path and id(definition) not in used:
                    used[id(definition)] = _renamed(definition, name)
                    waiting.append((place, definition))
        return ast.Module([*getattr(tree, "body", []), *used.values()], [])

    def _named_by(self, file: Path, node: ast.AST) -> Iterator[tuple[str, Path, _Definition]]:
        of_file = self._names(file).imported.values()
        modules = dict.fromkeys(target.file for targets in of_file for target in targets if not target.name)
        for name in sorted(set(_mentioned(node))):
            for place in (file, *modules):
                found = self.look_up(place, name)
                if found is not None:
                    yield name, *found

    def look_up(
        self, file: Path, name: str, seen: frozenset[Path] = frozenset()
    ) -> tuple[Path, _Definition] | None:
        """What a name of a file stands for: ``book``, ``rooms.book``; also where a package passes it on."""
        module, _, last = name.rpartition(".")
        names = self._names(file)
        if name in names.defined:
            return file, names.defined[name]
        for target in (*names.imported.get(module or name, ()), *names.imported.get("*", ())):
            if bool(target.name) != bool(module) and target.file not in seen | {file}:
                wanted = last if target.name in {"", "*"} else target.name
                found = self.look_up(target.file, wanted, seen | {file})
                if found is not None:
                    return found
        return None

    def _read(self, file: Path) -> _Names:
        tree = self._parse(file)
        return _Names({}, {}) if tree is None else _names(tree, file, self._root, self._exists)


def _names(tree: ast.AST, path: Path, root: Path, exists: Exists) -> _Names:
    defined: dict[str, _Definition] = {}
    for node in _top_level(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))
            defined |= {name.id: node for name in names if isinstance(name.ctx, ast.Store)}
    imported: dict[str, list[_Import]] = {}
    for name, target in _imports(tree, path, root, exists):
        imported.setdefault(name, []).append(target)
    return _Names(defined, imported)


def _top_level(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements of a file, also those under a condition."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _top_level(node)


def _mentioned(node: ast.AST) -> Iterator[str]:
    """Names and attributes, also in annotations that are texts."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.arg) and isinstance(part.annotation, ast.Constant):
            yield str(part.annotation.value)


def _renamed(node: _Definition, name: str) -> _Definition:
    """A definition under the name that a file has for it."""
    new = copy(node)
    if isinstance(new, ast.Assign):
        new.targets = [ast.Name(name)]
    elif isinstance(new, ast.AnnAssign):
        new.target = ast.Name(name)
    else:
        new.name = name
    return new


def _imports(tree: ast.AST, path: Path, root: Path, exists: Exists) -> Iterator[tuple[str, _Import]]:
    def file_of(module: str, level: int) -> Path | None:
        return _module_file(module, path.parent, root, level=level, exists=exists)

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if file := file_of(alias.name, 0):
                    yield alias.asname or alias.name, _Import(file)
        elif isinstance(node, ast.ImportFrom):
            package = file_of(node.module or "", node.level)
            for alias in node.names:
                name = alias.asname or alias.name
                if file := file_of(f"{node.module or ''}.{alias.name}".strip("."), node.level):
                    yield name, _Import(file)
                if package:
                    yield name, _Import(package, alias.name)


def _module_file(module: str, folder: Path, root: Path, *, level: int, exists: Exists) -> Path | None:
    """The file of a module: below the importing file's folder, or a folder above it within the project."""
    below = [parent for parent in (folder, *folder.parents) if parent == root or root in parent.parents]
    folders = below[level - 1 : level] if level else [*below, root / "src"]
    if not module:
        files = [start / "__init__.py" for start in folders] if level else []
    else:
        stems = [start.joinpath(*module.split(".")) for start in folders]
        files = [file for stem in stems for file in (stem.with_suffix(".py"), stem / "__init__.py")]
    return next(filter(exists, files), None)
