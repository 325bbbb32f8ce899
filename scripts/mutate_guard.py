"""Remove each rule of the guard in turn and check that a test fails.

    uv run python scripts/mutate_guard.py

A rule is a statement that refuses (a ``yield`` or ``raise`` of a reason), a function in the policy's tables,
or a part of a condition. The guard's tests that need no git are collected once; each mutant is a fork of this
process in which the functions of a module have different code. No file changes. Exits 1 if no test fails
without a rule.
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
from itertools import islice
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
    removed: str
    tree: ast.Module


def mutants(name: str) -> Iterator[Mutant]:
    """Yield a module without each of its rules in turn."""
    tree = ast.parse((ROOT / "src" / "coreloop" / "guard" / f"{name}.py").read_text(encoding="utf-8"))
    for number, node in enumerate(ast.walk(tree)):
        for removed, change in _changes(node):
            mutated = copy.deepcopy(tree)
            change(next(islice(ast.walk(mutated), number, None)))
            yield Mutant(name, getattr(node, "lineno", 0), removed, ast.fix_missing_locations(mutated))


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Yield the text of each rule at a node, and a function that removes it from a copy of the node."""
    for field in ("body", "orelse"):
        statements = getattr(node, field, None)
        for at, statement in enumerate(statements if isinstance(statements, list) else ()):
            if _is_refusal(statement):
                yield ast.unparse(statement), _blank(field, at)
    if isinstance(node, ast.If) and isinstance(node.test, ast.BoolOp) and any(map(_is_refusal, node.body)):
        for at, part in enumerate(node.test.values):
            yield f"{ast.unparse(part)}   (of if {ast.unparse(node.test)})", _drop_condition(at)
    if isinstance(node, ast.Tuple) and len(node.elts) > 3 and all(map(_is_rule, node.elts)):
        for at, rule in enumerate(node.elts):
            yield f"{ast.unparse(rule)}   (of the table)", _drop_element("elts", at)


def _is_refusal(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield | ast.YieldFrom)


def _is_rule(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id.startswith("_")


def _blank(field: str, at: int) -> Change:
    def change(node: Any) -> None:
        statements = getattr(node, field)
        # a generator must stay a generator
        nothing = "pass" if isinstance(statements[at], ast.Raise) else "yield from ()"
        statements[at] = ast.parse(nothing).body[0]

    return change


def _drop_element(field: str, at: int) -> Change:
    def change(node: Any) -> None:
        del getattr(node, field)[at]

    return change


def _drop_condition(at: int) -> Change:
    def change(node: Any) -> None:
        del node.test.values[at]
        node.test = node.test.values[0] if len(node.test.values) == 1 else node.test

    return change


def install(mutant: Mutant) -> None:
    """Replace the code of a module's functions, which other modules may have imported."""
    module = importlib.import_module(f"coreloop.guard.{mutant.module}")
    mutated: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(mutant.tree, mutant.module, "exec"), mutated)
    for name, function in vars(module).items():
        replacement = mutated.get(name)
        if isinstance(function, FunctionType) and isinstance(replacement, FunctionType):
            function.__code__ = replacement.__code__
    for table in ("_RULES", "_RULES_OF_LINES", "_GROUP_RULES"):
        if table in mutated:
            setattr(module, table, tuple(getattr(module, rule.__name__) for rule in mutated[table]))


class Loop:
    """Replaces pytest's loop over the tests by a loop in a child process per mutant."""

    def __init__(self, mutants: list[Mutant]) -> None:
        self.mutants = mutants
        self.survivors: list[Mutant] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        # property tests are slow, and examples cover the same rules
        items = [item for item in session.items if not hasattr(getattr(item, "obj", None), "hypothesis")]
        items.sort(key=_needs_fixtures)
        assert not self._is_detected(items, None), "the tests must pass before a rule is removed"
        gc.freeze()
        running: dict[int, Mutant] = {}
        for mutant in self.mutants:
            if len(running) == (os.cpu_count() or 1):
                self._reap(running)
            running[self._start(items, mutant)] = mutant
        while running:
            self._reap(running)
        return True

    def _reap(self, running: dict[int, Mutant]) -> None:
        pid, status = os.wait()
        mutant = running.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        assert code in {0, 1}, f"cannot remove {mutant.removed}"
        if code == 0:
            self.survivors.append(mutant)

    def _start(self, items: list[pytest.Item], mutant: Mutant | None) -> int:
        child = os.fork()
        if child == 0:
            try:
                failed = self._fails(items, mutant)
            except BaseException:
                traceback.print_exc()
                os._exit(2)
            os._exit(1 if failed else 0)
        return child

    def _is_detected(self, items: list[pytest.Item], mutant: Mutant | None) -> bool:
        return os.waitpid(self._start(items, mutant), 0)[1] != 0

    def _fails(self, items: list[pytest.Item], mutant: Mutant | None) -> bool:
        if mutant is not None:
            install(mutant)
        own = f"test_{mutant.module}.py" if mutant is not None else ""
        return any(_fails(item) for item in sorted(items, key=lambda item: item.path.name != own))


def _fails(item: pytest.Item) -> bool:
    """Whether a test fails; a test without fixtures is called directly, a hundred times faster."""
    if _needs_fixtures(item):
        return any(report.failed for report in runtestprotocol(item, log=False, nextitem=None))
    try:
        item.obj(**_parameters(item))
    except BaseException:  # pytest.fail raises no Exception
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
        # without the summary, which would say that no tests ran: they run in child processes
        ["-n0", "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:logging", *tests],
        plugins=[loop],
    )
    if ended != pytest.ExitCode.OK:
        sys.exit("cannot remove the rules")
    for mutant in loop.survivors:
        print(f"guard/{mutant.module}.py:{mutant.line}: no test fails without: {mutant.removed}")
    print(f"{len(loop.mutants)} rules removed in turn; {len(loop.survivors)} of them unnoticed by the tests")
    sys.exit(1 if loop.survivors or not loop.mutants else 0)


if __name__ == "__main__":
    main()
