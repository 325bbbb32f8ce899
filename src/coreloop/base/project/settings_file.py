"""coreloop.yaml -> Settings; errors name the line and the closest known key."""

import os
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

import yaml

from coreloop.base.errors import SettingsError
from coreloop.base.files import open_regular
from coreloop.base.project.promotion_settings import Framework
from coreloop.base.project.score_rule import parse_rule
from coreloop.base.project.settings import OwnDetector, Settings
from coreloop.base.records import is_category
from coreloop.base.validation import ShapeError, shaped

FILE_NAME: Final = "coreloop.yaml"
# shop.tools or shop.tools:TOOLS, not shop/tools.py
_TOOLS: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[^\W\d]\w*(\.[^\W\d]\w*)*)?")
_VARIABLE: Final = re.compile("[A-Z_][A-Z0-9_]*")
_VARIABLES: Final = {"CORELOOP_DATA_DIR": "data_dir", "CORELOOP_MODEL": "model"}
_TARGET: Final = re.compile(r".+\.\w+::.+")
_DETECTOR: Final = re.compile("[A-Z]{2,9}")
_Place = tuple[str | int, ...]


def load_settings(root: Path, *, environ: Mapping[str, str] = os.environ) -> Settings:
    """Read ``root/coreloop.yaml``.

    Parameters
    ----------
    root : Path
        The project's folder; coreloop.yaml may be absent.
    environ : mapping
        ``CORELOOP_DATA_DIR`` overrides ``data_dir``, and ``CORELOOP_MODEL`` overrides ``model``.

    Returns
    -------
    Settings
        Validated.

    Raises
    ------
    SettingsError
        An unknown key, a wrong type or a value out of bounds; names the file, the line and the closest known
        key.
    """
    path = root / FILE_NAME
    node = _compose(path)
    values = {} if node is None or node.tag.endswith(":null") else _plain(node, path)
    if isinstance(values, dict):
        values |= {name: environ[variable] for variable, name in _VARIABLES.items() if environ.get(variable)}
    explained = partial(_explained, path, node)
    try:
        settings = shaped(values, Settings, exact=True)
    except ShapeError as error:
        raise explained(error.problem, error.place) from error
    for message, *where in _rules(settings):
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
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "nested too deeply, or with a forbidden character"
        message = f"is not YAML: {problem}; quote texts that begin with ! or *"
        raise SettingsError(message, path=path, line=mark and mark.line + 1) from error


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
    except (yaml.YAMLError, ValueError):  # 2026-99-99; - !drafts without quotes is a tag
        return f"{node.tag}{node.value}" if node.tag[:1] == "!" else node.value


def _explained(path: Path, node: yaml.Node | None, problem: str, place: _Place) -> SettingsError:
    """Return an error with the line of its place."""
    where = ".".join(map(str, place)) or "the file"
    message = f"{where}: {problem[:1].lower()}{problem[1:]}".replace("`", "'")
    return SettingsError(message, path=path, line=None if node is None else _line(node, place))


def _line(node: yaml.Node, place: _Place) -> int:
    """Return the line of a place, or of what is above it if it is absent."""
    line: int = node.start_mark.line
    for step in place:
        if isinstance(step, int):
            node = node.value[step]
            line = node.start_mark.line
            continue
        entries = node.value if isinstance(node, yaml.MappingNode) else []
        key, node = next((entry for entry in entries if entry[0].value == step), (node, node))
        line = key.start_mark.line
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
    for name, tool in settings.tools.items():
        if tool.target is not None and not _TARGET.fullmatch(tool.target):
            message = f"target of {name} must look like path.py::name, not {tool.target!r}"
            yield message, "tools", name, "target"
    if (score := settings.outcome.score) and parse_rule(score) is None:
        form = "a name or a comparison, such as 'helpful >= 0.5' or 'helpful == good'"
        yield f"score must be {form}, not {score!r}", "outcome", "score"
    yield from _reach_rules(settings)
    yield from _sanitize_rules(settings)
    for name, endpoint in settings.endpoints.items():
        if endpoint.key is not None and not _VARIABLE.fullmatch(endpoint.key):  # it may be the key itself
            form = "the name of an environment variable, in capital letters"
            yield f"key of {name} must be {form}", "endpoints", name, "key"


def _reach_rules(settings: Settings) -> _Problems:
    reach = settings.reach
    if reach.framework is not None and reach.command:
        yield "framework and command are both set; remove one of them", "reach", "command"
    if reach.framework is not None and reach.tools is None:
        yield "framework needs tools: the module, or module:attribute, where they are", "reach", "framework"
    if reach.tools is not None and reach.framework is None:
        yield f"tools needs framework: one of {', '.join(get_args(Framework))}", "reach", "tools"
    if reach.tools is not None and not all(map(_TOOLS.fullmatch, re.split(", *", reach.tools))):
        yield f"tools must look like module or module:attribute, not {reach.tools!r}", "reach", "tools"


def _sanitize_rules(settings: Settings) -> _Problems:
    sanitize = settings.sanitize
    for index, own in enumerate(sanitize.detect):
        if objection := _objection(own):
            yield objection[0], "sanitize", "detect", index, objection[1]
    names = sanitize.names if isinstance(sanitize.names, tuple) else ()
    for key, values in (("allow", sanitize.allow), ("names", names)):
        if not all(value.strip() for value in values):
            yield f"an empty text in {key}", "sanitize", key


def _objection(own: OwnDetector) -> tuple[str, str] | None:
    """Say why a detector is not acceptable, and in which key; None if it is."""
    if not _DETECTOR.fullmatch(own.name):
        return f"name must be two to nine capital letters, not {own.name!r}", "name"
    try:
        pattern = re.compile(own.pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"pattern of {own.name} is not a regular expression: {error}", "pattern"
    if pattern.match("") is not None:
        return f"pattern of {own.name} matches an empty text", "pattern"
    if pattern.search(own.example) is None:
        return f"pattern of {own.name} does not find its example {own.example!r}", "example"
    return None
