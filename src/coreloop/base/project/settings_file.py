"""coreloop.yaml and CORELOOP_… variables -> Settings; errors name the line and the closest known key."""

import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import yaml

from coreloop.base.errors import SettingsError
from coreloop.base.files import open_regular
from coreloop.base.project.frameworks import FRAMEWORKS
from coreloop.base.project.model_settings import EndpointSettings
from coreloop.base.project.promotion_settings import ReachSettings
from coreloop.base.project.score_rule import parse_rule
from coreloop.base.project.settings import SanitizeSettings, Settings
from coreloop.base.records import is_category

FILE_NAME: Final = "coreloop.yaml"
_ATTRIBUTE: Final = re.compile(
    r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*"
)  # shop.tools:TOOLS, not shop/tools.py
_VARIABLE: Final = re.compile("[A-Z_][A-Z0-9_]*")


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
    node = _with_overrides(_compose(path), environ)
    reader = _Reader(path)
    settings: Settings = reader.read(node, Settings) if node is not None else Settings()
    reader.check_rules(node, settings)
    if check_paths:
        reader.check_targets(node, settings, root)
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


class _Variable(yaml.ScalarNode):
    """The value of an environment variable; a plain string if the setting is a string."""

    def __init__(self, variable: str, text: str, hint: Any) -> None:
        plain = get_origin(hint) is Literal or str in (get_args(hint) or (hint,))
        resolve: Callable[..., str] = yaml.SafeLoader("").resolve
        super().__init__(_STR_TAG if plain else resolve(yaml.ScalarNode, text, (True, False)), text)
        self.variable = variable


_STR_TAG: Final = "tag:yaml.org,2002:str"


def _with_overrides(node: yaml.Node | None, environ: Mapping[str, str]) -> yaml.Node | None:
    """Apply the environment's overrides as if they were in the file; empty variables are ignored."""
    for keys, hint in _scalar_settings():
        variable = "_".join(("CORELOOP", *keys)).upper()
        if environ.get(variable):
            node = _with_value(node, keys, _Variable(variable, environ[variable], hint))
    return node


@cache
def _scalar_settings() -> list[tuple[tuple[str, ...], Any]]:
    return list(_scalar_keys(Settings))


