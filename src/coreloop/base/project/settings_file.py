"""coreloop.yaml and CORELOOP_… variables -> Settings; errors name the line and the closest known key."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache, partial
from math import inf
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import yaml

from coreloop.base.errors import SettingsError
from coreloop.base.files import open_regular
from coreloop.base.project.frameworks import FRAMEWORKS
from coreloop.base.project.score_rule import parse_rule
from coreloop.base.project.settings import Settings
from coreloop.base.records import is_category
from coreloop.base.validation import ShapeError, shaped

FILE_NAME: Final = "coreloop.yaml"
_ATTRIBUTE: Final = re.compile(
    r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*"
)  # shop.tools:TOOLS, not shop/tools.py
_VARIABLE: Final = re.compile("[A-Z_][A-Z0-9_]*")
_DETECTOR: Final = re.compile("[A-Z]{2,9}")
_Place = tuple[str | int, ...]


def load_settings(
    root: Path, *, environ: Mapping[str, str] = os.environ, check_paths: bool = True
) -> Settings:
    """Read ``root/coreloop.yaml`` and the ``CORELOOP_…`` overrides.

    Parameters
    ----------
    root : Path
        The project's folder; coreloop.yaml may be absent.
    environ : mapping
        ``CORELOOP_DATA_DIR`` overrides ``data_dir``, ``CORELOOP_GATES_MIN_REPEAT`` overrides
        ``gates.min_repeat``, and so on for every single value.
    check_paths : bool
        Whether the files that the settings name must exist. A deployed server may lack them.

    Returns
    -------
    Settings
        Validated.

    Raises
    ------
    SettingsError
        An unknown key, a wrong type, a value out of bounds or an absent path; names the file, the line and
        the closest known key.
    """
    path = root / FILE_NAME
    node = _compose(path)
    values = {} if node is None or node.tag.endswith(":null") else _plain(node, path)
    variables = dict(_overrides(environ)) if isinstance(values, dict) else {}
    for place, (_, value) in variables.items():
        _put(values, place, value)
    explained = partial(_explained, path, node, variables)
    try:
        settings = shaped(values, Settings, exact=True)
    except ShapeError as error:
        raise explained(error.problem, error.place) from error
    for message, *where in (*_rules(settings), *(_targets(settings, root) if check_paths else ())):
        raise explained(message, tuple(where))
    return settings


def _compose(path: Path) -> yaml.Node | None:
    try:
        with open_regular(path) as file:
            text = file.read().decode("utf-8-sig")
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SettingsError("is not UTF-8; save it as UTF-8", path=path) from error
    except OSError as error:
        raise SettingsError(f"cannot be read ({error.strerror})", path=path) from error
    except RecursionError as error:
        raise SettingsError("is not YAML: it is nested too deeply", path=path) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "a character that YAML does not allow"
        raise SettingsError(f"is not YAML: {problem}", path=path, line=mark and mark.line + 1) from error


def _plain(node: yaml.Node, path: Path) -> Any:
    """Return a node as plain values, with keys as they are written."""
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, path) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        values: dict[str, Any] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in values:
                line = key.start_mark.line + 1
                raise SettingsError(
                    f"key {key.value!r} appears twice or is not a string", path=path, line=line
                )
            values[key.value] = _plain(item, path)
        return values
    try:
        return yaml.SafeLoader("").construct_object(node)
    except (yaml.YAMLError, ValueError):  # 2026-99-99
        return node.value


def _overrides(environ: Mapping[str, str]) -> Iterator[tuple[_Place, tuple[str, Any]]]:
    """Yield the single values that the environment sets, with the variable's name; an empty one sets none."""
    for keys, is_text in _scalar_settings():
        variable = "_".join(("CORELOOP", *keys)).upper()
        if text := environ.get(variable):
            resolve: Any = yaml.SafeLoader("").resolve
            node = yaml.ScalarNode(resolve(yaml.ScalarNode, text, (True, False)), text)
            yield keys, (variable, text if is_text else _plain(node, Path(variable)))


@cache
def _scalar_settings() -> list[tuple[tuple[str, ...], bool]]:
    return list(_scalar_keys(Settings))


def _scalar_keys(kind: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], bool]]:
    for name, hint in get_type_hints(kind).items():
        if is_dataclass(hint):
            yield from _scalar_keys(hint, (*above, name))
        elif get_origin(hint) in {None, UnionType, Literal}:
            yield (*above, name), get_origin(hint) is Literal or str in (get_args(hint) or (hint,))


def _put(values: Any, place: _Place, value: Any) -> None:
    """Set a value inside others; where these are not objects, the reader reports it."""
    for key in place[:-1]:
        if values.get(key) is None:
            values[key] = {}
        values = values[key]
        if not isinstance(values, dict):
            return
    values[place[-1]] = value


def _explained(
    path: Path,
    node: yaml.Node | None,
    variables: Mapping[_Place, tuple[str, Any]],
    problem: str,
    place: _Place,
) -> SettingsError:
    """Return an error with the line of its place, or with the variable that set the value."""
    where = ".".join(map(str, place)) or "the file"
    message = f"{where}: {problem[:1].lower()}{problem[1:]}".replace("`", "'")
    if place in variables:
        variable, value = variables[place]
        return SettingsError(f"{message} (set by {variable}={value})", path=path)
    return SettingsError(message, path=path, line=None if node is None else _line(node, place))


