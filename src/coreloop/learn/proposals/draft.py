"""The text of an entry: docstring lines built from closed vocabularies, or the reason why there is none.

The inputs are tool names, argument names of the signature, values that the source or coreloop.yaml declares,
category labels and counts; never questions or words of them, undeclared values or error texts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

from coreloop.base.project.python_source import UnprovenError
from coreloop.base.project.tools import Tool
from coreloop.base.records import UNSPECIFIED, is_category
from coreloop.descriptions.place import read_bullets
from coreloop.descriptions.sections import split_lines
from coreloop.descriptions.texts import find_texts
from coreloop.learn.line import (
    MEANINGS,
    Advice,
    Language,
    SequenceLine,
    in_language,
    keys_of,
    parse_advice,
    statement_key,
)
from coreloop.learn.proposals.allowed_lines import Vocabulary, refuse_line
from coreloop.learn.proposals.entry import CAVEATS, GUIDE, MAX_Q, Candidate, Statement, SuggestedAppend

_WEAK: Final = "weak: "
# In what a signature or a schema says of an argument: Field(le=4), 'maximum': 4.
_OVER: Final = re.compile(r"\b(?:le|maximum|(lt|exclusiveMaximum))[\"']?(?:=|: )(-?\d+(?:\.\d+)?)")
_UNDER: Final = re.compile(r"\b(?:ge|minimum|(gt|exclusiveMinimum))[\"']?(?:=|: )(-?\d+(?:\.\d+)?)")
_FILLED: Final = re.compile(r"\bmin_?(?:length|items)[\"']?(?:=|: )[1-9]", re.IGNORECASE)

Texts = Mapping[str, Sequence[tuple[str, str]]]
"""By tool, the lines and bullets of all that a model reads of it, each with its place."""


def draft_statement(
    statement: Statement,
    words: Vocabulary,
    merges: Mapping[str, datetime] = MappingProxyType({}),
    texts: Texts = MappingProxyType({}),
) -> Statement:
    """Give a statement its text and target, or ``refused``: the reason why no text may be proposed.

    Parameters
    ----------
    statement : Statement
        As found.
    words : Vocabulary
        Definitions of its tools.
    merges : mapping of str to datetime
        When each promoted key was merged: a line is not replaced because of records older than itself.
    texts : Texts
        What stands in the tools' texts; by default their docstrings.
    """
    advice = parse_advice(statement.line)
    if advice is None:
        return replace(statement, refused="coreloop writes no such line")
    refused = _refuse_names(statement, advice, words) or statement.refused
    tool = words.tool(statement.tool)
    if refused is None and tool is not None:
        standing = texts.get(statement.tool) or [(text, tool.file) for _, text in lines_of(tool.docstring)]
        refused = _refuse_redundant(statement, advice, tool, merges)
        if place := standing_at(advice, standing):
            refused = f"redundant: it already stands in {place}"
    refused = refused or _refuse_place(statement.tool, words)
    if refused is not None:
        return replace(statement, refused=refused)
    suggested = SuggestedAppend.of(words, statement.tool, CAVEATS, (statement.line,))
    return replace(statement, suggested_append=suggested)


def _refuse_names(statement: Statement, advice: Advice, words: Vocabulary) -> str | None:
    tool = words.tool(statement.tool)  # with **kwargs it declares no names, and a name in a log is untrusted
    if tool is not None and not set(advice.arguments) <= set(tool.parameters):
        return "its definition does not have the argument"
    handoff = next((name for name in advice.tools if name in words.settings.handoff), None)
    if handoff is not None:
        return f"{handoff} hands over to a human; such calls are not recommended"
    refused = words.refuse((statement.tool, *advice.tools), target=statement.tool)
    return refused or refuse_line(statement.line)


def _refuse_place(name: str, words: Vocabulary) -> str | None:
    """Why it is not known where a tool is described."""
    tool = words.tools.get(name)
    return tool.unclear or None if tool is not None else None


def _refuse_redundant(
    statement: Statement, advice: Advice, tool: Tool, merges: Mapping[str, datetime]
) -> str | None:
    """Why a line would add nothing to the tool's schema, or to a merged line, or None."""
    if all(_is_in_schema(clause, tool) for clause in advice.clauses()):
        return "redundant: its schema says this; let the error say it, too"
    for own, merged in merged_lines(statement.tool, tool, merges):
        if own.subject() == advice.subject() and statement.first_seen < merged:
            return f"redundant: the line on this, merged on {merged:%Y-%m-%d}, is newer than these records"
    return None


def merged_lines(name: str, tool: Tool, merges: Mapping[str, datetime]) -> list[tuple[Advice, datetime]]:
    """The promoted lines of a tool's description, clause by clause, and when each was merged."""
    texts = (tool.docstring, *tool.described.values()) if merges else ()
    found = list[tuple[Advice, datetime]]()
    for line in dict.fromkeys(line for text in texts for _, line in lines_of(text)):
        own, keys = parse_advice(line), keys_of(name, line) & merges.keys()
        if own is not None and keys:
            found += [(clause, max(map(merges.__getitem__, keys))) for clause in own.clauses()]
    return found


def _says_no_more(advice: Advice, own: Advice) -> bool:
    """Whether a clause says no more than another."""
    if advice.subject() != own.subject():
        return False
    advice, own = in_language(advice, "en"), in_language(own, "en")
    if advice.form == own.form == "always_pass":
        return set(advice.items("arguments")) <= set(own.items("arguments"))
    return advice == own


