"""The text and target of a statement, or the reason for its refusal."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from coreloop.categories import Categories
from coreloop.mine.window import Window
from coreloop.project.tools import Tool
from coreloop.proposals.advice import Advice, parse_advice
from coreloop.proposals.lines import refuse_line
from coreloop.proposals.statements import Statement
from coreloop.proposals.step import Step
from coreloop.proposals.vocabulary import Vocabulary

MAX_EXAMPLES: Final = 5


def draft_statement(statement: Statement, words: Vocabulary, *, section: str) -> Statement:
    """Give a statement its text and target, or ``refused``: the reason why no text may be proposed."""
    advice = parse_advice(statement.line)
    refused = "coreloop writes no such line" if advice is None else _refuse(statement, advice, words)
    refused = refused or statement.refused
    if refused is not None:
        return replace(statement, refused=refused)
    return replace(statement, suggested_append=words.append(statement.tool, section, (statement.line,)))


def _refuse(statement: Statement, advice: Advice, words: Vocabulary) -> str | None:
    named = advice.named()
    tool = words.tool(statement.tool)  # with **kwargs it declares no names, and a name in a log is untrusted
    arguments = named.arguments if tool is not None else ()
    undeclared = next((name for name in arguments if name not in words.parameters(statement.tool)), None)
    if undeclared is not None:
        return f"its definition has no argument {undeclared}"
    handoff = next((name for name in named.tools if name in words.settings.handoff), None)
    if handoff is not None:
        return f"{handoff} hands over to a human; such calls are not recommended"
    steps = [Step(name, {}, ()) for name in (statement.tool, *named.tools)]
    refused = words.refuse(steps, target=statement.tool) or refuse_line(statement.line)
    return refused or (_refuse_redundant(advice, tool) if tool is not None else None)


def _refuse_redundant(advice: Advice, tool: Tool) -> str | None:
    """Why a line would add nothing to the tool's name and docstring, or None."""
    text = f"{tool.name.replace('_', ' ')}\n{tool.docstring}"
    if advice.form == "use_for":
        keywords = advice.named().keywords
        if len(Categories([("REDUNDANT", keywords)]).keywords(text)) == len(keywords):
            return "redundant: its name or docstring has these words"
    if advice.form == "source":
        (argument,) = dict(advice.slots)["argument"]
        if all(_names_source(tool.docstring, argument, path) for path in dict(advice.slots)["paths"]):
            return "redundant: its docstring names this source"
    return None


def _names_source(docstring: str, argument: str, path: str) -> bool:
    """Whether a docstring names the source of a value; for a bare result the tool's name is enough."""
    name, _, fields = path.partition("()")
    if not fields and _is_named(name, docstring):
        return True
    last = re.findall(r"\w+", fields)[-1:]
    return any(_shares_line(name, word, docstring) for word in (argument, *last))


def _shares_line(name: str, word: str, docstring: str) -> bool:
    """Whether a line of a docstring names a tool together with an argument or a field, as a name or in words.

    ``Take the product id from get_order`` names product_id, ``get_user : The ids of a customer's orders``
    names ``orders[]``, and ``See get_order`` neither.
    """
    parts = _words(word.replace("_", " "))
    lines = (set(re.findall(r"\w+", line)) for line in docstring.splitlines())
    return any(name in words and (word in words or _words(" ".join(words)) >= parts) for words in lines)


def _words(text: str) -> set[str]:
    """The words of a text, plurals without their s."""
    return {word.removesuffix("s") for word in re.findall(r"\w+", text.casefold())}


def _is_named(name: str, docstring: str) -> bool:
    """Whether a docstring names a tool, or the common prefix of several tools: ``find_user_id``."""
    words = (word for word in re.findall(r"\w+", docstring) if "_" in word)
    return any(name == word or name.startswith(f"{word}_") for word in words)


def named_tools(statements: Iterable[Statement]) -> set[str]:
    """The tools of some statements, and the tools in their lines."""
    names = set[str]()
    for statement in statements:
        advice = parse_advice(statement.line)
        names |= {statement.tool, *(advice.named().tools if advice is not None else ())}
    return names


def with_questions(
    statements: Iterable[Statement], places: Mapping[str, Sequence[tuple[int, int]]], window: Window
) -> tuple[Statement, ...]:
    """Add example questions to statements; ``places`` are files and offsets of records, by key."""
    statements = list(statements)
    examples = {entry.key: list(places.get(entry.key, ()))[:MAX_EXAMPLES] for entry in statements}
    questions = window.questions(place for chosen in examples.values() for place in chosen)
    texts = {
        key: tuple(text for place in chosen if (text := questions.get(place)))
        for key, chosen in examples.items()
    }
    return tuple(replace(entry, example_questions=texts[entry.key]) for entry in statements)
