"""Whether a line names only what the base declares: `promote` asks before, the guard when it checks."""

from collections.abc import Iterable, Iterator
from typing import Final

from coreloop.base.text import printable
from coreloop.learn.proposals.declared_words import Words
from coreloop.learn.proposals.sequence_lines import (
    ELIDED,
    AdvisedCall,
    AdvisedCalls,
    When,
    parse_line,
)
from coreloop.learn.proposals.statement_lines import Advice, parse_advice

MAX_FIELDS: Final = (
    3  # the deepest path that a trial on four logs found useful; a longer one can be a sentence
)
MIN_CASES: Final = (
    5  # k-anonymity as in shared reports: a field that fewer questions show may be one user's text
)


def refuse_words(line: str, words: Words) -> Iterator[str]:
    """Why a line has names or values that the base does not have, whatever its evidence."""
    statement, value = parse_advice(line), parse_line(line)
    if statement is not None:
        yield from refuse_advice(statement, words)
    elif isinstance(value, When):
        yield from refuse_when(value, words)
    elif isinstance(value, AdvisedCalls):
        yield from refuse_calls(value.calls, words)


def refuse_advice(advice: Advice, words: Words) -> Iterator[str]:
    """Why a statement has names or values that the base does not have."""
    named = advice.named()
    yield from _refuse_arguments(named.arguments, words)
    for value in named.values:
        if not words.is_declared(value):
            yield _undeclared(value)
    yield from _refuse_fields(named.fields, words)
    for tool in named.tools:
        yield from _refuse_tool(tool, words)
    if advice.sends_to(words.tool):
        yield f"the line refers {printable(words.tool)} to itself"


def _refuse_arguments(arguments: Iterable[str], words: Words) -> Iterator[str]:
    """Arguments must be those of the docstring's tool."""
    for argument in arguments:
        if not words.takes(argument):
            yield _no_argument(argument, words.tool)


def _refuse_fields(paths: Iterable[tuple[str, ...]], words: Words) -> Iterator[str]:
    """Fields of results come from records, where a name may be anybody's text: the base must have them."""
    for path in paths:
        if len(path) > MAX_FIELDS:
            yield f"the path {printable('.'.join(path))} has more than {MAX_FIELDS} fields"
        for name in path:
            if not (name.isascii() and words.has_field(name)):
                yield f"{printable(name)} is not a field that code or a schema of the base has"


def _refuse_tool(tool: str, words: Words) -> Iterator[str]:
    """Tools must exist at the base."""
    if not words.has_tool(tool):
        yield (
            f"{printable(tool)} is not a tool of coreloop.yaml or the base; name it under tools: "
            "in coreloop.yaml"
        )


def _undeclared(value: str) -> str:
    return f"{printable(value)} is not a value that coreloop.yaml or the source declares"


def _no_argument(argument: str, tool: str) -> str:
    return f"{printable(argument)} is not an argument of {printable(tool)}"


def refuse_when(when: When, words: Words) -> Iterator[str]:
    """Category and keywords must be those of coreloop.yaml."""
    if when.category and not words.has_category(when.category):
        yield f"{printable(when.category)} is not declared under categories: in coreloop.yaml"


def refuse_calls(calls: Iterable[AdvisedCall], words: Words) -> Iterator[str]:
    """The base must have the tools, arguments and values of calls."""
    for call in calls:
        yield from _refuse_tool(call.name, words)
        for name, value in call.arguments:
            if name != ELIDED and not words.may_pass(call.name, name):
                yield _no_argument(name, call.name)
            if value is not None and value != f"<{name}>" and not words.may_give(call.name, value.strip('"')):
                yield _undeclared(value)
