"""A statement's text and target, or the reason why it may not be proposed."""

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
    """Give a statement its target, or ``refused``: the reason why no text may be proposed."""
    said = parse_advice(statement.line)
    refused = "its words are none that coreloop writes" if said is None else _refuse(statement, said, words)
    refused = refused or statement.refused
    if refused is not None:
        return replace(statement, refused=refused)
    return replace(statement, suggested_append=words.append(statement.tool, section, (statement.line,)))


def _refuse(statement: Statement, said: Advice, words: Vocabulary) -> str | None:
    named = [Step(name, {}, ()) for name in (statement.tool, *said.named().tools)]
    tool = words.tool(statement.tool)  # one that takes any argument names none: what a log has is no name
    given = said.named().arguments if tool is not None else ()
    strange = next((name for name in given if name not in words.parameters(statement.tool)), None)
    if strange is not None:
        return f"{strange} is no argument in its definition"
    handed = next((name for name in said.named().tools if name in words.settings.handoff), None)
    if handed is not None:
        return f"{handed} hands over to a human, which is no advice"
    unsaid = words.refuse(named, target=statement.tool) or refuse_line(statement.line)
    return unsaid or (_said_already(said, tool) if tool is not None else None)


def _said_already(said: Advice, tool: Tool) -> str | None:
    """Why a line would tell a model nothing that the tool's name and docstring do not."""
    text = f"{tool.name.replace('_', ' ')}\n{tool.docstring}"
    if said.form == "use_for":
        keywords = said.named().keywords
        if len(Categories([("SAID", keywords)]).keywords(text)) == len(keywords):
            return "said already: its name or docstring has these words"
    if said.form == "source":
        (argument,) = dict(said.slots)["argument"]
        if all(_names_source(tool.docstring, argument, path) for path in dict(said.slots)["paths"]):
            return "said already: its docstring names where that comes from"
    return None


def _names_source(docstring: str, argument: str, path: str) -> bool:
    """Whether a docstring tells where a value comes from; of a bare result, the tool's name does."""
    name, _, fields = path.partition("()")
    if not fields and _is_named(name, docstring):
        return True
    last = re.findall(r"\w+", fields)[-1:]
    return any(_is_in_one_line(name, what, docstring) for what in (argument, *last))


def _is_in_one_line(name: str, what: str, docstring: str) -> bool:
    """Whether a line names a tool and an argument or a field, be it in words.

    ``Take the product id from get_order`` has product_id, ``get_user : The ids of a customer's orders`` has
    ``orders[]``, and ``See get_order`` neither.
    """
    parts = _words(what.replace("_", " "))
    lines = (set(re.findall(r"\w+", line)) for line in docstring.splitlines())
    return any(name in words and (what in words or _words(" ".join(words)) >= parts) for words in lines)


def _words(text: str) -> set[str]:
    """The words of a text, those in the plural as in the singular."""
    return {word.removesuffix("s") for word in re.findall(r"\w+", text.casefold())}


def _is_named(name: str, docstring: str) -> bool:
    """Whether a docstring names a tool, or what it and its like begin with: ``find_user_id``."""
    words = (word for word in re.findall(r"\w+", docstring) if "_" in word)
    return any(name == word or name.startswith(f"{word}_") for word in words)


def named_tools(statements: Iterable[Statement]) -> set[str]:
    """The tools of some statements, and those that their lines name."""
    names = set[str]()
    for statement in statements:
        said = parse_advice(statement.line)
        names |= {statement.tool, *(said.named().tools if said is not None else ())}
    return names


def with_questions(
    statements: Iterable[Statement], places: Mapping[str, Sequence[tuple[int, int]]], window: Window
) -> tuple[Statement, ...]:
    """The statements with what was asked where they hold: ``places`` are files and offsets by key."""
    every = list(statements)
    wanted = {one.key: list(places.get(one.key, ()))[:MAX_EXAMPLES] for one in every}
    asked = window.questions(place for some in wanted.values() for place in some)
    return tuple(
        replace(one, example_questions=tuple(text for place in wanted[one.key] if (text := asked.get(place))))
        for one in every
    )
