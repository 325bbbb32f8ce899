"""The order of the rooms, as the page on architecture has it: imports point down, and nowhere in a circle."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from rows import each_row
from source_files import nodes

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "coreloop"
NOT_OURS = {"admin/demo/project", "admin/init/templates", "runs/claude_code/templates"}
"""Files that are copied into other projects."""
BEHIND_ONE_MODULE = {
    "distributed": "learn.mine.executors",
    "upath": "learn.mine.executors",
    "click": "cli",
    "git": "promote.commits",
    "jinja2": "web.pages.render",
    "httpx2": "base.http",
    "markupsafe": "web.pages",
    "opentelemetry": "observe.importers.otlp_http",
    "prometheus_client": "web.metrics",
    "Stemmer": "answer.text.terms",
    "protego": "answer.search.page",
    "psycopg": "base.postgres",
    "pypdf": "answer.search.extract.packed",
    "hwpx": "answer.search.extract.packed",
    "mammoth": "answer.search.extract.packed",
    "starlette": "web",
    "uvicorn": "web",
}
"""Packages and the one module, or package, that imports them."""


def modules() -> dict[str, Path]:
    """Files by their names without ``coreloop.``; the package itself is ``coreloop``."""
    paths = {}
    for path in SOURCE.rglob("*.py"):
        below = path.relative_to(SOURCE)
        if not any(below.as_posix().startswith(folder) for folder in NOT_OURS):
            name = ".".join(below.with_suffix("").parts).removesuffix("__init__").rstrip(".")
            paths[name or "coreloop"] = path
    return paths


MODULES = modules()


def imported(among: Iterable[ast.AST]) -> Iterator[str]:
    """Absolute names that nodes import, those in functions and type checks included."""
    for node in among:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full.removeprefix("coreloop.") in MODULES else str(node.module)


@cache
def imports_of() -> dict[str, frozenset[str]]:
    return {name: frozenset(imported(nodes(path))) for name, path in MODULES.items()}


def own_imports(name: str) -> set[str]:
    own = {module for module in imports_of()[name] if module.partition(".")[0] == "coreloop"}
    return {module.removeprefix("coreloop.") for module in own}


def rooms() -> list[str]:
    """The twelve rooms from the top down."""
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    block = re.search(r"```text\n(cli  .*?)```", text, re.DOTALL)
    assert block is not None
    return [line.split()[0] for line in block[1].splitlines()]


RANK = {name: -place for place, name in enumerate(rooms())}


def package(module: str) -> str:
    return module.partition(".")[0]


def test_there_are_twelve_rooms_and_every_module_is_in_one():
    assert len(RANK) == 12
    assert {package(name) for name in MODULES} - {"coreloop", "__main__"} == set(RANK)


@each_row("name", sorted(set(MODULES) - {"coreloop", "__main__"}))
def test_imports_point_down(name: str):
    here = package(name)
    others = {module for module in own_imports(name) if package(module) not in {here, "coreloop"}}
    assert {module for module in others if RANK[package(module)] >= RANK[here]} == set()


def test_no_modules_import_each_other_in_a_circle():
    graph = {name: own_imports(name) & MODULES.keys() for name in MODULES if name != "coreloop"}
    assert list(TopologicalSorter(graph).static_order())


@each_row("foreign", BEHIND_ONE_MODULE)
def test_one_module_stands_before_a_foreign_package(foreign: str):
    where = BEHIND_ONE_MODULE[foreign]
    users = {name for name in MODULES if foreign in map(package, imports_of()[name])}
    users = {name for name in users if not name.startswith("observe.adapters.")}  # one for each framework
    assert users
    assert {name for name in users if name != where and not name.startswith(f"{where}.")} == set()


def dotted(node: ast.expr) -> str:
    """``name`` or ``name.attribute``; empty for anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


OWN_ENVIRONMENT = {
    *(
        "observe.case_keys",
        "observe.log_settings",
        "observe.journal",
        "observe.decorator",
    ),  # they live in other people's servers
    *("base.git.repository", "promote.commits", "promote.tool_schemas"),  # what they start inherits it
    "learn.mine.executors",  # polars reads its number of threads there
    "base.project.settings_file",  # CORELOOP_… overrides, unless others are passed in
    "answer.search.index.vectors",  # the key of an encoder, wherever files are indexed
    "answer.deps",  # other programs call it in their project
    "runs.stores.store",  # CORELOOP_DATABASE_URL, unless others are passed in
    "learn.knowledge.blog",  # a function for scripts, by default in the current folder
}


@each_row("name", sorted(MODULES))
def test_use_cases_ask_no_shell_for_anything(name: str):
    """No print, no environment and no working directory below the shells."""
    if package(name) in {"cli", "__main__"} or name.endswith("__main__"):
        return
    calls = {dotted(node.func) for node in nodes(MODULES[name]) if isinstance(node, ast.Call)}
    reads = {dotted(node) for node in nodes(MODULES[name]) if isinstance(node, ast.Attribute)}
    assert not calls & {"print", "input"}
    if name not in OWN_ENVIRONMENT:
        assert not calls & {"Path.cwd", "os.getcwd"}
        assert "os.environ" not in reads


@each_row("name", sorted(MODULES))
def test_no_file_has_over_500_lines(name: str):
    assert MODULES[name].read_text(encoding="utf-8").count("\n") <= 500
