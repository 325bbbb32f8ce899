"""The closed vocabulary of an export without free text: the only words that remain readable."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from coreloop.categories import Categories
from coreloop.mine.decode import BYTE_ORDER_MARK
from coreloop.records import DEFAULT_SELECTORS, UNSPECIFIED, is_category
from coreloop.sanitize.find import find_hits

if TYPE_CHECKING:
    from coreloop.project.settings import Settings

MAX_NAMES: Final = 5_000
_TOOL: Final = re.compile(r"[A-Za-z_]\w{0,63}(?:[.:/-]{1,2}\w{1,64}){0,4}", re.ASCII)
_ARGUMENT: Final = re.compile(r"[A-Za-z_]\w{0,47}", re.ASCII)
_PROVIDER: Final = re.compile(r"[A-Za-z][\w.:/@+-]{0,79}", re.ASCII)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?|v?[0-9]{1,5}(?:\.[0-9]{1,5}){0,3}")
_MANY_DIGITS: Final = re.compile(r"[0-9]{9}|[0-9]{3,4}[-_.][0-9]{3,4}[-_.][0-9]{4}")


@dataclass(frozen=True, slots=True)
class KnownWords:
    """Names that the project declares, and names of tools that answered in the log.

    Attributes
    ----------
    tools : dict of str to tuple of str, or None
        Tool -> the arguments of its signature, or None if unknown.
    values : dict of str to frozenset of str
        Tool -> the selector values in its source.
    declared : frozenset of str
        Selector values of coreloop.yaml.
    selectors : dict of str to tuple of str
        Tools whose selectors differ from the default.
    seen : dict of str to frozenset of str
        Tools that answered at least once, with their arguments: a tool that answers exists, so its name was
        not invented by a model from a user's words.
    rules : tuple of (str, tuple of str)
        Category labels with their keywords.
    """

    tools: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    declared: frozenset[str] = frozenset()
    selectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seen: Mapping[str, frozenset[str]] = field(default_factory=dict)
    rules: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def knows_tool(self, name: str) -> bool:
        return name in self.tools or name in self.seen

    def knows_argument(self, tool: str, name: str) -> bool:
        """Whether the tool's signature or coreloop.yaml, or else an answered call, has the argument."""
        if name in self.selectors.get(tool, DEFAULT_SELECTORS):
            return True
        signature = self.tools.get(tool)
        return name in (signature if signature is not None else self.seen.get(tool, ()))

    def is_selector(self, tool: str, name: str) -> bool:
        return name in self.selectors.get(tool, DEFAULT_SELECTORS)

    def declares(self, tool: str, value: str) -> bool:
        return value in self.declared or value in self.values.get(tool, ())

    def categories(self) -> Categories:
        return Categories(self.rules)


class _Call(msgspec.Struct, gc=False):
    name: str = ""
    ok: bool | None = None
    error: Any = None
    args: dict[str, msgspec.Raw] | msgspec.Raw = msgspec.Raw(b"null")


class _Calls(msgspec.Struct, gc=False):
    tool_calls: list[_Call | str] | None = None


_decode = msgspec.json.Decoder(_Calls).decode


def learn(files: Iterable[Path], settings: "Settings", root: Path) -> KnownWords:
    """Collect the names in coreloop.yaml, in the source and in the answered calls of a log.

    Parameters
    ----------
    files : iterable of Path
        JSONL; unreadable lines are skipped.
    settings : Settings
        Declared tools, selectors, axes and categories.
    root : Path
        The project's folder.
    """
    from coreloop.project.tools import Tool, resolve_tools  # workers do not need it

    seen = _answered(files)
    resolved = resolve_tools({*settings.tools, *seen}, root=root, configured=settings.tools)
    known = {name: tool for name, tool in resolved.items() if isinstance(tool, Tool)}
    return KnownWords(
        tools={
            **dict.fromkeys(settings.tools),
            **{name: tool.parameters for name, tool in known.items() if tool.parameters},
        },
        values={name: tool.literals for name, tool in known.items()},
        declared=frozenset(settings.axis_slugs),
        selectors=settings.selectors(),
        seen=seen,
        rules=tuple((rule.label, rule.any) for rule in settings.categories),
    )


def _answered(files: Iterable[Path]) -> dict[str, frozenset[str]]:
    seen: dict[str, set[str]] = {}
    for path in files:
        with path.open("rb", buffering=1 << 20) as lines:
            for line in lines:
                try:
                    calls = _decode(line.removeprefix(BYTE_ORDER_MARK)).tool_calls or ()
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    continue
                _add_calls(seen, [call for call in calls if isinstance(call, _Call)])
    return {name: frozenset(args) for name, args in seen.items()}


def _add_calls(seen: dict[str, set[str]], calls: Sequence[_Call]) -> None:
    for call in calls:
        answered = call.error is None if call.ok is None else call.ok
        if not answered or (call.name not in seen and (len(seen) >= MAX_NAMES or not is_tool(call.name))):
            continue
        arguments = seen.setdefault(call.name, set())
        for name in call.args if isinstance(call.args, dict) else ():
            if name not in arguments and len(arguments) < MAX_NAMES and is_argument(name):
                arguments.add(name)


def is_tool(name: str) -> bool:
    """Whether a name is an identifier, with dots, dashes or slashes, without private data."""
    return _TOOL.fullmatch(name) is not None and _is_clean(name)


@lru_cache(maxsize=4096)  # makes `--mode hash` a quarter faster (benchmarks/sanitize.py)
def is_argument(name: str) -> bool:
    """Whether a name is an identifier without private data."""
    return _ARGUMENT.fullmatch(name) is not None and _is_clean(name)


def is_model(name: str) -> bool:
    """Whether a text is a provider or model: no spaces, no long number, not a fine-tuned model."""
    return _PROVIDER.fullmatch(name) is not None and not name.startswith("ft:") and _is_clean(name)


def is_version(name: str) -> bool:
    """Whether a text is a commit, a version number or a name like a model's."""
    return _COMMIT.fullmatch(name) is not None or is_model(name)


def is_label(name: str) -> bool:
    """Whether a text is a category label without private data."""
    return name == UNSPECIFIED or (is_category(name) and _is_clean(name))


def _is_clean(name: str) -> bool:
    return not _MANY_DIGITS.search(name) and not find_hits(name)