# --- What already stands in a tool's texts, whoever wrote it.


def standing_at(line: Advice, texts: Iterable[tuple[str, str]]) -> str | None:
    """Where a line stands already, word for word or clause by clause; None if it does not."""
    clauses = list[tuple[Advice, str]]()
    for given, place in texts:
        text = MEANINGS.sub("", given)
        if _flat(text) == _flat(str(line)):
            return place
        own = parse_advice(f"- {text.strip().removeprefix('- ')}")
        clauses += [(clause, place) for clause in own.clauses()] if own is not None else []
    found = [[place for own, place in clauses if _says_no_more(part, own)] for part in line.clauses()]
    return found[0][0] if all(found) else None


def _flat(text: str) -> str:
    """A line in small letters, with single spaces, without its mark and its full stop."""
    return " ".join(text.split()).lstrip("-*• ").rstrip(".").casefold()


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """The bullets and the other lines of a text, by the number of their line, and the whole of it."""
    lines = split_lines(text)
    bullets = read_bullets(lines, 0, len(lines))
    yield from ((bullet.first, bullet.text) for bullet in bullets)
    in_bullets = {number for bullet in bullets for number in range(bullet.first, bullet.end)}
    yield from ((number, line.text) for number, line in enumerate(lines) if number not in in_bullets)
    yield 0, text


def standing_texts(source: bytes, symbol: str, file: str) -> list[tuple[str, str]]:
    """What models read of a tool, its arguments included, as `Texts` has it; places are lines."""
    name = symbol.partition("[")[0]
    try:
        texts = [text for text in find_texts(file, source, [name]) if name in {text.tool, text.symbol}]
    except UnprovenError:
        return []
    heights = [source.count(b"\n", text.start, text.end) for text in texts]
    return [
        (line, f"{file}:{text.line + min(number, height)}")
        for text, height in zip(texts, heights, strict=True)
        for number, line in lines_of(text.value)
    ]


def _is_in_schema(advice: Advice, tool: Tool) -> bool:
    """Whether the schema that a model receives says the line."""
    slots = dict(advice.slots)
    named = slots.get("arguments") or slots.get("argument", ())
    said = [tool.declared.get(name, "=") for name in named]
    match advice.form:
        case "always_pass":
            return not any(text.startswith("=") for text in said)
        case "never_empty":
            return all(map(_FILLED.search, said))
        case "one_of" | "each_of":
            return set(tool.choices.get(named[0], ())) == set(slots["values"])
        case "at_most":
            return _most(said[0], _OVER) <= float(slots["number"][0])
        case "at_least":
            return _most(said[0], _UNDER, -1) <= -float(slots["number"][0])
    return False


def _most(text: str, bound: re.Pattern[str], sign: int = 1) -> float:
    """The highest number that a schema allows, times the sign; a strict bound allows the next whole one."""
    found = bound.search(text)
    if found is None:
        return float("inf")
    is_strict = found[1] is not None and "." not in found[2]
    return sign * float(found[2]) - is_strict


def draft_candidate(candidate: Candidate, words: Vocabulary) -> Candidate:
    """Give a candidate its text and target, or ``refused``, and a key that may be published.

    Parameters
    ----------
    candidate : Candidate
        The result of the search, with its q-value.
    words : Vocabulary
        Definitions of the pattern's tools; declared axes.
    """
    language = words.settings.language
    lines = str(SequenceLine(language, candidate.cat_hash)), str(_calls(candidate, words, language))
    if words.tool(candidate.engine) is not None and not all(map(words.knows_step, candidate.tool_pattern)):
        # Not a hash of undeclared values, which could be guessed; it is the same in both languages.
        key = statement_key(candidate.cat_hash, str(_calls(candidate, words, "en")), GUIDE)
        candidate = replace(candidate, key=key)
    refused = (
        _weak(candidate)
        or words.refuse([step.name for step in candidate.tool_pattern], target=candidate.engine)
        or (None if is_category(candidate.cat_hash) else "the category is not a label")
        or next((f"{line.split(':')[0]} line: {why}" for line in lines if (why := refuse_line(line))), None)
        or _refuse_place(candidate.engine, words)
    )
    if refused is not None:
        return replace(candidate, refused=refused)
    return replace(candidate, suggested_append=SuggestedAppend.of(words, candidate.engine, GUIDE, lines))


def _weak(candidate: Candidate) -> str | None:
    """Why a sequence is not better than the rest of its category, or None if it is significantly better."""
    n, rest_ok, rest_n = candidate.n_begun, candidate.rest_ok, candidate.rest_n
    if candidate.cat_hash == UNSPECIFIED:
        return f"{_WEAK}its questions have no category in coreloop.yaml"
    if not rest_n:
        return f"{_WEAK}all requests of its category begin alike"
    is_better = candidate.n_succeeded * rest_n > rest_ok * n
    if is_better and candidate.q_value is not None and candidate.q_value <= MAX_Q:
        return None
    began = f"{candidate.n_succeeded} of {n} that began it succeeded"
    return f"{_WEAK}{began}, {rest_ok} of {rest_n} of the rest of its category"


def _calls(candidate: Candidate, words: Vocabulary, language: Language) -> SequenceLine:
    return SequenceLine(language, calls=tuple(map(words.call, candidate.tool_pattern)))
