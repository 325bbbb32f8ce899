"""First categories: words that occur in many questions and in the project's own source."""

import ast
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from coreloop.admin.init.usage import newest_records
from coreloop.base.categories import Categories
from coreloop.base.project.tools import parse_python, python_files

MAX_TOPICS: Final = 8
_MAX_CANDIDATES: Final = 40
_LEAST_QUESTIONS: Final = 5
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