def _line(node: yaml.Node, place: _Place) -> int:
    """Return the line of a place, or of what is above it if it is absent."""
    line: int = node.start_mark.line
    for step in place:
        if isinstance(step, int):
            node = node.value[step]
        elif found := next(((key, item) for key, item in node.value if key.value == step), None):
            line, node = found[0].start_mark.line, found[1]
            continue
        line = node.start_mark.line
    return line + 1


_Problems = Iterator[tuple[Any, ...]]
"""A message and the names that lead to the place."""


def _rules(settings: Settings) -> _Problems:
    for index, rule in enumerate(settings.categories):
        if not is_category(rule.label):
            form = "one to four parts of ASCII letters and digits joined by '-'"
            yield f"label {rule.label!r} must be {form}", "categories", index, "label"
        if not all(word.strip() for word in rule.any):
            message = f"an empty word in any of {rule.label} would match every question"
            yield message, "categories", index, "any"
    outcome = settings.outcome
    if outcome.score and parse_rule(outcome.score, outcome.success) is None:
        form = "a comparison, such as '>= 0.5' or '== good'"
        yield f"success must be {form}, not {outcome.success!r}", "outcome", "success"
    yield from _reach_rules(settings)
    yield from _sanitize_rules(settings)
    for name, endpoint in settings.endpoints.items():
        if endpoint.key is not None and not _VARIABLE.fullmatch(endpoint.key):  # it may be the key itself
            form = "the name of an environment variable, in capital letters"
            yield f"key of {name} must be {form}", "endpoints", name, "key"


def _reach_rules(settings: Settings) -> _Problems:
    reach, names = settings.reach, ", ".join(FRAMEWORKS)
    if reach.framework is not None and reach.framework not in FRAMEWORKS:
        yield f"unknown framework {reach.framework!r}; known: {names}", "reach", "framework"
    if reach.framework is not None and reach.command:
        yield "framework and command are both set; remove one of them", "reach", "command"
    if reach.framework is not None and reach.tools is None:
        yield "framework needs tools: module:attribute, where the tools are", "reach", "framework"
    if reach.tools is not None and reach.framework is None:
        yield f"tools needs framework: one of {names}", "reach", "tools"
    if reach.tools is not None and not _ATTRIBUTE.fullmatch(reach.tools):
        yield f"tools must look like module:attribute, not {reach.tools!r}", "reach", "tools"
    for name, limit in reach.caps.items():
        if limit < 1:
            yield f"caps of {name} must be at least 1, not {limit}", "reach", "caps", name


def _sanitize_rules(settings: Settings) -> _Problems:
    sanitize = settings.sanitize
    for index, own in enumerate(sanitize.detect):
        where = ("sanitize", "detect", index)
        if not _DETECTOR.fullmatch(own.name):
            yield f"name must be two to nine capital letters, not {own.name!r}", *where, "name"
        elif reason := objection(own.pattern):
            yield f"pattern of {own.name} {reason}", *where, "pattern"
        elif re.search(own.pattern, own.example) is None:
            message = f"pattern of {own.name} does not find its example {own.example!r}"
            yield message, *where, "example"
    names = sanitize.names if isinstance(sanitize.names, tuple) else ()
    for key, values in (("allow", sanitize.allow), ("names", names)):
        if not all(value.strip() for value in values):
            yield f"an empty text in {key}", "sanitize", key


def _targets(settings: Settings, root: Path) -> _Problems:
    """What the settings name must be there."""
    for name, tool in settings.tools.items():
        file, marker, qualname = (tool.target or "").partition("::")
        where = ("tools", name, "target")
        if tool.target is not None and not (marker and qualname and file.endswith(".py")):
            yield f"target of {name} must look like path.py::name, not {tool.target!r}", *where
        elif tool.target is not None and not (root / file).is_file():
            yield f"target of {name}: {file} does not exist below {root}", *where
    names = settings.sanitize.names
    if isinstance(names, str) and not (root / names).is_file():
        yield f"names: {names} does not exist below {root}", "sanitize", "names"


_MOST_WAYS: Final = 10_000  # chosen: a user's pattern takes at most that many steps at each place of a text
_REPEATS: Final = frozenset({codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT})


def objection(pattern: str) -> str | None:
    """Say why a pattern is not acceptable, or return None.

    A pattern may match in at most `_MOST_WAYS` ways at each place of a text, which bounds its backtracking.
    """
    try:
        tree = _parser.parse(pattern)
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is not a regular expression: {error}"
    if compiled.match("") is not None:
        return "matches an empty text"
    ways = _ways(tree)
    if ways == inf:
        return "repeats without a limit (*, + or {n,}); write a limit such as {1,40}"
    return "has too many nested or neighbouring repeats; use smaller limits" if ways > _MOST_WAYS else None


def _ways(tree: Any) -> float:
    """Count the ways in which a pattern can match, up to a million; infinity where a repeat has no limit."""
    ways = 1.0
    for code, argument in tree:
        if code in _REPEATS:
            least, most, body = argument
            inner = _ways(body)
            times = inner ** min(int(most), 16) if inner > 1 else int(most) - int(least) + 1
            ways *= inf if most == codes.MAXREPEAT else times
        else:
            ways *= max(1, sum(map(_ways, _bodies(argument))))
    return ways if ways == inf else min(ways, 1e6)


def _bodies(argument: Any) -> Iterator[Any]:
    """Yield the patterns among the arguments of a code."""
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, list | tuple):
        for item in argument:
            yield from _bodies(item)
