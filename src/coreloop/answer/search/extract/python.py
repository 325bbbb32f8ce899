"""Python: each class and function with its body, what its docstring says of it, and what a file imports."""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, pairwise
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Final

from coreloop.answer.search.extract.document import Document, Entry, Section
from coreloop.answer.search.extract.text import plain_document
from coreloop.base.files import open_regular
from coreloop.descriptions.sections import DocstringSection, Layout, name_key, scan

MAX_DOCSTRING_CHARS: Final = 20_000
_SECTIONS: Final = {
    **dict.fromkeys(map(name_key, ("Parameters", "Args", "Arguments", "Other Parameters")), "parameter"),
    **dict.fromkeys(map(name_key, ("Returns", "Yields")), "returns"),
    **dict.fromkeys(map(name_key, ("Attributes", "Fields")), "field"),
}
# :param int name: text
_FIELD: Final = re.compile(
    r"[:@](?P<word>param|parameter|arg|returns?)\b(?P<name>[^:]{0,200}):\s*(?P<text>.*)"
)


Function = ast.FunctionDef | ast.AsyncFunctionDef
Symbol = ast.ClassDef | Function
Item = tuple[str, str, str]
"""``parameter``, ``field`` or ``returns``, the names that are described, and what is said."""
MAX_ENTRY_CHARS: Final = 4_000
_MAX_PARSED_CHARS: Final = 2_000_000  # A syntax tree takes a hundred times the memory of its text
_BLOCKS: Final = (ast.If, ast.Try, ast.With)
_UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)
_NO_VALUE: Final = ("None", "NoReturn", "Never", "")


def extract_python(text: str) -> Document:
    """Read a Python file; one that this Python cannot parse is plain text."""
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
    found = (place for name in _imported(tree) for place in _places(*name, location))
    return list(dict.fromkeys(place for place in found if (root / place).is_file()))


def _parsed(text: str) -> ast.Module:
    if len(text) > _MAX_PARSED_CHARS:
        raise ValueError("too long to be parsed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield modules, and how many dots stand before; ``from a import b`` is ``a`` and ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = (f"{node.module or ''}.{alias.name}" for alias in node.names)
            yield from ((node.level, name.strip(".")) for name in (node.module or "", *names))


def _places(dots: int, module: str, location: str) -> Iterator[str]:
    """Yield the files that a module may be: seen from the folders above, and from ``src``."""
    above = PurePosixPath(location).parents
    for start in above[dots - 1 : dots] if dots else (*above, PurePosixPath("src")):
        place = start.joinpath(*module.split("."))
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
    start = 0
    for heading, group in groupby(zip(owners, lines, strict=True), key=itemgetter(0)):
        part = [line for _, line in group]
        size = sum(map(len, part))
        if any(line.strip() for line in part):
            yield Section(start, start + size, None, heading)
        start += size


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
    layout = scan((ast.get_docstring(node) or "")[:MAX_DOCSTRING_CHARS])
    preface = "\n".join(layout.preface()).split("\n\n")
    first, *others = [" ".join(part.split()) for part in preface if part.strip()] or [""]
    items = list(_items(layout))
    if isinstance(node, ast.ClassDef):
        signature = f"class {name}({', '.join(map(ast.unparse, node.bases))})"
    else:
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        signature = f"def {name}({ast.unparse(node.args)}){returns}"
    about = f"{name}: {first}" if first else ""
    paragraphs = (signature, about, *others, *(f"{name} {kind} {text}" for kind, _, text in items))
    return Entry(
        kind="class" if isinstance(node, ast.ClassDef) else "function",
        name=name,
        line=node.lineno,
        text="\n\n".join(filter(None, paragraphs))[:MAX_ENTRY_CHARS],
        is_documented=bool(first) and (isinstance(node, ast.ClassDef) or _is_documented(node, items)),
    )


def _is_documented(node: Function, items: Sequence[Item]) -> bool:
    """Whether each parameter and what is returned have a description."""
    names = (re.findall(r"\w+", names) for kind, names, _ in items if kind == "parameter")
    described = {"self", "cls", *chain.from_iterable(names)}
    own = node.args
    arguments = [*own.posonlyargs, *own.args, own.vararg, *own.kwonlyargs, own.kwarg]
    has_value = node.returns is not None and ast.unparse(node.returns) not in _NO_VALUE
    says_value = any(kind == "returns" for kind, _, _ in items)
    is_named = all(one is None or one.arg in described for one in arguments)
    return is_named and (says_value or not has_value)


def _items(layout: Layout) -> Iterator[Item]:
    for section in layout.sections:
        kind = _SECTIONS.get(section.key, "")
        for head, more in _heads(layout, section) if kind else ():
            if section.style == "google":
                name, colon, _ = head.partition(":")
                yield kind, name.partition("(")[0] if colon else "", f"{head} {more}".strip()
            elif kind == "returns":
                yield kind, "", f"({head}): {more}".removesuffix(": ")
            else:
                name, _, type_ = head.strip("* ").partition(" : ")
                yield kind, name if more else "", f"{_typed(name, type_)}: {more}".removesuffix(": ")
    for line in layout.lines:
        if match := _FIELD.fullmatch(line.text.strip()):
            *types, name = match["name"].split() or [""]
            kind = "returns" if match["word"].startswith("return") else "parameter"
            yield kind, name, f"{_typed(name, ' '.join(types))}: {match['text']}".removeprefix(": ")


def _typed(name: str, type_: str) -> str:
    return f"{name} ({type_})" if type_ else name


def _heads(layout: Layout, section: DocstringSection) -> Iterator[tuple[str, str]]:
    """Yield the lines of a section that are not indented, with what stands indented below them."""
    lines = [line for line in layout.lines[section.body : section.end] if not line.blank]
    base = min((line.indent for line in lines), default=0)
    starts = [place for place, line in enumerate(lines) if line.indent == base]
    for start, end in pairwise([*starts, len(lines)]):
        yield lines[start].text.strip(), " ".join(line.text.strip() for line in lines[start + 1 : end])
