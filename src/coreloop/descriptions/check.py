"""What is wrong with the texts and schemas of tools, before any call is recorded.

A rule says only what the files show: a text or value that is computed is unknown, and never wrong.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import cleandoc
from typing import Final, Literal

from coreloop.descriptions.schemas import Leaf, Tree, nodes, schema_of
from coreloop.descriptions.texts import DOCSTRING, ToolText

_SCHEMA: Final = "https://json-schema.org/understanding-json-schema/reference"
SENT_BYTES: Final = 2_048
"""Of a tool's text, by Claude Code."""
_ANNOTATIONS: Final = f"{_SCHEMA}/annotations"
_DEFINE_TOOLS: Final = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools"


@dataclass(frozen=True, slots=True)
class Rule:
    """What is looked for: how bad it is, why, and where the official documentation says so."""

    severity: Literal["error", "warning"]
    reason: str
    source: str


RULES: Final = {
    "value-outside-enum": Rule("error", "the schema refuses what it or its text shows", f"{_SCHEMA}/enum"),
    "default-outside-range": Rule("error", "a default should be valid in its schema", _ANNOTATIONS),
    "text-against-default": Rule("error", "a model believes the text, not the schema", _ANNOTATIONS),
    "text-over-cap": Rule("error", "a client refuses or cuts a longer text", "reach.caps in coreloop.yaml"),
    "text-cut": Rule("warning", "what stands behind is not sent", "https://code.claude.com/docs/en/mcp"),
    "argument-without-words": Rule("warning", "a text should say what each parameter means", _DEFINE_TOOLS),
    "same-text": Rule("warning", "a text should say when to use its tool, and when not", _DEFINE_TOOLS),
}

