"""The texts that models read of the tools that a file defines: found, edited and proven.

A kind is a module of `coreloop.descriptions.kinds`. It finds and spells; the place of lines and the proof are
the same for all kinds, and here.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib import import_module
from pathlib import PurePosixPath
from types import ModuleType
from typing import Final

from coreloop.base.project.python_source import UnprovenError, differences
from coreloop.descriptions.edit import Edited, find_bullets, with_lines, without
from coreloop.descriptions.place import Wanted
from coreloop.descriptions.sections import Layout, scan
from coreloop.descriptions.spelled import Cut

_KINDS: Final = {
    ".py": "python_text",
    **dict.fromkeys((".json", ".jsonc", ".json5"), "json_text"),
    **dict.fromkeys((".yaml", ".yml"), "yaml_text"),
    ".toml": "toml_text",
    **dict.fromkeys((".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"), "typescript_text"),
}
SUFFIXES: Final = tuple(_KINDS)
_MAX_BYTES: Final = 2_000_000
"""As of source files: a larger one is not written by hand."""
_UNWRAPPED: Final = 1_000_000

DOCSTRING: Final = "docstring"
DICTIONARY: Final = "string of a dictionary"
READ_BY_SOME: Final = ("Annotated[…]", "Doc(…)")
"""What a text is if only some frameworks send it."""


@dataclass(frozen=True, slots=True)
class ToolText:
    """A description, as a literal of a file.

    Attributes
    ----------
    tool : str
        The name that the model sees.
    argument : str
        Dotted below another argument (``filter.date``); empty for the tool's own text.
    value : str
        What the model reads.
    start, end : int
        Bytes of the literal in the file, quotes included.
    line : int
        From 1.
    what : str
        For a maintainer: "docstring", "description of Tool(…)", "JSON string".
    symbol : str
        The qualname of the definition, or the name of the constant, that it describes; empty if unknown.
    refused : str
        Why it cannot be edited, in one clause; empty if it can.
    schema : object
        What the tool's texts are part of, as a tree of `coreloop.descriptions.schemas`.
    """

    tool: str
    argument: str
    value: str
    start: int
    end: int
    line: int
    what: str
    symbol: str = ""
    refused: str = ""
    schema: object = field(default=None, compare=False, repr=False)

    @property
    def takes_lines(self) -> bool:
        """Whether it can be edited, and every framework sends it."""
        return not self.refused and self.what not in READ_BY_SOME

    @property
    def name(self) -> str:
        """What follows ``path::`` in its target: ``tool``, ``tool[argument]`` or a docstring's qualname."""
        return self.symbol if self.what == DOCSTRING else named(self.tool, self.argument)


def named(tool: str, argument: str) -> str:
    """What follows ``path::`` in the target of a text."""
    return f"{tool}[{argument}]" if argument else tool


def _kind(path: str) -> ModuleType | None:
    name = _KINDS.get(PurePosixPath(path).suffix.lower())
    return import_module(f"coreloop.descriptions.kinds.{name}") if name else None


@lru_cache(maxsize=8)  # an edit finds the texts of a file several times
def _found(path: str, raw: bytes, known: frozenset[str]) -> tuple[ToolText, ...]:
    kind = _kind(path)
    if kind is None:
        return ()
    if len(raw) > _MAX_BYTES:
        raise UnprovenError(f"the file is larger than {_MAX_BYTES:,} bytes")
    try:
        found = kind.find(raw, known) if known and path.endswith(".py") else kind.find(raw)
    except RecursionError as error:
        raise UnprovenError("the file is nested too deeply") from error
    return tuple(_refuse_shared(sorted(dict.fromkeys(found), key=lambda text: text.start)))


def _refuse_shared(texts: Sequence[ToolText]) -> Iterator[ToolText]:
    """Refuse a literal that describes more than one thing: an anchor, a constant, a class of two tools."""
    named_by = defaultdict[tuple[int, int], list[str]](list)
    for text in texts:
        named_by[text.start, text.end].append(text.name)
    for text in texts:
        names = sorted({*named_by[text.start, text.end]})
        reason = f"it is shared by {' and '.join(names[:3])}" if len(names) > 1 else ""
        if not text.value.strip() and text.what != DOCSTRING:
            reason = "the text is empty; write a sentence first"
        yield replace(text, refused=text.refused or reason)


def find_texts(path: str, raw: bytes, known: Collection[str] = ()) -> list[ToolText]:
    """Find the texts that models read of a file's tools, in file order.

    Parameters
    ----------
    path : str
        Its suffix says the kind; a file of no kind has no texts.
    raw : bytes
        The file.
    known : collection of str
        Qualnames in Python that are known to be tools; others are, if this file registers them.

    Raises
    ------
    UnprovenError
        The file is unreadable.
    """
    return list(_found(path, raw, frozenset(known)))


def find_text(path: str, raw: bytes, name: str) -> ToolText:
    """Find the text of a target.

    Parameters
    ----------
    path, raw
        As in `find_texts`.
    name : str
        What follows ``path::``: ``tool`` or ``tool[argument]``; instead of the tool's name, that of its
        definition or constant.

    Raises
    ------
    UnprovenError
        The file is unreadable, or it has no such text, or several.
    """
    for known in ((), (name.partition("[")[0],)):  # what is registered is meant before a definition
        texts = find_texts(path, raw, known)
        by_symbol = [its for its in texts if its.symbol and named(its.symbol, its.argument) == name]
        matching = [its for its in texts if its.name == name] or by_symbol
        if matching:
            break
    if not matching:
        raise UnprovenError(f"nothing here describes {name}")
    if len(matching) > 1:
        lines = ", ".join(str(its.line) for its in matching)
        raise UnprovenError(f"{name} is described more than once, at lines {lines}")
    return matching[0]


