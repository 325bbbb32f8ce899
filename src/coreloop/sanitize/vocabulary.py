"""The closed vocabulary of an export without free text: the only words that remain readable."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from coreloop.base.categories import Categories
from coreloop.base.records import DEFAULT_SELECTORS, UNSPECIFIED
from coreloop.observe.reading.decode import BYTE_ORDER_MARK
from coreloop.observe.reading.outcome import worked
from coreloop.sanitize.detectors.rule import words_of
from coreloop.sanitize.files import DamagedError, open_records, read_line
from coreloop.sanitize.find_in_text import find_hits

if TYPE_CHECKING:
    from coreloop.base.project.workspace import Workspace


PROVIDERS: Final = words_of("""
ai21 alibaba anthropic aws azure azure-openai bedrock cerebras claude codex cohere dashscope deepinfra
deepseek fireworks gemini google google-genai groq huggingface litellm lmstudio mistral mistralai moonshot
nvidia oauth-codex ollama openai openai-compatible openrouter perplexity qwen replicate together vertex
vertexai vertex_ai vllm watsonx xai zhipu
""")
_MAX_CHARS: Final = 80
_FAMILIES: Final = (
    r"chatgpt|gpt|o[1-9]|codex|claude|gemini|gemma|llama|mistral|ministral|mixtral|codestral|devstral|magistral|"
    r"pixtral|qwen|qwq|deepseek|command|grok|phi|nova|titan|jamba|kimi|glm|yi|sonar|nemotron|exaone|solar|"
    r"hyperclovax|hcx|granite|dbrx|falcon|olmo|minimax"
)
_PARTS: Final = (
    r"mini|nano|micro|tiny|small|medium|large|xl|base|ultra|pro|plus|max|lite|flash|turbo|fast|high|low|premier|"
    r"opus|sonnet|haiku|maverick|scout|nemo|coder|code|codex|chat|instruct|it|oss|vl|vision|audio|realtime|search|"
    r"research|deep|reasoner|reasoning|thinking|distill|omni|air|r|preview|exp|experimental|latest|beta|ca|"
    r"v?[0-9]{1,4}(?:\.[0-9]{1,2}){0,2}[a-z]?|v?[0-9](?:\.[0-9])?o|[0-9]{1,4}(?:\.[0-9])?x?[0-9]{0,2}[bkm]|"
    r"a[0-9]{1,3}b|r[0-9]|e[0-9]b|20[0-9]{2}[01][0-9][0-3][0-9]"
)
_HOSTS: Final = "|".join([*sorted(PROVIDERS), "amazon", "eu", "meta", "meta-llama", "models", "us"])
# gpt-4o-mini-2024-07-18, anthropic.claude-3-5-sonnet-20241022-v2:0, meta-llama/Llama-3.3-70B-Instruct
_MODEL: Final = re.compile(
    rf"(?i)(?:(?:{_HOSTS})[/.])*(?:{_FAMILIES})(?:[0-9]{{1,2}}(?:\.[0-9]{{1,2}})?)?(?:[-_.:@](?:{_PARTS}))*"
)


MAX_NAMES: Final = 5_000
MIN_RECORDS: Final = 5  # k-anonymity as in reports: a name in fewer records may be a person's
_TOOL: Final = re.compile(r"[A-Za-z_]\w{0,63}(?:[.:/-]{1,2}\w{1,64}){0,4}", re.ASCII)
_ARGUMENT: Final = re.compile(r"[A-Za-z_]\w{0,47}", re.ASCII)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_VERSION: Final = re.compile(
    r"v?[0-9]{1,4}(?:\.[0-9]{1,4}){0,2}(?:[.-]?(?:a|b|rc|alpha|beta|dev|post)\.?[0-9]{0,4})?"
)
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
        Tools that answered in `MIN_RECORDS` records, and the arguments of as many: a name that answers again
        and again exists, so a model did not invent it from a user's words.
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

    def labels(self) -> frozenset[str]:
        """Return the category labels of coreloop.yaml that hold no private data."""
        return frozenset({UNSPECIFIED, *(label for label, _ in self.rules if _is_clean(label))})

    def categories(self) -> Categories:
        return Categories(self.rules)


class _Call(msgspec.Struct, gc=False):
    name: str = ""
    ok: bool | None = None
    error: Any = None
    unknown: str | None = None
    args: dict[str, msgspec.Raw] | msgspec.Raw = msgspec.Raw(b"null")


class _Calls(msgspec.Struct, gc=False):
    tool_calls: list[_Call | str] | None = None


_decode = msgspec.json.Decoder(_Calls).decode


def learn(files: Iterable[Path], workspace: "Workspace") -> KnownWords:
    """Collect the names in coreloop.yaml, in the source and in the answered calls of a log.

    Parameters
    ----------
    files : iterable of Path
        JSONL; unreadable lines are skipped.
    workspace : Workspace
        Declared tools, selectors, axes and categories, and the project's folder.
    """
    from coreloop.base.project.tools import Tool, resolve_tools  # workers do not need it

    settings = workspace.settings
    answered = _answered(files)
    resolved = resolve_tools({*settings.tools, *answered}, workspace)
    known = {name: tool for name, tool in resolved.items() if isinstance(tool, Tool)}
    return KnownWords(
        tools=dict.fromkeys(settings.tools)
        | {name: tool.parameters for name, tool in known.items() if tool.parameters},
        values={name: tool.literals for name, tool in known.items()},
        declared=frozenset(settings.axis_slugs),
        selectors=settings.selectors(),
        seen={
            tool: frozenset(name for name, count in counts.items() if name and count >= MIN_RECORDS)
            for tool, counts in answered.items()
            if counts[None] >= MIN_RECORDS
        },
        rules=tuple((rule.label, rule.any) for rule in settings.categories),
    )


_Answered = dict[str, Counter[str | None]]
"""In how many records a tool answered (None), and with which arguments."""


def _answered(files: Iterable[Path]) -> _Answered:
    seen: _Answered = {}
    for path in files:
        with suppress(DamagedError), open_records(path) as source:
            while line := read_line(source):
                with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    calls = _decode(line.removeprefix(BYTE_ORDER_MARK)).tool_calls or ()
                    _add_record(seen, [call for call in calls if isinstance(call, _Call)])
    return seen


def _add_record(seen: _Answered, calls: Sequence[_Call]) -> None:
    given: dict[str, set[str | None]] = {}
    for call in calls:
        if worked(call):
            given.setdefault(call.name, {None}).update(call.args if isinstance(call.args, dict) else ())
    for tool, names in given.items():
        if tool in seen or (len(seen) < MAX_NAMES and is_tool(tool)):
            counts = seen.setdefault(tool, Counter())
            for name in names:
                if name is None or name in counts or (len(counts) <= MAX_NAMES and is_argument(name)):
                    counts[name] += 1


def is_tool(name: str) -> bool:
    """Whether a name is an identifier, with dots, dashes or slashes, without private data."""
    return _TOOL.fullmatch(name) is not None and _is_clean(name)


@lru_cache(maxsize=4096)  # makes `--mode hash` a quarter faster (benchmarks/sanitize.py)
def is_argument(name: str) -> bool:
    """Whether a name is an identifier without private data."""
    return _ARGUMENT.fullmatch(name) is not None and _is_clean(name)


def is_model(name: str) -> bool:
    """Whether a text is a known model family with sizes, versions and variants, not a fine-tuned model."""
    return len(name) <= _MAX_CHARS and _MODEL.fullmatch(name) is not None and _is_clean(name)


def is_version(name: str) -> bool:
    """Whether a text is a commit or a version number without private data."""
    return _COMMIT.fullmatch(name) is not None or (_VERSION.fullmatch(name) is not None and _is_clean(name))


def _is_clean(name: str) -> bool:
    return not _MANY_DIGITS.search(name) and not find_hits(name)
