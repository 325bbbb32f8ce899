"""The findings that the miners are compared by, and the rules that DuckDB needs for them.

Nothing of coreloop is imported, which would count as DuckDB's time; equal digests show that the rules
are the same. Times are microseconds since 1970.
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple

MIN_REPEAT = 3
MIN_QUESTIONS = 3
MIN_SUCCESS = 1.0
MIN_FAILURES = 2
MIN_CHUNK_LEN = 400
LOW_CHUNK_LEN = 200
MAX_EXAMPLES = 5
MAX_QUESTIONS = 200
SIGNS = frozenset({"error", "violation", "chunk_len_low", "extreme_flags", "override_failed"})
CLASSES = {
    "rate_limit": r"too many requests|quota exceeded|요청 한도|rate.?limit|status(?: code)?:? ?429\b|^429\b",
    "transient_network": r"connection (?:reset|refused|aborted|closed|error)|connecterror|connectionerror|"
    r"econnreset|econnrefused|network is unreachable|name resolution|getaddrinfo|bad gateway|gateway time|"
    r"service unavailable|temporarily unavailable|remote end closed|broken pipe|overloaded|네트워크|"
    r"연결.{0,6}(?:실패|끊|거부)",
    "timeout": r"time.?out|timed.?out|deadline exceeded|시간 ?초과",
    "auth": r"unauthori[sz]ed|forbidden|access denied|authenticat|인증|권한|api.?key|"
    r"permission ?(?:denied|error)",
    "invalid_argument": r"validation error|required (?:positional |keyword-only )?argument|field required|"
    r"unexpected keyword|invalid|typeerror|valueerror|should |must |cannot be|expecting|not (?:a )?valid|"
    r"unknown axis|잘못된|필수|지원하지 않",
    "not_found": r"not found|no such|does not exist|unknown |keyerror|lookuperror|없습니다|없는 |찾을 수 없",
}
"""The words of each class of errors; the first class that matches counts, and any other text is ``other``."""
TRANSIENT = ("rate_limit", "transient_network")
VALUES = (
    (r"\S*@\S*|\w+:/{2}\S*", "<address>"),
    (r"\S*[\\/]\S*", "<path>"),
    (r"""'[^']*('|$)|"[^"]*("|$)""", "<value>"),
    (r"[#\w.-]*\d[\w.-]*", "<n>"),
)
"""What varies in the generated logs' errors, and what stands for it in their template."""
_NUMBER = re.compile(r"(?<![0-9a-z])[a-z]*[0-9][0-9a-z]*")
_NOT_WORD = re.compile(r"[^\w\s]|_")
Shape = tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]
"""A call's tool, selectors and argument names in order."""
Failing = tuple[Shape, str, str, int, float, int, int, str]
"""Failed calls: shape, class, template; number, wasted milliseconds, first and last time, first question."""


class Pattern(NamedTuple):
    """A category and a sequence; ``shapes`` has the count and first time of each shape of the steps."""

    category: str
    sequence: str
    n: int
    n_success: int
    n_sessions: int
    n_questions: int
    first_us: int
    last_us: int
    questions: Sequence[str]
    shapes: Mapping[tuple[Shape, ...], tuple[int, int]]
    failed_at: tuple[int | None, int | None]
    failed_questions: Sequence[str]
    labels: frozenset[str]


def from_groups(
    patterns: list[Pattern], rates: Mapping[str, float], failing: list[Failing], calls: Mapping[Shape, int]
) -> dict[str, Any]:
    """Return the findings of a miner that counted groups."""
    candidates = [_candidate(pattern, rates[pattern.category]) for pattern in patterns]
    sequences = [_sequence(pattern) for pattern in patterns]
    of_tools = Counter[str]()
    for shape, n_calls in calls.items():
        of_tools[shape[0]] += n_calls
    failed = []
    for shape, error_class, template, n, wasted_ms, *seen in failing:
        if n >= MIN_FAILURES:
            counts = n, calls[shape], of_tools[shape[0]] - calls[shape], round(100 * wasted_ms)
            failed.append([shape, error_class, template, *counts, *seen])
    return digests([*filter(None, candidates)], [*filter(None, sequences)], failed)


def digests(candidates: list[Any], sequences: list[Any], calls: list[Any]) -> dict[str, Any]:
    """Return the counts and two digests of all values: of the patterns alone, and with failing calls."""
    patterns, failed = [
        sorted(json.dumps(entry, sort_keys=True, ensure_ascii=False) for entry in entries)
        for entries in ([*candidates, *sequences], calls)
    ]
    return {
        "candidates": len(candidates),
        "counterexamples": len(sequences) + len(calls),
        "patterns": sha256("\n".join(patterns).encode()).hexdigest()[:16],
        "digest": sha256("\n".join([*patterns, *failed]).encode()).hexdigest()[:16],
    }


def distinct(questions: Sequence[str]) -> list[str]:
    """Leave out a question that shares four fifths of its words, or all, with an earlier one.

    Of two such questions, the first fifth of the words of each, rarest first, have one in common.
    """
    folded = (_NOT_WORD.sub("", unicodedata.normalize("NFKC", question).lower()) for question in questions)
    word_sets = [frozenset(_NUMBER.sub("0", question).split()) for question in folded]
    counts = Counter(chain.from_iterable(word_sets))
    kept = []
    by_word: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for question, words in zip(questions, word_sets, strict=True):
        rarest = sorted(words, key=lambda word: (counts[word], word))[: len(words) // 5 + 1] or [""]
        others = {other for word in rarest for other in by_word[word]}
        if not any(5 * len(words & other) >= 4 * len(words | other) for other in others):
            kept.append(question)
            for word in rarest:
                by_word[word].append(words)
    return kept


def _candidate(pattern: Pattern, base_rate: float) -> list[Any] | None:
    n, rate = pattern.n, pattern.n_success / pattern.n
    if n < MIN_REPEAT or pattern.n_questions < MIN_QUESTIONS or rate < MIN_SUCCESS:
        return None
    questions = distinct(pattern.questions)
    if len(questions) < MIN_QUESTIONS:
        return None
    steps = max(pattern.shapes, key=lambda steps: pattern.shapes[steps][0])
    return [
        *(pattern.category, pattern.sequence, steps, n, len(questions), pattern.n_sessions),
        *(round(rate, 9), round(base_rate, 9)),
        *(pattern.first_us, pattern.last_us, questions[:MAX_EXAMPLES]),
    ]


def _sequence(pattern: Pattern) -> list[Any] | None:
    n_failures = pattern.n - pattern.n_success
    if n_failures < MIN_FAILURES or not (pattern.labels & SIGNS or n_failures > pattern.n_success):
        return None
    steps = max(pattern.shapes, key=lambda steps: pattern.shapes[steps][0])
    target = next((step for step in reversed(steps) if step[1]), steps[-1])
    classes = pattern.labels & {*CLASSES, "other"}
    return [
        *(target, steps, pattern.category, sorted(pattern.labels - classes)),
        *(min(classes) if len(classes) == 1 else None, n_failures, pattern.n),
        *(*pattern.failed_at, pattern.failed_questions[:MAX_EXAMPLES]),
    ]
