"""Python: each class and function with its body, what its docstring says of it, and what a file imports."""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from coreloop.answer.search.extract.decode import decode_text
from coreloop.answer.search.extract.document import Document, Entry, Section, Unreadable
from coreloop.answer.search.extract.text import plain_document
from coreloop.base.files import open_regular
from coreloop.descriptions.sections import DocstringSection, Layout, name_key, scan

Kind = Literal["parameter", "returns", "field"]
MAX_DOCSTRING_CHARS: Final = 20_000
_SECTIONS: Final[dict[str, Kind]] = {
    **dict.fromkeys(map(name_key, ("Parameters", "Args", "Arguments", "Other Parameters")), "parameter"),
    **dict.fromkeys(map(name_key, ("Returns", "Yields")), "returns"),
    **dict.fromkeys(map(name_key, ("Attributes", "Fields")), "field"),
}
# amount (float): In KRW; a, b : int; **extra
_NAMED: Final = re.compile(
    r"(?P<names>\*{0,2}\w+(?:\s*+,\s*\*{0,2}\w+)*)\s*+(?:\((?P<type>[^)]*)\)\s*+)?(?::(?P<rest>.*))?"
)
# :param int name: text
_FIELD: Final = re.compile(
    r"[:@](?P<word>param|parameter|arg|returns?)\b(?P<name>[^:]{0,200}):\s*(?P<text>.*)"
)


@dataclass(frozen=True, slots=True)
class Item:
    """A parameter, a return value or a field, and what is said of it; ``type`` is "" if unsaid."""

    kind: Kind
    name: str
    type: str
    text: str


Function = ast.FunctionDef | ast.AsyncFunctionDef
Symbol = ast.ClassDef | Function
MAX_ENTRY_CHARS: Final = 4_000
_MAX_PARSED_CHARS: Final = 2_000_000
"""A syntax tree takes a hundred times the memory of its text."""
_BLOCKS: Final = (ast.If, ast.Try, ast.With)
_UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)
_NOTHING: Final = ("None", "NoReturn", "Never", "")
_UNSAID: Final = Item("parameter", "", "", "")


def extract_python(data: bytes) -> Document | Unreadable:
    """Read a Python file; one that this Python cannot parse is plain text."""
    text = decode_text(data)
    if isinstance(text, Unreadable):
        return text
    try:
        symbols = _symbols(_parsed(text))
        entries = tuple(_entry(name, node) for name, node in symbols)
    except _UNREADABLE:
        return plain_document(text)
    return Document(type="python", text=text, sections=tuple(_sections(text, symbols)), entries=entries)


def read_imports(location: str, root: Path) -> list[str]:
    """Return the project's files that a Python file imports; an unreadable one imports none."""
    try:
        with open_regular(root / location) as file:
            tree = _parsed(file.read(_MAX_PARSED_CHARS).decode("utf-8", "replace"))
    except (OSError, *_UNREADABLE):
        return []
    found = (place for module in _imported(tree) for place in _places(module, location, root))
    return list(dict.fromkeys(place for place in found if (root / place).is_file()))


def _parsed(text: str) -> ast.Module:
    if len(text) > _MAX_PARSED_CHARS:
        raise ValueError("too long to be parsed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yield modules, relative ones with their dots; ``from a import b`` is ``a`` and ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            yield from (f"{base}{'' if base.endswith('.') else '.'}{alias.name}" for alias in node.names)


def _places(module: str, location: str, root: Path) -> Iterator[str]:
    """Yield the files that a module may be: seen from its package's folder, the project's, and ``src``."""
    dots = len(module) - len(module.lstrip("."))
    parts = module[dots:].split(".")
    folder = PurePosixPath(location).parent
    while not dots and (root / folder / "__init__.py").is_file() and folder != folder.parent:
        folder = folder.parent
    for _ in range(dots - 1):
        folder = folder.parent
    for start in (folder,) if dots else (folder, PurePosixPath(), PurePosixPath("src")):
        place = start.joinpath(*parts)
        yield f"{place}.py"
        yield (place / "__init__.py").as_posix()


def _sections(text: str, symbols: list[tuple[str, Symbol]]) -> Iterator[Section]:
    """Yield the lines of each symbol without those of the symbols inside it, and the lines of the module."""
    lines = [part for part in re.split(r"(?<=\n)", text) if part]  # a form feed ends none
    owners = [""] * len(lines)
    for name, node in symbols:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        while first and lines[first - 1].lstrip().startswith("#"):  # a comment above belongs to it
            first -= 1
        last = node.end_lineno or node.lineno
        owners[first:last] = [name] * (last - first)
    start = number = 0
    for heading, group in groupby(zip(owners, lines, strict=True), key=itemgetter(0)):
        part = [line for _, line in group]
        size = sum(map(len, part))
        if any(line.strip() for line in part):
            yield Section(start, start + size, number + 1, heading)
        start, number = start + size, number + len(part)


def _symbols(tree: ast.Module) -> list[tuple[str, Symbol]]:
    """Return the qualified name of every class and function, in the order of their lines."""
    found: list[tuple[str, Symbol]] = []
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        parent, prefix = waiting.pop()
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, Symbol):
                found.append((f"{prefix}{node.name}", node))
            if isinstance(node, ast.ClassDef):
                waiting.append((node, f"{prefix}{node.name}."))
            elif isinstance(node, _BLOCKS):
                waiting.append((node, prefix))
    return sorted(found, key=lambda symbol: symbol[1].lineno)


