"""Hold what the project is made of below the budgets in docs/explanation/architecture.md.

uv run python scripts/code_lines.py            # today's figures, budgets and goals; exits 1 above a budget
uv run python scripts/code_lines.py --lower    # lowers budgets to today's figures; never raises one
uv run python scripts/code_lines.py --small    # short files with one importer, which could be part of it
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "explanation" / "architecture.md"
SOURCE: Final = ROOT / "src" / "coreloop"
SHORT: Final = 80  # lines; a shorter file is a variant, or belongs to the only file that imports it
VARIANTS: Final = {
    "admin/checks",
    "answer/search",
    "answer/search/extract",
    "cli",
    "learn/statements",
    "observe/adapters",
    "observe/importers",
    "promote/frameworks",
    "sanitize/detectors",
    "web/pages",
}
"""Folders with a file for each command, adapter, format, detector, kind, page, check or search service."""
_ROW: Final = re.compile(r"^\| ([a-z ]+) \| ([\d,]+) \| ([\d,]+|–) \|$", re.MULTILINE)
_NO_CODE: Final = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
}
_INSTALLED: Final = {"__pycache__", "node_modules", "replies"}  # nobody wrote these
_DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def main(arguments: list[str]) -> int:
    if "--small" in arguments:
        print("\n".join(short_files()))
        return 0
    sizes, text = measure(), PAGE.read_text(encoding="utf-8")
    if "--lower" in arguments:
        PAGE.write_text(lowered(text, sizes), encoding="utf-8")
    budgets = read_budgets(PAGE.read_text(encoding="utf-8"))
    for name, size in sizes.items():
        over = f"  {size - budgets[name]:,} above the budget" if size > budgets[name] else ""
        print(f"{name:13}{size:>8,} of {budgets[name]:>8,}{over}")
    return int(any(size > budgets[name] for name, size in sizes.items()))


def measure() -> dict[str, int]:
    """Count each thing that has a budget."""
    rooms = sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__")
    lines = {room: sum(map(code_lines, (SOURCE / room).rglob("*.py"))) for room in rooms}
    source = list(SOURCE.rglob("*.py"))
    return {
        **lines,
        "all rooms": sum(lines.values()),
        "files": len(source),
        "short files": len(short_files()),
        "data": _all_lines(set(_files(SOURCE)) - set(source)),
        "tests": _all_lines(_files(ROOT / "tests")),
        "benchmarks": _all_lines(_files(ROOT / "benchmarks")),
        "scripts": _all_lines([*_files(ROOT / "scripts"), *_files(ROOT / ".ci")]),
        "words": sum(len(path.read_text("utf-8").split()) for path in _pages()),
    }


def code_lines(path: Path) -> int:
    """Count the lines with a token that is neither a comment nor a docstring."""
    text = path.read_text(encoding="utf-8")
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines.difference(*_docstrings(_tree(path))))


def short_files() -> list[str]:
    """Name the files below `SHORT` lines that a single file imports, unless they are variants."""
    modules = {_module(path): path for path in SOURCE.rglob("*.py")}
    importers: dict[str, set[Path]] = {name: set() for name in modules}
    for path in modules.values():
        for name in _imported(path):
            if name in importers:
                importers[name].add(path)
    names = {
        path.relative_to(SOURCE).as_posix() for name, path in modules.items() if len(importers[name]) == 1
    }
    return sorted(name for name in names if _is_short(name))


def read_budgets(text: str) -> dict[str, int]:
    """Read the page's table: what is counted, and how much of it there may be."""
    return {name: _number(budget) for name, budget, _ in _ROW.findall(text)}


def lowered(text: str, sizes: Mapping[str, int]) -> str:
    """Replace the budgets that are above today's figures."""

    def row(found: re.Match[str]) -> str:
        name, budget, goal = found.groups()
        return f"| {name} | {min(_number(budget), sizes[name]):,} | {goal} |"

    return _ROW.sub(row, text)


def _number(text: str) -> int:
    return int(text.replace(",", ""))


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _docstrings(tree: ast.Module) -> Iterator[range]:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            yield range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)


def _module(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_short(name: str) -> bool:
    folder, _, file = name.rpartition("/")
    is_variant = folder in VARIANTS or file in {"__init__.py", "__main__.py"}
    return not is_variant and (SOURCE / name).read_text(encoding="utf-8").count("\n") < SHORT


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part in _INSTALLED or part.startswith(".") for part in parts):
            yield path


def _pages() -> list[Path]:
    return [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("README*.md")]


def _all_lines(paths: Iterable[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
