"""coreloop.yaml -> Settings: every key, its default and its bounds; errors name the line."""

import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import yaml

from coreloop.errors import SettingsError
from coreloop.files import open_regular
from coreloop.project.frameworks import FRAMEWORKS
from coreloop.project.patterns import objection
from coreloop.records import DEFAULT_SELECTORS, is_category

FILE_NAME: Final = "coreloop.yaml"
_AT_LEAST_ONE: Final = {"least": 1}
_ATTRIBUTE: Final = re.compile(
    r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*"
)  # shop.tools:TOOLS, not shop/tools.py


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryRule:
    """A question with one of the keywords gets the label; if several rules match, the first applies.

    Attributes
    ----------
    label : str
        One to four parts of ASCII letters and digits joined by ``-``.
    any : tuple of str
        Keywords. A Korean keyword matches anywhere in the question; a Latin keyword matches whole words and
        their plural in ``s``.
    """

    label: str
    any: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """Where a tool's docstring is, and which arguments are its selectors.

    Attributes
    ----------
    target : str or None
        ``path.py::qualname``, or ``path.py::qualname:LINE`` if the file defines the name more than once.
        Without it, the tool's only definition in the project is used.
    selectors : tuple of str
        Arguments whose value chooses what the tool does. A value is written into a docstring only if it is
        in ``axis_slugs`` or a literal in the tool's file; otherwise ``<axis>`` is written.
    """

    target: str | None = None
    selectors: tuple[str, ...] = DEFAULT_SELECTORS


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """Thresholds that a pattern or a group of failures must reach to be proposed.

    Attributes
    ----------
    min_repeat : int
        Fewest requests of a pattern.
    min_unique_questions : int
        Fewest distinct questions of a pattern.
    min_chunk_len : int or None
        Characters of a complete answer. An answer shorter than ``min(200, min_chunk_len)`` is a failure; an
        answer between that and ``min_chunk_len`` is not counted. If absent, only an empty answer fails.
    min_success_rate : float
        Share of a pattern's counted requests that must succeed.
    min_failures : int
        Fewest failures of a group.
    """

    min_repeat: int = field(default=3, metadata=_AT_LEAST_ONE)
    min_unique_questions: int = field(default=3, metadata=_AT_LEAST_ONE)
    min_chunk_len: int | None = field(default=None, metadata={"least": 0})
    min_success_rate: float = field(default=1.0, metadata={"least": 0, "most": 1})
    min_failures: int = field(default=2, metadata=_AT_LEAST_ONE)

    def chosen(self, **values: float | None) -> "Gates":
        """Return a copy with the given values; None keeps a gate as it is."""
        changes: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings:
    """The endpoint that replays example questions.

    Attributes
    ----------
    url : str or None
        Address that receives each question as a POST request. The page on promoting shows the format.
    runs : int
        How many questions are asked in all.
    timeout_s : float
        Seconds to wait for an answer.
    """

    url: str | None = None
    runs: int = field(default=3, metadata=_AT_LEAST_ONE)
    timeout_s: float = field(default=60.0, metadata={"least": 0, "most": 3600})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachSettings:
    """How to read what the model receives: as the framework does, or with a command.

    Attributes
    ----------
    framework : str or None
        The agent framework. Requires ``tools``; excludes ``command``.
    tools : str or None
        ``module:attribute`` of the tools, or of a callable that returns them.
    python : str or None
        The Python interpreter that reads the tools. Default: for ``framework``, that of the project's
        ``.venv`` or, without one, coreloop's own; for ``command``, the ``python`` on the ``PATH``.
    command : tuple of str
        A program and its arguments that print the tools' schemas as JSON. Excludes ``framework``.
    caps : mapping of str to int
        Longest description, in characters, that a model or provider accepts. A longer one makes every request
        fail.
    """

    framework: str | None = None
    tools: str | None = None
    python: str | None = None
    command: tuple[str, ...] = ()
    caps: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeSettings:
    """Where pull requests go.

    Attributes
    ----------
    repo : str or None
        ``owner/name``. Default: taken from the remote's address.
    base : str
        The branch that promotions are merged into.
    max_open : int
        The largest number of promotions that may be open at once.
    """

    repo: str | None = None
    base: str = "main"
    max_open: int = field(default=3, metadata=_AT_LEAST_ONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifySettings:
    """What ``status`` runs for each alarm that is raised or cleared, and for each candidate that newly waits.

    Attributes
    ----------
    command : tuple of str
        A program and its arguments, run once per change with a JSON document on standard input.
    """

    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnDetector:
    """A form of private data that only this project has.

    Attributes
    ----------
    name : str
        Two to nine capital letters, as in the label: ``STAFF`` becomes ``[STAFF-1]``.
    pattern : str
        A regular expression in Python's syntax, without unlimited repeats: ``{1,40}``, not ``+``. The group
        ``value``, or else the whole match, is masked.
    example : str
        A text in which the pattern finds something.
    """

    name: str
    pattern: str
    example: str


Country = Literal["kr", "us", "uk", "eu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizeSettings:
    """What ``sanitize`` looks for.

    Attributes
    ----------
    names : str or list of str, optional
        Companies to mask: a list of names, or a file of code, name, aliases (joined by a vertical bar),
        separated by tabs.
    detect : list of OwnDetector
        Private data that only this project has.
    allow : list of str
        Values that stay. A finding stays if its whole text is one of them.
    countries : list of str
        Countries whose numbers, telephones, addresses and names are searched: ``kr``, ``us``, ``uk``, ``eu``.
        Fewer countries are faster. E-mail addresses, links, credentials and cards are always searched.
    """

    names: str | tuple[str, ...] | None = None
    detect: tuple[OwnDetector, ...] = ()
    allow: tuple[str, ...] = ()
    countries: tuple[Country, ...] = get_args(Country)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Limits of all runs together.

    Attributes
    ----------
    usd_per_day : float or None
        US dollars that all runs may spend in a day (UTC). If absent, only each run's own limits apply.
    """

    usd_per_day: float | None = field(default=None, metadata={"least": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class DocstringSettings:
    """Where lines go in a docstring, and in which style.

    Attributes
    ----------
    placement : str
        ``first-block``: the end of the first block of text, which every framework sends; ``section``: the end
        of Guide or Caveats, for a project whose schemas include sections.
    style : str
        The style of a section that is added to a docstring without sections.
    sections : tuple of str
        The sections that ``docstring check`` looks for.
    """

    placement: Literal["first-block", "section"] = "first-block"
    style: Literal["numpydoc", "google", "markdown"] = "numpydoc"
    sections: tuple[str, ...] = (
        "Summary",
        "Description",
        "Parameters",
        "Returns",
        "Raises",
        "Examples",
        "Notes",
        "Guide",
        "See Also",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The keys at the top level of coreloop.yaml.

    Attributes
    ----------
    data_dir : str
        The folder for records (``audit/``), knowledge (``ai/knowledge/``) and audit notes
        (``dart/auditAnalysis/``).
    retention_days : int or None
        ``pattern`` removes files whose newest record is older than this many days, and a new run removes the
        runs in which nothing has happened for as long. If absent, nothing is removed. Records at an address
        are never removed.
    categories : tuple of CategoryRule
        Categories of questions.
    tools : mapping of str to ToolSettings
        Tools by name.
    handoff : tuple of str
        Tools that hand a request over to a human. Such a request is neither a success nor a failure, unless
        it has a verdict.
    axis_slugs : mapping of str to str
        Selector values that may be written into a docstring, and their names in branches.
    """

    data_dir: str = "data"
    retention_days: int | None = field(default=None, metadata={"least": 1, "most": 36_500})
    categories: tuple[CategoryRule, ...] = ()
    tools: Mapping[str, ToolSettings] = field(default_factory=dict)
    handoff: tuple[str, ...] = ()
    axis_slugs: Mapping[str, str] = field(default_factory=dict)
    gates: Gates = Gates()
    replay: ReplaySettings = ReplaySettings()
    reach: ReachSettings = ReachSettings()
    forge: ForgeSettings = ForgeSettings()
    sanitize: SanitizeSettings = SanitizeSettings()
    docstring: DocstringSettings = DocstringSettings()
    notify: NotifySettings = NotifySettings()
    limits: LimitSettings = LimitSettings()

    def selectors(self) -> dict[str, tuple[str, ...]]:
        """Return the selectors of the configured tools."""
        return {name: tool.selectors for name, tool in self.tools.items()}

    def keywords(self, label: str) -> tuple[str, ...]:
        """Return the keywords of every rule with a label."""
        return tuple(word for rule in self.categories if rule.label == label for word in rule.any)


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
    for keys, hint in _scalar_keys(Settings):
        variable = "_".join(("CORELOOP", *keys)).upper()
        if environ.get(variable):
            node = _with_value(node, keys, _Variable(variable, environ[variable], hint))
    return node


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
            raise self._error(f"{where} must be {' or '.join(allowed)}, not {_shown(node)}", node)
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
            raise self._error(f"{where} must be {names}, not {_shown(node)}", node)
        return value

    def _check_bounds(self, value: Any, bounds: Mapping[str, Any], key: str, node: yaml.Node) -> None:
        if value is None or not bounds:
            return
        if not bounds["least"] <= value <= bounds.get("most", float("inf")):
            most = f" and at most {bounds['most']}" if "most" in bounds else ""
            raise self._error(f"{key} must be at least {bounds['least']}{most}, not {_shown(node)}", node)

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
        self._check_reach(node, settings.reach)
        self._check_notify(node, settings.notify)
        self._check_sanitize(node, settings.sanitize)

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

    def _check_notify(self, node: yaml.Node | None, notify: NotifySettings) -> None:
        command = _child(node, "notify", "command") if notify.command else None
        if notify.command and not notify.command[0].strip():
            raise self._error("notify: command must begin with a program", command)
        if any("\0" in word for word in notify.command):
            raise self._error("notify: command has a null character", command)

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


_TYPE_NAMES: Final[Mapping[Any, str]] = {str: "a string", int: "a whole number", float: "a number"}


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


def _shown(node: yaml.Node) -> str:
    return repr(node.value) if isinstance(node, yaml.ScalarNode) else "a list or keys with values"
