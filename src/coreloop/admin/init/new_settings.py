"""A new coreloop.yaml: the template with its examples replaced by commented proposals for the project."""

import ast
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from coreloop.admin.init.decorated import decorated_tools
from coreloop.admin.init.tool_usage import MOST_VALUES, ToolUsage, newest_records, read_usage
from coreloop.base.categories import Categories
from coreloop.base.project.frameworks import find_framework
from coreloop.base.project.tools import Tool, is_tool_name, parse_python, python_files, resolve_tools
from coreloop.base.text import fitted, printable

MOST_TOOLS: Final = 40  # chosen: more than a reader of a new coreloop.yaml looks through
_COLUMNS: Final = 118
_RULES: Final = re.compile(rb"(?m)(^#  - \{label: .*\n)+")
_TOOLS: Final = re.compile(rb"(?m)(^#  \w+: \{target: .*\n)+")
_REACH: Final = re.compile(rb"(?m)^# reach: \{.*$")
_PLAIN: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


@dataclass(frozen=True, slots=True)
class ToolProposal:
    """An entry of ``tools:``.

    Attributes
    ----------
    target : str or None
        ``path.py::qualname``; None if the path cannot be printed.
    selectors : mapping of str to tuple of str
        Argument -> values that occur in the project's source; no other value is ever shown.
    """

    name: str
    target: str | None
    selectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettingsProposals:
    """The proposals in a new coreloop.yaml: category keywords, tools and the agent framework."""

    topics: tuple[str, ...] = ()
    tools: tuple[ToolProposal, ...] = ()
    framework: str | None = None


def propose_settings(records: Path, root: Path) -> SettingsProposals:
    """Derive proposals from the records and the source.

    Parameters
    ----------
    records : Path
        Folder of records; it may be absent.
    root : Path
        The project's folder.
    """
    return SettingsProposals(
        topics=propose_topics(records, root),
        tools=propose_tools(read_usage(records), root),
        framework=find_framework(root),
    )


def propose_tools(usage: Mapping[str, ToolUsage], root: Path) -> tuple[ToolProposal, ...]:
    """Return at most 40 tools: the used tools by frequency, then other tools that the source declares."""
    declared = decorated_tools(root)
    unknown = [name for name in usage if name not in declared]
    resolved = resolve_tools(unknown, root=root, configured={})
    tools = {**{name: tool for name, tool in resolved.items() if isinstance(tool, Tool)}, **declared}
    used = [name for name in usage if name in tools]  # another name may be anything that a user wrote
    names = [name for name in dict.fromkeys((*used, *declared)) if is_tool_name(name)]
    return tuple(_proposed(name, tools[name], usage.get(name)) for name in names[:MOST_TOOLS])


def write_settings(template: bytes, proposals: SettingsProposals) -> bytes:
    """Return the template with the proposals; an example without a proposal stays."""
    text = _replaced(template, _RULES, list(_rule_lines(proposals.topics)))
    text = _replaced(text, _TOOLS, [_tool_line(tool) for tool in proposals.tools])
    if proposals.framework is not None:
        reach = f'# reach: {{framework: {proposals.framework}, tools: "package.module:TOOLS"}}'
        text = _REACH.sub(reach.encode(), text, count=1)
    return text


def _replaced(text: bytes, example: re.Pattern[bytes], lines: Sequence[str]) -> bytes:
    proposed = "".join(f"{line}\n" for line in lines).encode()
    return example.sub(lambda _: proposed, text, count=1) if lines else text


def _proposed(name: str, tool: Tool, usage: ToolUsage | None) -> ToolProposal:
    used = usage.selectors if usage is not None else {}
    declared = {key: values for key, values in tool.choices.items() if 2 <= len(values) <= MOST_VALUES}
    known = {
        key: tuple(value for value in values if value in tool.literals)
        for key, values in used.items()
        if key in tool.parameters
    }
    target = f"{tool.file}::{tool.qualname}"
    return ToolProposal(name, target if target.isprintable() else None, known | declared)


def _rule_lines(topics: Sequence[str]) -> Iterator[str]:
    if topics:
        yield "# Words that many questions and the project's source share. Remove the # of those that help."
    for number, word in enumerate(topics, start=1):
        yield f"#  - {{label: TOPIC-{number}, any: [{_quoted(word) if word in _WORDS else word}]}}"