def put_lines(
    path: str, raw: bytes, text: ToolText, wanted: Wanted, *, replaced: Collection[str] = ()
) -> Edited:
    """Put bullets where every model reads them: at the end of a text, in a docstring of its first block.

    That is before the first section or field, after a blank line; an existing list that has only lines of
    coreloop's forms is continued. Lines that are there already are not added again. A missing section is
    created at the end, in the style of the docstring's other sections. A function without a docstring gets
    one of the lines alone, unless they are for a section.

    Nothing else in the file changes, and that is proven: the bytes outside the literal are equal; the file
    parses to the same values except for this one; the same texts are found in it; no section gains or loses a
    line; and taking the lines out of a text that is no docstring gives the first bytes again.

    Parameters
    ----------
    path, raw
        As in `find_texts`.
    text : ToolText
        One that `find_texts` or `find_text` found in the file.
    wanted : Wanted
        Its section and style are for docstrings alone.
    replaced : collection of str
        Lines of the text to remove first; each is present exactly once.

    Raises
    ------
    UnprovenError
        Nothing can be changed with proof; the reason, for a maintainer.
    """
    is_docstring = text.what == DOCSTRING
    wanted = wanted if is_docstring else replace(wanted, section=None, width=_UNWRAPPED)
    base, target = _without(path, raw, text, replaced) if replaced else (raw, text)
    read = partial(_layout, text, asked=[wanted.section] if wanted.section else ())
    cut, appended = with_lines(target.value, wanted, read, indent=_indent(base, target))
    new, edited = _changed(path, base, target, cut)
    if replaced and not appended:
        raise UnprovenError("lines would be removed but none added; take a promotion back with git revert")
    if appended and not is_docstring and _without(path, new, edited, appended)[0] != base:
        raise UnprovenError("taking the lines out again would not give the same file")
    is_literal = not is_docstring and text.what not in READ_BY_SOME
    return Edited(raw, new, appended, text.value, edited.value, tuple(replaced), is_literal)


def remove_lines(path: str, raw: bytes, text: ToolText, lines: Collection[str]) -> Edited:
    """Remove bullets from a text, with the proof of `put_lines`; each must be present exactly once.

    Parameters
    ----------
    path, raw, text
        As in `put_lines`.
    lines : collection of str
        Bullets, each on one line from its dash on.

    Raises
    ------
    UnprovenError
        Nothing can be changed with proof; the reason, for a maintainer.
    """
    new, edited = _without(path, raw, text, lines)
    return Edited(raw, new, (), text.value, edited.value, tuple(lines))


def _layout(text: ToolText, value: str, asked: Collection[str] = ()) -> Layout:
    """The lines of a value; only a docstring has sections."""
    layout = scan(value, asked=asked)
    return layout if text.what == DOCSTRING else replace(layout, sections=())


def _indent(raw: bytes, text: ToolText) -> str | None:
    """White space of the line of a docstring whose quotes may stand on their own line."""
    literal = raw[text.start : text.end]
    if text.what != DOCSTRING or (literal and not literal.endswith((b'"""', b"'''"))):
        return None
    line = re.split(rb"[\r\n]", raw[: text.start])[-1].decode(errors="replace")
    return line[: len(line) - len(line.lstrip())]


def _without(path: str, raw: bytes, text: ToolText, lines: Collection[str]) -> tuple[bytes, ToolText]:
    """Take bullets out of a text. Returns the file and the text in it."""
    read = partial(_layout, text)
    for bullet in reversed(find_bullets(read(text.value), lines)):  # numbers above the last stay the same
        raw, text = _changed(path, raw, text, without(text.value, bullet, read))
    return raw, text


def _changed(path: str, raw: bytes, text: ToolText, cut: Cut) -> tuple[bytes, ToolText]:
    """Cut a text; prove that nothing else changes. Returns the file and the text in it."""
    known = () if text in find_texts(path, raw) else (text.symbol,)
    kind, texts = _kind(path), find_texts(path, raw, known)
    if kind is None or text not in texts:
        raise UnprovenError("the text is not at its place in the file")
    if text.refused:
        raise UnprovenError(text.refused)
    value = text.value[: cut[0]] + cut[2] + text.value[cut[1] :]
    if value == text.value:
        return raw, text
    spelled = kind.spell(raw, text, cut)
    new = raw[: text.start] + spelled + raw[text.end :]
    after, number = find_texts(path, new, known), texts.index(text)
    expected = [*texts[:number], replace(text, value=value), *texts[number + 1 :]]
    edited = after[number] if _facts(after) == _facts(expected) else text
    if (edited.value, edited.end) != (value, text.start + len(spelled.rstrip())):
        raise UnprovenError("the text would not read back as it was written")
    if differences(kind.parsed(raw), kind.parsed(new)) != [(text.value, value)]:
        raise UnprovenError("more than the text would change")
    return new, edited


def _facts(texts: Sequence[ToolText]) -> list[tuple[object, ...]]:
    """What is the same wherever in the file a text is; a reason may name lines."""
    return [
        (text.tool, text.argument, text.value, text.what, text.symbol, not text.refused) for text in texts
    ]
