"""Tools that are defined outside Python: what models read of each in JSON, YAML, TOML or TypeScript."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

_SCRIPTS: Final = (".ts", ".mts", ".js", ".mjs")
DOCUMENTS: Final = (".json", ".yaml", ".yml", ".toml", *_SCRIPTS)
_MAX_BYTES: Final = 2_000_000
"""As of source files: a larger one is not written by hand."""
_MAX_DEPTH: Final = 50
"""Brackets around a tool; each level is read once more, and no script that a person wrote has so many."""
_TOKEN: Final = re.compile(
    r"""
      "(?:[^"\\\n]|\\.)*"? | '(?:[^'\\\n]|\\.)*'? | `(?:[^`\\]|\\.)*`?  # a text, also one without an end
    | //[^\n]* | /\*(?:.*?\*/|.*)
    | [^\W\d][\w$]* | [(){}\[\],:+]
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTES: Final = tuple("\"'`")


def described_tools(path: str, raw: bytes) -> dict[str, str]:
    """What models read of the tools that a file defines; empty if it is unreadable.

    Parameters
    ----------
    path : str
        Its suffix says the format.
    raw : bytes
        The file.

    Returns
    -------
    dict of str to str
        By tool its descriptions, the parameters' included; without tools that are defined twice.
    """
    if len(raw) > _MAX_BYTES:
        return {}
    try:
        text = raw.decode("utf-8-sig")
        suffix = PurePosixPath(path).suffix
        found = list(_of_script(text) if suffix in _SCRIPTS else _of_data(_parse(suffix, text)))
    except (ValueError, RecursionError):  # of every parser: JSON's and TOML's errors are such, too
        return {}
    times = Counter(name for name, _ in found)
    return {name: described for name, described in found if times[name] == 1}


def _parse(suffix: str, text: str) -> Any:
    if suffix in (".yaml", ".yml"):
        import yaml

        try:
            return list(yaml.load_all(text, Loader=yaml.SafeLoader))
        except yaml.YAMLError as error:
            raise ValueError from error
    return tomllib.loads(text) if suffix == ".toml" else json.loads(text)


def _of_data(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Objects with a description, and with a name, as MCP, OpenAI and Anthropic write it, or under one."""
    if isinstance(value, dict):
        name = value.get("name", key)
        if isinstance(name, str) and name and isinstance(value.get("description"), str):
            yield name, "\n".join(_texts(value))
        else:
            for below, item in value.items():
                yield from _of_data(item, below if isinstance(below, str) else "")
    elif isinstance(value, list):
        for item in value:
            yield from _of_data(item)


def _texts(value: Any) -> Iterator[str]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "description" and isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            yield from _texts(item)


def _of_script(text: str) -> Iterator[tuple[str, str]]:
    """Calls whose first argument is a name, and objects with a ``name``, that have a description."""
    tokens = [token for token in _TOKEN.findall(text) if not token.startswith(("//", "/*"))]
    opened: list[int] = []
    names: dict[int, str] = {}
    for at, token in enumerate(tokens):
        if token in {"(", "[", "{"}:
            opened.append(at)
        elif token in {")", "]", "}"} and opened:
            start = opened.pop()
            texts = list(_described(tokens, start, at)) if start in names else []
            if texts:
                yield names[start], "\n".join(texts)
        elif token.startswith(_QUOTES) and opened:
            is_first = tokens[at - 1] == "(" and tokens[at + 1 : at + 2] == [","]
            if len(opened) <= _MAX_DEPTH and (is_first or tokens[at - 2 : at] == ["name", ":"]):
                names.setdefault(opened[-1], token[1:-1])


def _described(tokens: list[str], start: int, end: int) -> Iterator[str]:
    """Texts between two brackets: after ``description:``, in ``.describe(…)``, and next to the name."""
    is_said = False
    for at in range(start + 1, end):
        token, before = tokens[at], tokens[at - 2 : at]
        if token == "+":  # a text may be in several parts
            continue
        is_next = at == start + 3 and tokens[start] == "("
        begins = is_next or before in (["description", ":"], ["describe", "("])
        is_said = token.startswith(_QUOTES) and (begins or (is_said and tokens[at - 1] == "+"))
        if is_said:
            yield token
