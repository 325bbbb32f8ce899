"""Takes each rule out of the guard in turn: a test must then fail, or the rule is not tested.

    uv run python scripts/mutate_guard.py

A rule is a statement that says no (a ``yield`` or ``raise`` of a reason), a function in the policy's tables,
or a part of a condition. The tests are those of the guard that need no git; they are collected once, and each
mutant is a fork of this process in which the functions of one module have other code. No file changes.
Exits 1 when a rule can go without a test noticing.
"""

import ast
import copy
import gc
import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).parents[1]
MODULES = (
    *("policy", "promotion", "insertion", "lines", "statement", "figures"),
    *("approval", "claims", "labels", "gained"),
)
TESTS = ("test_policy", "test_insertion", "test_lines", "test_statement", "test_labels", "test_gained")
Change = Callable[[Any], None]


@dataclass(frozen=True)
class Mutant:
    """A module without one of its rules."""

    module: str
    line: int
    what: str
    tree: ast.Module


def mutants(name: str) -> Iterator[Mutant]:
    """A module without each of its rules, one at a time."""
    tree = ast.parse((ROOT / "src" / "coreloop" / "guard" / f"{name}.py").read_text(encoding="utf-8"))
    for number, node in enumerate(ast.walk(tree)):
        for what, change in _changes(node):
            mutated = copy.deepcopy(tree)
            change(next(one for at, one in enumerate(ast.walk(mutated)) if at == number))
            yield Mutant(name, getattr(node, "lineno", 0), what, ast.fix_missing_locations(mutated))


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """What can be taken out at a node: its text, and a function that does it to the node of a copy."""
    for field in ("body", "orelse"):
        statements = getattr(node, field, None)
        for at, statement in enumerate(statements if isinstance(statements, list) else ()):
            if _says_no(statement):
                yield ast.unparse(statement), _blanked(field, at)
    if isinstance(node, ast.If) and isinstance(node.test, ast.BoolOp) and any(map(_says_no, node.body)):
        for at, part in enumerate(node.test.values):
            yield f"{ast.unparse(part)}   (of if {ast.unparse(node.test)})", _narrowed(at)
    if isinstance(node, ast.Tuple) and len(node.elts) > 3 and all(map(_is_rule, node.elts)):
        for at, rule in enumerate(node.elts):
            yield f"{ast.unparse(rule)}   (of the table)", _without("elts", at)


def _says_no(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield | ast.YieldFrom)


def _is_rule(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id.startswith("_")


def _blanked(field: str, at: int) -> Change:
    def change(node: Any) -> None:
        statements = getattr(node, field)
        # a generator has to stay one
        nothing = "pass" if isinstance(statements[at], ast.Raise) else "yield from ()"
        statements[at] = ast.parse(nothing).body[0]

    return change


def _without(field: str, at: int) -> Change:
    def change(node: Any) -> None:
        del getattr(node, field)[at]

    return change


def _narrowed(at: int) -> Change:
    def change(node: Any) -> None:
        del node.test.values[at]
        node.test = node.test.values[0] if len(node.test.values) == 1 else node.test

    return change


def put_in(mutant: Mutant) -> None:
    """Give a module's functions the mutant's code, wherever they were imported to."""
    module = importlib.import_module(f"coreloop.guard.{mutant.module}")
    other: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(mutant.tree, mutant.module, "exec"), other)
    for name, there in vars(module).items():
        here = other.get(name)
        if isinstance(there, FunctionType) and isinstance(here, FunctionType):
            there.__code__ = here.__code__
    for table in ("_RULES", "_RULES_OF_LINES", "_GROUP_RULES"):
        if table in other:
            setattr(module, table, tuple(getattr(module, one.__name__) for one in other[table]))


class Loop:
    """In place of pytest's loop over the tests: one loop in a child for each mutant."""

    def __init__(self, found: list[Mutant]) -> None:
        self._found = found
        self.unnoticed: list[Mutant] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        # properties take long, and are held by examples
        items = [one for one in session.items if not hasattr(getattr(one, "obj", None), "hypothesis")]
        items.sort(key=_needs_fixtures)
        assert not self._is_noticed(items, None), "the tests must pass before anything is taken out"
        gc.freeze()
        running: dict[int, Mutant] = {}
        for mutant in self._found:
            if len(running) == (os.cpu_count() or 1):
                self._reap(running)
            running[self._started(items, mutant)] = mutant
        while running:
            self._reap(running)
        return True

    def _reap(self, running: dict[int, Mutant]) -> None:
        pid, status = os.wait()
        mutant = running.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        assert code in {0, 1}, f"{mutant.what} could not be taken out"
        if code == 0:
            self.unnoticed.append(mutant)

    def _started(self, items: list[pytest.Item], mutant: Mutant | None) -> int:
        child = os.fork()
        if child == 0:
            try:
                failed = self._fails(items, mutant)
            except BaseException:
                traceback.print_exc()
                os._exit(2)
            os._exit(1 if failed else 0)
        return child

    def _is_noticed(self, items: list[pytest.Item], mutant: Mutant | None) -> bool:
        return os.waitpid(self._started(items, mutant), 0)[1] != 0

    def _fails(self, items: list[pytest.Item], mutant: Mutant | None) -> bool:
        if mutant is not None:
            put_in(mutant)
        own = f"test_{mutant.module}.py" if mutant is not None else ""
        return any(_fails(item) for item in sorted(items, key=lambda one: one.path.name != own))


def _fails(item: pytest.Item) -> bool:
    """Whether a test fails; called straight where it needs no fixture, which is a hundred times faster."""
    if _needs_fixtures(item):
        return any(one.failed for one in runtestprotocol(item, log=False, nextitem=None))
    try:
        item.obj(**_parameters(item))
    except BaseException:  # pytest.fail is no Exception
        return True
    return False


def _needs_fixtures(item: pytest.Item) -> bool:
    return not set(inspect.signature(item.obj).parameters) <= set(_parameters(item))


def _parameters(item: pytest.Item) -> dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def main() -> None:
    loop = Loop([mutant for name in MODULES for mutant in mutants(name)])
    tests = [str(ROOT / "tests" / "unit" / "guard" / f"{name}.py") for name in TESTS]
    ended = pytest.main(
        # no closing line: it would say that no tests ran, since a mutant's tests run in a child
        ["-n0", "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:logging", *tests],
        plugins=[loop],
    )
    if ended != pytest.ExitCode.OK:
        sys.exit("the rules could not be taken out")
    for mutant in loop.unnoticed:
        print(f"guard/{mutant.module}.py:{mutant.line} can go without a test noticing: {mutant.what}")
    print(f"{len(loop._found)} rules taken out one by one, {len(loop.unnoticed)} of them unnoticed")
    sys.exit(1 if loop.unnoticed or not loop._found else 0)


if __name__ == "__main__":
    main()