def _entry(name: str, node: Symbol) -> Entry:
    """Describe a symbol in paragraphs that each say what they are about."""
    paragraphs, items = read_docstring(ast.get_docstring(node) or "")
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        kind, signature = "class", f"class {name}({bases})" if bases else f"class {name}"
        lines, is_documented = _fields(name, node, items), bool(paragraphs)
    else:
        returns = f" -> {_written(node.returns)}" if node.returns else ""
        kind, signature = "function", f"def {name}({ast.unparse(node.args)}){returns}"
        lines, is_documented = _arguments_of(name, node, items), _is_documented(node, paragraphs, items)
    first = [f"{name}: {paragraph}" for paragraph in paragraphs[:1]]
    text = "\n\n".join([signature, *first, *paragraphs[1:], *lines])
    return Entry(
        kind=kind, name=name, line=node.lineno, text=text[:MAX_ENTRY_CHARS], is_documented=is_documented
    )


def _arguments_of(name: str, node: Function, items: Sequence[Item]) -> Iterator[str]:
    said = {item.name: item for item in items if item.kind == "parameter"}
    for argument in _arguments(node):
        item = said.get(argument.arg, _UNSAID)
        yield _line(f"{name} parameter {argument.arg}", _written(argument.annotation) or item.type, item.text)
    for item in items:
        if item.kind == "returns":
            yield _line(f"{name} returns", _written(node.returns) or item.type, item.text)


def _fields(name: str, node: ast.ClassDef, items: Sequence[Item]) -> Iterator[str]:
    said = {item.name: item for item in items if item.kind != "returns"}
    types = {
        part.target.id: _written(part.annotation)
        for part in node.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    }
    for field in dict.fromkeys([*types, *said]):
        item = said.get(field, _UNSAID)
        yield _line(f"{name} field {field}", types.get(field) or item.type, item.text)


def _line(what: str, type_: str, text: str) -> str:
    return f"{what}{f' ({type_})' if type_ else ''}{f': {text}' if text else ''}"


def _written(node: ast.expr | None) -> str:
    return ast.unparse(node) if node else ""


def _arguments(node: Function) -> list[ast.arg]:
    own = node.args
    every = [*own.posonlyargs, *own.args, own.vararg, *own.kwonlyargs, own.kwarg]
    return [argument for argument in every if argument and argument.arg not in {"self", "cls"}]


def _is_documented(node: Function, paragraphs: Sequence[str], items: Sequence[Item]) -> bool:
    """Whether each parameter and what is returned have a description."""
    described = {item.name for item in items if item.kind == "parameter" and item.text}
    says_returns = any(item.kind == "returns" and (item.text or item.type) for item in items)
    is_named = all(argument.arg in described for argument in _arguments(node))
    return bool(paragraphs) and is_named and (says_returns or _written(node.returns) in _NOTHING)


def read_docstring(docstring: str) -> tuple[list[str], list[Item]]:
    """Return the paragraphs before a docstring's first section, and its items; of a long one, its start."""
    layout = scan(docstring[:MAX_DOCSTRING_CHARS])
    paragraphs = "\n".join(layout.preface()).split("\n\n")
    return [" ".join(part.split()) for part in paragraphs if part.strip()], list(_read_items(layout))


def _read_items(layout: Layout) -> Iterator[Item]:
    for section in layout.sections:
        if kind := _SECTIONS.get(section.key):
            for head, more in _heads(layout, section):
                yield from _items(kind, head, more, is_google=section.style == "google")
    for line in layout.lines:
        if match := _FIELD.fullmatch(line.text.strip()):
            *types, name = match["name"].split() or [""]
            kind = "returns" if match["word"].startswith("return") else "parameter"
            yield Item(kind, name, " ".join(types), match["text"])


def _heads(layout: Layout, section: DocstringSection) -> Iterator[tuple[str, str]]:
    """Yield the lines of a section that are not indented, with what stands indented below them."""
    lines = [line for line in layout.lines[section.body : section.end] if not line.blank]
    base = min((line.indent for line in lines), default=0)
    starts = [place for place, line in enumerate(lines) if line.indent == base]
    for start, end in pairwise([*starts, len(lines)]):
        yield lines[start].text.strip(), " ".join(line.text.strip() for line in lines[start + 1 : end])


def _items(kind: Kind, head: str, more: str, *, is_google: bool) -> Iterator[Item]:
    if kind == "returns":
        before, colon, after = (part.strip() for part in head.partition(":" if is_google else " : "))
        type_ = (before if colon else "") if is_google else after or before
        text = (after or before) if is_google else ""
        yield Item(kind, "", type_, f"{text} {more}".strip())
    elif match := _NAMED.fullmatch(head):
        rest = (match["rest"] or "").strip()
        type_, text = (match["type"] or "", f"{rest} {more}".strip()) if is_google else (rest, more)
        for name in match["names"].split(","):
            yield Item(kind, name.strip(" *"), type_, text)
