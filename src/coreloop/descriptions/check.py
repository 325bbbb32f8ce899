"""What is wrong with the texts and schemas of tools, before any call is recorded.

A rule says only what the files show: a text or value that is computed is unknown, and never wrong.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, cast

from coreloop.descriptions.schemas import Leaf, Tree, nodes, schema_of
from coreloop.descriptions.sections import scan
from coreloop.descriptions.texts import DOCSTRING, ToolText

SENT_CHARS: Final = 2_048
"""Of the text of an MCP server's tool, by Claude Code."""


class Rule(NamedTuple):
    """What is looked for: how bad it is (``error`` or ``warning``), why, and where that is documented."""

    severity: str
    reason: str
    source: str


_TABLE: Final = Path(__file__).with_name("rules.tsv").read_text("utf-8").splitlines()
RULES: Final = {name: Rule(*its) for name, *its in (line.split("\t") for line in _TABLE)}

_EXAMPLE: Final = re.compile(r"""(?i)(?:e\.g\.|\bfor example|\bexample:)[,:]? *([`'"])([^\s`'"]+)\1""")
_SAYS: Final = ("description", "$ref", "enum", "const")
_WORD: Final = re.compile(r"[^\W_]+")
_PARTS: Final = re.compile(r"[_-](?:ids?$)?|(?<=[a-z])(?:Ids?$|(?=[A-Z]))")  # bill_id says no more than bill
_GIVEN: Final = re.compile("_.*|self|cls|ctx|(tool_|run_)?context|runtime|config|kwargs")
"""Arguments that a framework gives, and no model sees."""
_PLAIN: Final = re.compile(
    r"[^\W_A-Z]+|(file|dir)_?path|\w+_id|(start|end)_(date|time)|max_(results|pages)|(next_)?(page_)?(token|size)"
)
"""Arguments whose names say enough: one word, dates, and pages."""
_SERVER: Final = re.compile(rb"mcp", re.IGNORECASE)
"""In code whose tools MCP's clients may read; a file of data says so by its key."""
_WHOLE: Final = re.compile(
    rb"\bmcp\.server\.(fastmcp|mcpserver)\b|from mcp\.server import [^\n]{0,200}\bMCPServer\b"
)
"""The official SDK sends a whole docstring; other frameworks may leave out its sections."""
_EMPTY: Final = re.compile("an?|the|of|this|that|is|are|your")
"""Words that tell no two texts apart."""


class Finding(NamedTuple):
    """What is wrong at a place of a file, from 1; the argument is empty for the tool itself."""

    rule: str
    file: str
    line: int
    column: int
    tool: str
    argument: str
    message: str


def check_texts(
    files: Mapping[str, Sequence[ToolText]], caps: Mapping[str, int], sources: Mapping[str, bytes]
) -> list[Finding]:
    """Check the texts of a project's tools.

    Parameters
    ----------
    files : mapping of str to sequence of ToolText
        By path: what `coreloop.descriptions.texts.find_texts` found.
    caps : mapping of str to int
        Model or provider -> characters of the longest description of a tool.
    sources : mapping of str to bytes
        By path: the files.

    Returns
    -------
    list of Finding
        By file and line.
    """
    found = list[Finding]()
    for path, texts in files.items():
        raw, arguments = sources[path], {id(text.schema): schema_of(text.schema)[0] for text in texts}
        wrong = [(text, "same-text", why) for text, why in _same_texts(texts)]
        for text in texts:
            properties = arguments[id(text.schema)]
            own = () if text.argument else chain(_sizes(text, raw, caps), _silent(text, properties))
            of_argument = _of_argument(text, properties.get(text.argument, {}))
            wrong += [(text, rule, why) for rule, why in (*own, *of_argument)]
        for text, rule, why in wrong:
            column = len(raw[: text.start].rpartition(b"\n")[2].decode(errors="replace")) + 1
            found.append(Finding(rule, path, text.line, column, text.tool, text.argument, why))
    return sorted(dict.fromkeys(found), key=lambda its: (its.file, its.line, its.rule))