def _scalar_keys(kind: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, hint in get_type_hints(kind).items():
        if is_dataclass(hint):
            yield from _scalar_keys(hint, (*above, name))
        elif get_origin(hint) in {None, UnionType, Literal}:
            yield (*above, name), hint


def _with_value(node: yaml.Node | None, keys: tuple[str, ...], value: yaml.Node) -> yaml.Node:
    if not keys:
        return value
    if node is not None and not isinstance(node, yaml.MappingNode) and not node.tag.endswith(":null"):
        return node  # an error, which the reader reports
    entries = list(node.value) if isinstance(node, yaml.MappingNode) else []
    inner = next((child for key, child in entries if key.value == keys[0]), None)
    entries = [(key, child) for key, child in entries if key.value != keys[0]]
    key = yaml.ScalarNode(_STR_TAG, keys[0])
    return yaml.MappingNode("tag:yaml.org,2002:map", [*entries, (key, _with_value(inner, keys[1:], value))])


class _Reader:
    """Converts YAML nodes to the dataclasses; errors name the line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._constructor = yaml.SafeLoader("")

    def read(self, node: yaml.Node, hint: Any, where: str = "the file") -> Any:
        if isinstance(node, yaml.SequenceNode):  # a list where a single value is allowed, too
            hint = next((kind for kind in get_args(hint) if get_origin(kind) is tuple), hint)
        if is_dataclass(hint):
            return self._read_fields(node, hint, where)
        if get_origin(hint) is tuple:
            return tuple(self.read(item, get_args(hint)[0], where) for item in self._items(node, where))
        if get_origin(hint) is Mapping:
            entries = self._entries(node, where)
            return {key: self.read(item, get_args(hint)[1], key) for key, item in entries.items()}
        if get_origin(hint) is Literal:
            return self._read_choice(node, get_args(hint), where)
        return self._read_scalar(node, hint, where)

    def _read_fields(self, node: yaml.Node, kind: Any, where: str) -> Any:
        hints = get_type_hints(kind)
        bounds = {field.name: field.metadata for field in fields(kind)}
        required = {field.name for field in fields(kind) if field.default is field.default_factory is MISSING}
        values = {}
        for key, item in self._entries(node, where).items():
            if key not in hints:
                raise self._error(f"unknown key {key!r} in {where}{_nearest(key, hints)}", node, key)
            values[key] = self.read(item, hints[key], key)
            self._check_bounds(values[key], bounds[key], key, item)
        missing = [key for key in hints if key in required and key not in values]
        if missing:
            raise self._error(f"{where} needs {missing[0]!r}", node)
        return kind(**values)

    def _entries(self, node: yaml.Node, where: str) -> dict[str, yaml.Node]:
        if node.tag.endswith(":null"):
            return {}
        if not isinstance(node, yaml.MappingNode):
            raise self._error(f"{where} must be keys with values", node)
        entries: dict[str, yaml.Node] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in entries:
                raise self._error(f"key {key.value!r} appears twice or is not a string", key)
            entries[key.value] = item
        return entries

    def _items(self, node: yaml.Node, where: str) -> list[yaml.Node]:
        if node.tag.endswith(":null"):  # a key whose entries are all comments
            return []
        if not isinstance(node, yaml.SequenceNode):
            raise self._error(f"{where} must be a list", node)
        return list(node.value)

    def _read_choice(self, node: yaml.Node, allowed: tuple[str, ...], where: str) -> str:
        value: str = self._read_scalar(node, str, where)
        if value not in allowed:
            raise self._error(f"{where} must be {' or '.join(allowed)}, not {_printable(node)}", node)
        return value

    def _read_scalar(self, node: yaml.Node, hint: Any, where: str) -> Any:
        allowed = get_args(hint) or (hint,)
        try:
            value = self._constructor.construct_object(node)
        except (yaml.YAMLError, ValueError):
            value = node
        if float in allowed and type(value) is int:
            value = float(value)
        if type(value) not in allowed:
            names = " or ".join(_TYPE_NAMES.get(kind, "a list") for kind in allowed if kind is not type(None))
            raise self._error(f"{where} must be {names}, not {_printable(node)}", node)
        return value

    def _check_bounds(self, value: Any, bounds: Mapping[str, Any], key: str, node: yaml.Node) -> None:
        if value is None or not bounds:
            return
        if not bounds["least"] <= value <= bounds.get("most", float("inf")):
            maximum = f" and at most {bounds['most']}" if "most" in bounds else ""
            raise self._error(
                f"{key} must be at least {bounds['least']}{maximum}, not {_printable(node)}", node
            )

    def check_rules(self, node: yaml.Node | None, settings: Settings) -> None:
        for index, rule in enumerate(settings.categories):
            if not is_category(rule.label):
                form = "one to four parts of ASCII letters and digits joined by '-'"
                label = _child(node, "categories", index, "label")
                raise self._error(f"label {rule.label!r} must be {form}", label)
            if not all(word.strip() for word in rule.any):
                raise self._error(
                    f"an empty word in any of {rule.label} would match every question",
                    _child(node, "categories", index, "any"),
                )
        outcome = settings.outcome
        if outcome.score and parse_rule(outcome.score, outcome.success) is None:
            form = "a comparison, such as '>= 0.5' or '== good'"
            child = _child(node, "outcome", "success")
            raise self._error(f"outcome: success must be {form}, not {outcome.success!r}", child)
        self._check_reach(node, settings.reach)
        self._check_sanitize(node, settings.sanitize)
        self._check_endpoints(node, settings.endpoints)

    def _check_reach(self, node: yaml.Node | None, reach: ReachSettings) -> None:
        def error(message: str, *keys: str) -> SettingsError:
            return self._error(f"reach: {message}", _child(node, "reach", *keys))

        if reach.framework is not None and reach.framework not in FRAMEWORKS:
            near = _nearest(reach.framework, FRAMEWORKS)
            raise error(f"unknown framework {reach.framework!r}{near}", "framework")
        if reach.framework is not None and reach.command:
            raise error("framework and command are both set; remove one of them", "command")
        if reach.framework is not None and reach.tools is None:
            raise error("framework needs tools: module:attribute, where the tools are", "framework")
        if reach.tools is not None and reach.framework is None:
            raise error(f"tools needs framework: one of {', '.join(FRAMEWORKS)}", "tools")
        if reach.tools is not None and not _ATTRIBUTE.fullmatch(reach.tools):
            raise error(f"tools must look like module:attribute, not {reach.tools!r}", "tools")
        for name, limit in reach.caps.items():
            if limit < 1:
                raise error(f"caps of {name} must be at least 1, not {limit}", "caps", name)

    def _check_sanitize(self, node: yaml.Node | None, sanitize: SanitizeSettings) -> None:
        for index, own in enumerate(sanitize.detect):
            reason = objection(own.pattern)
            if not re.fullmatch("[A-Z]{2,9}", own.name):
                problem, key = f"name must be two to nine capital letters, not {own.name!r}", "name"
            elif reason is not None:
                problem, key = f"pattern of {own.name} {reason}", "pattern"
            elif re.search(own.pattern, own.example) is None:
                problem, key = f"pattern of {own.name} does not find its example {own.example!r}", "example"
            else:
                continue
            raise self._error(f"sanitize: {problem}", _child(node, "sanitize", "detect", index, key))
        names = sanitize.names if isinstance(sanitize.names, tuple) else ()
        for key, values in (("allow", sanitize.allow), ("names", names)):
            if not all(value.strip() for value in values):
                raise self._error(f"sanitize: an empty text in {key}", _child(node, "sanitize", key))

    def _check_endpoints(self, node: yaml.Node | None, endpoints: Mapping[str, EndpointSettings]) -> None:
        for name, endpoint in endpoints.items():
            if endpoint.key is not None and not _VARIABLE.fullmatch(endpoint.key):  # it may be the key itself
                key = _child(node, "endpoints", name, "key")
                raise self._error(
                    f"key of {name} must be the name of an environment variable, in capital letters", key
                )

    def check_targets(self, node: yaml.Node | None, settings: Settings, root: Path) -> None:
        for name, tool in settings.tools.items():
            if tool.target is None:
                continue
            file, marker, qualname = tool.target.partition("::")
            target = _child(node, "tools", name, "target")
            if not (marker and qualname and file.endswith(".py")):
                raise self._error(
                    f"target of {name} must look like path.py::name, not {tool.target!r}", target
                )
            if not (root / file).is_file():
                raise self._error(f"target of {name}: {file} does not exist below {root}", target)
        names = settings.sanitize.names
        if isinstance(names, str) and not (root / names).is_file():
            raise self._error(
                f"names: {names} does not exist below {root}", _child(node, "sanitize", "names")
            )

    def _error(self, message: str, node: yaml.Node | None, key: str | None = None) -> SettingsError:
        entries = node.value if key and isinstance(node, yaml.MappingNode) else []
        place = next((key_node for key_node, _ in entries if key_node.value == key), node)
        mark = place.start_mark if place is not None else None
        if isinstance(place, _Variable):
            message += f" (set by {place.variable})"
        return SettingsError(message, path=self._path, line=mark.line + 1 if mark else None)


_TYPE_NAMES: Final[Mapping[Any, str]] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def _child(node: yaml.Node | None, *steps: str | int) -> yaml.Node | None:
    """Return the node at a path of keys and indices, or None if a key is absent."""
    for step in steps:
        if node is None:
            return None
        entries = node.value if isinstance(step, int) else {key.value: item for key, item in node.value}
        node = entries[step] if isinstance(step, int) else entries.get(step)
    return node


def _nearest(key: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}"


def _printable(node: yaml.Node) -> str:
    return repr(node.value) if isinstance(node, yaml.ScalarNode) else "a list or keys with values"


_MAX_WAYS: Final = 10_000  # chosen: a user's pattern takes at most that many steps at each place of a text
_REPEATS: Final = frozenset({codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT})


def objection(pattern: str) -> str | None:
    """Say why a pattern is not acceptable, or return None.

    A pattern may match in at most `_MAX_WAYS` ways at each place of a text, which bounds its backtracking. So
    every repeat needs a limit, and repeats multiply.
    """
    try:
        tree = _parser.parse(pattern)
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is not a regular expression: {error}"
    if re.compile(pattern).match("") is not None:
        return "matches an empty text"
    ways = _ways(tree)
    if ways is None:
        return "repeats without a limit (*, + or {n,}); write a limit such as {1,40}"
    return "has too many nested or neighbouring repeats; use smaller limits" if ways > _MAX_WAYS else None


def _ways(tree: Any) -> int | None:
    """Count the ways in which a part can match, at most `_MAX_WAYS` + 1; None if there is no limit."""
    total = 1
    for code, argument in tree:
        ways = _ways_of(code, argument)
        if ways is None:
            return None
        total = min(total * ways, _MAX_WAYS + 1)
    return total


def _ways_of(code: Any, argument: Any) -> int | None:
    if code in _REPEATS:
        least, max_times, body = argument
        inner = _ways(body)
        if inner is None or max_times == codes.MAXREPEAT:
            return None
        if inner == 1:
            return int(max_times) - int(least) + 1
        sums: int = sum(inner ** min(n, 64) for n in range(least, min(max_times, 64) + 1))
        return min(sums, _MAX_WAYS + 1)
    bodies = [part for part in _parts(argument) if isinstance(part, _parser.SubPattern)]
    counts = [_ways(body) for body in bodies]
    if None in counts:
        return None
    return max(1, sum(count for count in counts if count is not None))


def _parts(argument: Any) -> list[Any]:
    """Flatten the arguments of a code, of which some are patterns."""
    if isinstance(argument, _parser.SubPattern) or not isinstance(argument, list | tuple):
        return [argument]
    return [part for item in argument for part in _parts(item)]
