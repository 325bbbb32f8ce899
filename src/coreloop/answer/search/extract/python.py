"""Python: each class and function with its body, what its docstring says of it, and what a file imports."""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from textwrap import dedent
from typing import Final

from coreloop.answer.search.extract.document import Document, Entry, Unreadable
from coreloop.answer.search.extract.text import extract_marked
from coreloop.base.files import open_regular
from coreloop.descriptions.sections import Layout, name_key, scan

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
Item = tuple[str, str]  # ``parameter``, ``field`` or ``returns``, and what is said
MAX_ENTRY_CHARS: Final = 4_000
_MAX_PARSED_CHARS: Final = 2_000_000  # A syntax tree takes a hundred times the memory of its text
_BLOCKS: Final = (ast.If, ast.Try, ast.With)
_UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)
_NO_VALUE: Final = ("None", "NoReturn", "Never", "")


def extract_python(text: str) -> Document | Unreadable:
    """Read a Python file; one that this Python cannot parse declares nothing."""
    document, entries = extract_marked(text, name="python"), tuple[Entry, ...]()
    with suppress(*_UNREADABLE):
        entries = tuple(_entry(name, node) for name, node in _symbols(_parsed(text)))
    return replace(document, entries=entries) if isinstance(document, Document) else document


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


def _symbols(parent: ast.AST, prefix: str = "") -> Iterator[tuple[str, Symbol]]:
    """Yield the qualified name of every class and function, in the order of their lines."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, Symbol):
            yield f"{prefix}{node.name}", node
        if isinstance(node, ast.ClassDef):
            yield from _symbols(node, f"{prefix}{node.name}.")
        elif isinstance(node, _BLOCKS):
            yield from _symbols(node, prefix)


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
    paragraphs = (signature, about, *others, *(f"{name} {kind} {text}" for kind, text in items))
    return Entry(
        kind="class" if isinstance(node, ast.ClassDef) else "function",
        name=name,
        line=node.lineno,
        text="\n\n".join(filter(None, paragraphs))[:MAX_ENTRY_CHARS],
        is_documented=bool(first) and (isinstance(node, ast.ClassDef) or _is_documented(node, items)),
    )


def _is_documented(node: Function, items: Sequence[Item]) -> bool:
    """Whether each parameter and what is returned have a description."""
    names = (re.match(r"[\w, *]*", text) for kind, text in items if kind == "parameter" and ": " in text)
    described = {"self", "cls", *(name for found in names if found for name in re.findall(r"\w+", found[0]))}
    own = node.args
    arguments = [*own.posonlyargs, *own.args, own.vararg, *own.kwonlyargs, own.kwarg]
    has_value = node.returns is not None and ast.unparse(node.returns) not in _NO_VALUE
    says_value = any(kind == "returns" for kind, _ in items)
    is_named = all(one is None or one.arg in described for one in arguments)
    return is_named and (says_value or not has_value)


def _items(layout: Layout) -> Iterator[Item]:
    for section in layout.sections:
        kind = _SECTIONS.get(section.key, "")
        body = dedent("\n".join(line.text for line in layout.lines[section.body : section.end])).strip()
        for item in re.split(r"\n(?=\S)", body) if kind and body else ():
            head, _, more = item.partition("\n")
            if section.style != "google":
                name, _, type_ = ("", "", head) if kind == "returns" else head.strip("* ").partition(" : ")
                head = f"{_typed(name, type_)}:"
            yield kind, " ".join(f"{head} {more}".split()).removesuffix(":")
    for line in layout.lines:
        if match := _FIELD.fullmatch(line.text.strip()):
            *types, name = match["name"].split() or [""]
            kind = "returns" if match["word"].startswith("return") else "parameter"
            yield kind, f"{_typed(name, ' '.join(types))}: {match['text']}".removeprefix(": ")


def _typed(name: str, type_: str) -> str:
    return f"{name} ({type_})".strip() if type_ else name