def _sizes(text: ToolText, raw: bytes, caps: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """What clients do not take of a tool's text; of a docstring, what any framework sends counts."""
    what, sent = "description", text.value
    if text.what == DOCSTRING:
        is_whole = _WHOLE.search(raw) is not None
        what = "docstring" if is_whole else "docstring without sections"
        sent = cleandoc(sent) if is_whole else "\n".join(scan(sent).preface()).strip()
    for client, cap in caps.items():
        if len(sent) > cap:
            yield "text-over-cap", f"its {what} has {len(sent):,} characters, and {client} takes {cap:,}"
    is_code = not text.what.startswith(("JSON", "YAML", "TOML"))
    is_served = (is_code and _SERVER.search(raw)) or "inputSchema" in cast(dict[str, Tree], text.schema)
    if is_served and (size := len(sent.strip())) > SENT_CHARS:
        yield "text-cut", f"its {what} has {size:,} characters; Claude Code reads the first {SENT_CHARS:,}"


def _silent(text: ToolText, properties: Mapping[str, dict[str, Tree]]) -> Iterator[tuple[str, str]]:
    """The arguments that no text is about, if most others have words."""
    said = " ".join(["", *_WORD.findall(text.value)]).casefold()
    items = {name: item for name, item in properties.items() if not _GIVEN.fullmatch(name)}
    silent = [name for name, item in items.items() if not (_is_named(name, said) or _is_described(item))]
    names = ", ".join(f'"{name}"' for name in silent if not _PLAIN.fullmatch(name))
    # beside a description in a call, a docstring may say more
    if names and 3 * len(silent) <= len(items) and not (text.refused or "description of" in text.what):
        yield "argument-without-words", f"neither this text nor its schema has a word about {names}"


def _is_named(name: str, said: str) -> bool:
    """Whether a text has the words of a name, or their beginnings."""
    parts = (part.casefold().removesuffix("s") for part in _PARTS.split(name) if part)
    return all(f" {part}" in said for part in parts)


def _is_described(item: Tree) -> bool:
    """Whether a schema, or a part of it, has a description or choices, or may have one elsewhere."""
    parts = (node for node in nodes(item) if isinstance(node, dict))
    return any(part.get(key) is not None for part in parts for key in _SAYS)


def _of_argument(text: ToolText, item: Mapping[str, Tree]) -> Iterator[tuple[str, str]]:
    default, choices = item.get("default"), _plain_texts(item.get("enum"))
    shown = [("default", [default]), ("example", item.get("examples"))]
    said = [("example in words", match[2]) for match in _EXAMPLE.finditer(text.value)]
    said += [(what, value) for what, values in shown for value in _plain_texts(values)]
    for what, value in said:
        if choices and value.casefold() not in [choice.casefold() for choice in choices]:
            yield "value-outside-enum", f"the {what} {value} is not one of {', '.join(choices[:5])}"
    for key, sign in (("minimum", 1), ("maximum", -1)):
        number, limit = (it if isinstance(it, float | int) else None for it in (default, item.get(key)))
        if number is not None and limit is not None and number * sign < limit * sign:
            yield "default-outside-range", f"the default {number:.15g} is outside the {key} {limit:.15g}"


def _plain_texts(node: Tree) -> list[str]:
    """The texts of a list that has only texts, each as it is in the file."""
    items = node if isinstance(node, list) else []
    leaves = [item for item in items if isinstance(item, Leaf) and not item.refused]
    return [leaf.value for leaf in leaves] if len(leaves) == len(items) else []


def _same_texts(texts: Sequence[ToolText]) -> Iterator[tuple[ToolText, str]]:
    """Tools of a file whose texts have the same words, but for empty ones; another file may list copies."""
    first = dict[tuple[str, ...], str]()
    for text in (text for text in texts if not text.argument):
        words = tuple(its for its in _WORD.findall(text.value.casefold()) if not _EMPTY.fullmatch(its))
        other = first.setdefault(words, text.tool)
        is_other = len({re.sub(r"async|[\W_]", "", its.casefold()) for its in (text.tool, other)}) > 1
        if is_other and len(words) > 3:  # chosen: fewer words are no description
            yield text, f'its text has the same words as that of "{other}"'