_EXAMPLE: Final = re.compile(
    r"""(?:e\.g\.|\bfor example|\bexample:)[,:]? *([`'"])([^\s`'"]+)\1""", re.IGNORECASE
)
_DEFAULT: Final = re.compile(
    r"""\bdefault(?:s\ to|:|=|\ is|\ value\ is|\ value:) \ * ([`'"]?) ([\w.+-]*\w) \1 (?=[ ]*(?:[).,;]|$))""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_WORD: Final = re.compile(r"[^\W_]+")
_PARTS: Final = re.compile(r"[_-](?:ids?$)?|(?<=[a-z])(?:Ids?$|(?=[A-Z]))")  # bill_id says no more than bill
_GIVEN: Final = re.compile("_.*|self|cls|ctx|(tool_|run_)?context|runtime|config|kwargs")
"""Arguments that a framework gives, and no model sees."""
_PLAIN: Final = re.compile("query|url|(file|dir)?path|id|name|limit|text|message|content|title|[a-z]")
"""Arguments whose names say enough."""
_EMPTY: Final = re.compile("an?|the|of|to|for|in|on|with|by|this|that|is|are|from|using|your")
"""Words that tell no two texts apart."""
_MIN_WORDS: Final = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong at a line of a file; the argument is empty for the tool itself."""

    rule: str
    file: str
    line: int
    tool: str
    argument: str
    message: str


def check_texts(files: Mapping[str, Sequence[ToolText]], caps: Mapping[str, int]) -> list[Finding]:
    """Check the texts of a project's tools.

    Parameters
    ----------
    files : mapping of str to sequence of ToolText
        By path: what `coreloop.descriptions.texts.find_texts` found.
    caps : mapping of str to int
        Model or provider -> characters of the longest description of a tool.

    Returns
    -------
    list of Finding
        By file and line.
    """
    found = list(_same_texts(files))
    nodes = {id(text.schema): text.schema for texts in files.values() for text in texts}
    arguments = {key: schema_of(node)[0] for key, node in nodes.items()}
    described = [item.get("description") for its in arguments.values() for item in its.values()]
    is_usual = 2 * described.count(None) < len(described)
    for path, texts in files.items():
        for text in texts:
            properties = arguments[id(text.schema)]
            if text.argument:
                wrong = _of_argument(text, properties.get(text.argument, {}))
            else:
                wrong = _of_tool(text, properties, caps, is_usual)
            found += [Finding(rule, path, text.line, text.tool, text.argument, why) for rule, why in wrong]
    return sorted(dict.fromkeys(found), key=lambda its: (its.file, its.line, its.rule))


def _of_tool(
    text: ToolText, properties: Mapping[str, dict[str, Tree]], caps: Mapping[str, int], is_usual: bool
) -> Iterator[tuple[str, str]]:
    """What is wrong with a tool's own text; it is usual or not that a project's arguments are described."""
    sent = cleandoc(text.value) if text.what == DOCSTRING else text.value
    for client, cap in caps.items():
        if len(sent) > cap:
            yield "text-over-cap", f"it has {len(sent):,} characters, and {client} takes {cap:,}"
    if (size := len(sent.encode("utf-8", "replace"))) > SENT_BYTES:
        yield "text-cut", f"it has {size:,} bytes, and Claude Code sends the first {SENT_BYTES:,}"
    is_usual = is_usual or any(item.get("description") for item in properties.values())
    said = " ".join(["", *_WORD.findall(text.value)]).casefold()
    silent = [name for name, item in properties.items() if not (_is_named(name, said) or _is_described(item))]
    if is_usual and said and not text.refused and not all(map(_PLAIN.fullmatch, silent)):
        yield "argument-without-words", f"no text has a word about {', '.join(silent[:5])}"


def _is_named(name: str, said: str) -> bool:
    """Whether a text has the words of a name, or their beginnings; a framework's arguments need none."""
    parts = (part.casefold().removesuffix("s") for part in _PARTS.split(name) if part)
    return _GIVEN.fullmatch(name) is not None or all(f" {part}" in said for part in parts)


def _is_described(item: Tree) -> bool:
    """Whether a schema, or a part of it, has a description, or may have one elsewhere."""
    parts = (node for node in nodes(item) if isinstance(node, dict))
    return any(isinstance(part.get(key), Leaf) for part in parts for key in ("description", "$ref"))


def _of_argument(text: ToolText, item: Mapping[str, Tree]) -> Iterator[tuple[str, str]]:
    default, choices = item.get("default"), _plain_texts(item.get("enum"))
    shown = [("default", value) for value in _plain_texts([default])]
    shown += [("example", value) for value in _plain_texts(item.get("examples"))]
    said = [("example in words", match[2]) for match in _EXAMPLE.finditer(text.value)]
    for what, value in [*shown, *said]:
        if choices and value.casefold() not in [choice.casefold() for choice in choices]:
            yield "value-outside-enum", f"the {what} {value} is not one of {', '.join(choices[:5])}"
    for key, sign in (("minimum", 1), ("maximum", -1)):
        if _minus(default, item.get(key)) * sign < 0:
            yield "default-outside-range", f"the default {_shown(default)} is outside the {key}"
    meant = _DEFAULT.search(text.value) if text.value.casefold().count("default") == 1 else None
    if meant and _differs(meant[2], default, choices):
        yield "text-against-default", f"the text says {meant[2]}, and the schema {_shown(default)}"


def _minus(value: Tree, other: Tree) -> float:
    return value - other if isinstance(value, float | int) and isinstance(other, float | int) else 0


def _shown(value: Tree) -> str:
    return value.value if isinstance(value, Leaf) else str(value).removesuffix(".0")


def _plain_texts(node: Tree) -> list[str]:
    """The texts of a list that has only texts, each as it is in the file."""
    items = node if isinstance(node, list) else []
    leaves = [item for item in items if isinstance(item, Leaf) and not item.refused]
    return [leaf.value for leaf in leaves] if len(leaves) == len(items) else []


def _differs(said: str, default: Tree, choices: Sequence[str]) -> bool:
    """Whether a text says another default than the schema; False if it is unknown."""
    if isinstance(default, bool):
        return said.casefold() == str(not default).casefold()
    if isinstance(default, int | float):
        with suppress(ValueError):
            return float(said) != default
    return isinstance(default, Leaf) and said in choices and said != default.value


def _same_texts(files: Mapping[str, Sequence[ToolText]]) -> Iterator[Finding]:
    """Tools of a file whose texts have the same words, but for empty ones; another file may list copies."""
    first = dict[tuple[str, ...], str]()
    for path, text in ((path, text) for path, texts in files.items() for text in texts if not text.argument):
        words = path, *(its for its in _WORD.findall(text.value.casefold()) if not _EMPTY.fullmatch(its))
        other = first.setdefault(words, text.tool)
        is_other = _WORD.findall(text.tool.casefold()) != _WORD.findall(other.casefold())
        if is_other and len(words) > _MIN_WORDS:
            yield Finding("same-text", path, text.line, text.tool, "", f"its text is nearly that of {other}")