def _tool_line(tool: ToolProposal) -> str:
    entries = [f"target: {_quoted(tool.target)}"] if tool.target is not None else []
    if tool.selectors:
        entries.append(f"selectors: [{', '.join(map(_key, tool.selectors))}]")
    note = "; ".join(f"{name}: {', '.join(values)}" for name, values in tool.selectors.items() if values)
    line = f"#  {_key(tool.name)}: {{{', '.join(entries)}}}"
    return f"{line}{fitted(f'  # {printable(note)}', max(_COLUMNS - len(line), 24))}" if note else line


def _key(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name.lower() not in _WORDS else _quoted(name)


def _quoted(text: str) -> str:
    """Quote a YAML string on one line; JSON is valid YAML."""
    return json.dumps(text, ensure_ascii=False)


MAX_TOPICS: Final = 8  # chosen: as many categories as a first file needs; the rest is general
_MAX_CANDIDATES: Final = 40
_LEAST_QUESTIONS: Final = 5  # k-anonymity as in reports: below it a word may be one person's
_LEAST_SHARE, _MOST_SHARE = 0.03, 0.5
"""Shares of questions: a rarer word is not a topic, a more frequent word does not distinguish questions."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_HANGUL: Final = re.compile(r"[가-힣]+")
_STOP_WORDS: Final = frozenset(
    {
        "about", "after", "also", "been", "before", "could", "from", "have", "help", "into", "just",
        "like", "make", "more", "name", "need", "only", "please", "some", "than", "that", "them",
        "then", "there", "these", "they", "this", "user", "want", "were", "what", "when", "where",
        "which", "will", "with", "would", "your",
    }
)  # fmt: skip


def propose_topics(records: Path, root: Path) -> tuple[str, ...]:
    """Find words that distinguish a project's questions, the most frequent first.

    Parameters
    ----------
    records : Path
        Folder of records; the newest 20,000 are read. It may be absent.
    root : Path
        The project's folder, whose Python files are read.

    Returns
    -------
    tuple of str
        At most eight words, each in 3 to 50 % of the questions and in a name or a string constant of the
        source; no other word of a question is ever shown.
    """
    questions = list(_questions(records))
    if len(questions) < _LEAST_QUESTIONS:
        return ()
    known = source_words(root)
    exact = Counter(word for question in questions for word in _known_words(question, known))
    rules = Categories([("TOPIC", [word for word, _ in exact.most_common(_MAX_CANDIDATES)])])
    counts = Counter(word for question in questions for word in rules.keywords(question))
    topics = list[str]()
    for word, n in counts.most_common():
        is_covered = Categories([("TOPIC", topics)]).label(word) == "TOPIC"  # "orders" by the topic "order"
        if _LEAST_SHARE * len(questions) <= n <= _MOST_SHARE * len(questions) and not is_covered:
            topics += [word] if n >= _LEAST_QUESTIONS else []
    return tuple(topics[:MAX_TOPICS])


def _questions(records: Path) -> Iterator[str]:
    questions = (record.get("question") for record in newest_records(records))
    return (question for question in questions if isinstance(question, str) and question)


def source_words(root: Path) -> frozenset[str]:
    """Return the words in the names and string constants of a project's Python files, in lower case."""
    return frozenset(
        part.lower()
        for path in python_files(root)
        if (tree := parse_python(path)) is not None
        for name in _names(tree)
        for part in _PARTS.findall(unicodedata.normalize("NFC", name))
        if _can_be_topic(part.lower())
    )


def _names(tree: ast.AST) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= 40:
            yield node.value


def _can_be_topic(word: str) -> bool:
    least = 2 if _HANGUL.fullmatch(word) else 4
    return len(word) >= least and word not in _STOP_WORDS


def _known_words(question: str, known: frozenset[str]) -> set[str]:
    """Return the words of a question that occur in the source; Korean words match without particles."""
    words = set[str]()
    for word in _WORD.findall(unicodedata.normalize("NFC", question).lower()):
        ends = range(len(word), 1, -1) if _HANGUL.match(word) else (len(word),)
        longest = next((word[:end] for end in ends if word[:end] in known), None)
        if longest is not None:
            words.add(longest)
    return words
