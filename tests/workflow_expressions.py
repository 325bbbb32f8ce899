"""GitHub's expressions in a workflow, such as ``${{ github.event_name != 'merge_group' }}``, evaluated."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

Context = dict[str, Any]
_TOKENS = re.compile(r"\s*('(?:[^']|'')*'|==|!=|&&|\|\||!|[(),]|[\w*-]+(?:\.[\w*-]+)*)")


def fill(text: str, context: Context) -> str:
    """A text with its ``${{ }}`` replaced."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda match: _text(evaluate(match[1], context)), text, flags=re.DOTALL)


def evaluate(expression: str, context: Context) -> Any:
    """The value of an expression: names, texts, ``! == != && ||``, and the functions below."""
    tokens = _TOKENS.findall(expression)
    assert "".join(tokens) == re.sub(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", "", expression), expression
    value = _either(tokens, context)
    assert not tokens, expression
    return value


def _either(tokens: list[str], context: Context) -> Any:
    value = _both(tokens, context)
    while tokens[:1] == ["||"]:
        tokens.pop(0)
        other = _both(tokens, context)
        value = value or other
    return value


def _both(tokens: list[str], context: Context) -> Any:
    value = _compared(tokens, context)
    while tokens[:1] == ["&&"]:
        tokens.pop(0)
        other = _compared(tokens, context)
        value = value and other
    return value


def _compared(tokens: list[str], context: Context) -> Any:
    value = _single(tokens, context)
    if tokens[:1] not in (["=="], ["!="]):
        return value
    wanted = tokens.pop(0) == "=="
    return (_text(value).casefold() == _text(_single(tokens, context)).casefold()) is wanted


def _single(tokens: list[str], context: Context) -> Any:
    token = tokens.pop(0)
    if token == "!":
        return not _single(tokens, context)
    if token == "(":
        value = _either(tokens, context)
        assert tokens.pop(0) == ")"
        return value
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    if tokens[:1] == ["("]:
        return _called(token, tokens, context)
    names = token.split(".")
    assert names[0] in context, f"an expression that this runner does not know: {token}"
    return _looked_up(names, context)


def _called(name: str, tokens: list[str], context: Context) -> Any:
    tokens.pop(0)
    values = []
    while tokens[0] != ")":
        values.append(_either(tokens, context))
        if tokens[0] == ",":
            tokens.pop(0)
    tokens.pop(0)
    functions: dict[str, Callable[..., Any]] = {
        "always": lambda: True,
        "cancelled": lambda: False,
        "failure": lambda: context["failed"],
        "success": lambda: not context["failed"],
        "contains": lambda whole, part: part in (whole or ""),
        "startsWith": lambda text, start: _text(text).casefold().startswith(start.casefold()),
        "format": lambda text, *others: text.format(*map(_text, others)),
        "join": lambda items, between=",": between.join(map(_text, items or ())),
        "toJSON": json.dumps,
    }
    return functions[name](*values)


def _looked_up(names: list[str], value: Any) -> Any:
    for at, name in enumerate(names):
        if name == "*":
            return [_looked_up(names[at + 1 :], item) for item in value or ()]
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
