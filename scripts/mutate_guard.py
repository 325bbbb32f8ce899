"""Remove each rule of the guard in turn and check that a test fails.

    uv run python scripts/mutate_guard.py

A rule is a statement that refuses (a ``yield`` or ``raise`` of a reason), a function in the policy's tables,
or a part of a condition. Where conditions decide what counts (`CONDITIONS`), it is also a filter of a loop,
an early return, and a member of a set. The tests are collected once; each mutant is a fork of this process in
which the functions of a module have different code. No file changes. Exits 1 if no test fails without a rule.

A table, tests/unit/guard/noticed.json, says which test noticed each rule: it runs first, and the others only
if it passes, or if it is gone.

    uv run python scripts/mutate_guard.py guard.facts    # only the rules of one module
    uv run python scripts/mutate_guard.py --all          # all tests, as if there were no table
    uv run python scripts/mutate_guard.py --all --update # and write the table
"""

import ast
import copy
import gc
import importlib
import inspect
import json
import os
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).parents[1]
NOTICED = ROOT / "tests" / "unit" / "guard" / "noticed.json"
"""Mutant -> the test that noticed it; ``--all --update`` writes it."""
_FAST = ("test_policy", "test_insertion", "test_lines", "test_statement", "test_labels", "test_gained")
_REAL = ("test_scenarios", "test_approval_scenarios", "test_disguise_scenarios")
"""Tests with a git repository each: seconds, not milliseconds."""
MODULES = {
    **dict.fromkeys(("policy", "promotion", "insertion", "lines", "figures"), _FAST),
    **dict.fromkeys(("approval", "claims", "labels", "gained"), _FAST),
    "facts": _REAL,
    "proposals.declared": _FAST,
}
"""Modules, those of `guard` by their last name, and the tests that must notice."""
CONDITIONS = frozenset({"approval", "gained", "facts"})
Change = Callable[[Any], None]


@dataclass(frozen=True)
class Mutant:
    """A module without one of its rules."""

    module: str
    line: int
    removed: str
    tree: ast.Module
    number: int
    """Among the mutants of the module that remove the same text."""

    @property
    def name(self) -> str:
        return f"{_full(self.module)}: {self.removed}" + (f" #{self.number}" if self.number else "")


def mutants(name: str) -> Iterator[Mutant]:
    """Yield a module without each of its rules in turn."""
    path = ROOT / "src" / "coreloop" / f"{_full(name).replace('.', '/')}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    same: Counter[str] = Counter()
    for number, node in enumerate(ast.walk(tree)):
        found = [*_changes(node), *(_conditions(node) if name in CONDITIONS else ())]
        for removed, change in found:
            mutated = copy.deepcopy(tree)
            change(next(islice(ast.walk(mutated), number, None)))
            line = getattr(node, "lineno", 0)
            yield Mutant(name, line, removed, ast.fix_missing_locations(mutated), same[removed])
            same[removed] += 1


def _full(name: str) -> str:
    return name if "." in name else f"guard.{name}"


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


def _conditions(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Yield conditions outside of refusals, filters of loops, early returns and members of sets."""
    if isinstance(node, ast.BoolOp):
        for at, part in enumerate(node.values):
            yield f"{ast.unparse(part)}   (of {ast.unparse(node)})", _fix_condition(at)
    if isinstance(node, ast.comprehension):
        for at, condition in enumerate(node.ifs):
            yield f"if {ast.unparse(condition)}   (of a loop)", _drop_element("ifs", at)
    if (
        isinstance(node, ast.If)
        and not node.orelse
        and any(isinstance(last, ast.Return) for last in node.body)
    ):
        yield f"if {ast.unparse(node.test)}: return", _fix_test
    if isinstance(node, ast.Set) and len(node.elts) > 1 and not all(map(_is_text, node.elts)):
        for at, member in enumerate(node.elts):
            yield f"{ast.unparse(member)}   (of {ast.unparse(node)})", _drop_element("elts", at)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _fix_condition(at: int) -> Change:
    """Decide without a part: the neutral value of ``and`` and ``or``."""

    def change(node: Any) -> None:
        node.values[at] = ast.Constant(isinstance(node.op, ast.And))

    return change


def _fix_test(node: Any) -> None:
    node.test = ast.Constant(False)


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
    module = importlib.import_module(f"coreloop.{_full(mutant.module)}")
    mutated: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(mutant.tree, mutant.module, "exec"), mutated)
    _replace(vars(module), mutated)
    for table in ("_RULES", "_RULES_OF_LINES", "_GROUP_RULES"):
        if table in mutated:
            setattr(module, table, tuple(getattr(module, rule.__name__) for rule in mutated[table]))


def _replace(names: Mapping[str, Any], mutated: Mapping[str, Any]) -> None:
    """Give functions, methods, properties and cached functions the code of those with the same names."""
    for name in names.keys() & mutated.keys():
        old, new = names[name], mutated[name]
        if isinstance(old, type) and isinstance(new, type) and old.__module__ == new.__module__:
            _replace(vars(old), vars(new))
        old, new = (_function(value) for value in (old, new))
        if old is not None and new is not None and old.__module__ == new.__module__:
            old.__code__ = new.__code__


def _function(value: Any) -> FunctionType | None:
    for inner in (value, *(getattr(value, name, None) for name in ("__wrapped__", "func", "fget"))):
        if isinstance(inner, FunctionType):
            return inner
    return None


class Loop:
    """Replaces pytest's loop over the tests by a loop in a child process per mutant."""

    def __init__(self, mutants: list[Mutant], noticed: Mapping[str, str]) -> None:
        self.mutants = mutants
        self.noticed = dict(noticed)
        self.survivors: list[Mutant] = []
        self._notes = Path(tempfile.mkdtemp())

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        # property tests are slow, and examples cover the same rules
        items = [item for item in session.items if not hasattr(getattr(item, "obj", None), "hypothesis")]
        items.sort(key=_needs_fixtures)
        wanted = {test for mutant in self.mutants for test in MODULES[mutant.module]}
        items = [item for item in items if item.path.stem in wanted]
        firsts = {self.noticed.get(mutant.name) for mutant in self.mutants}
        is_known = None not in firsts and firsts <= {item.nodeid for item in items}
        checked = [item for item in items if item.nodeid in firsts] if is_known else items
        assert not self._is_detected(checked), "the tests must pass before a rule is removed"
        gc.freeze()
        running: dict[int, Mutant] = {}
        for mutant in self.mutants:
            if len(running) == (os.cpu_count() or 1):
                self._reap(running)
            running[self._start(items, mutant)] = mutant
        while running:
            self._reap(running)
        shutil.rmtree(self._notes)
        return True

    def _reap(self, running: dict[int, Mutant]) -> None:
        pid, status = os.wait()
        mutant = running.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        assert code in {0, 1}, f"cannot remove {mutant.removed}"
        if code == 0:
            self.survivors.append(mutant)
            self.noticed.pop(mutant.name, None)
        else:
            self.noticed[mutant.name] = (self._notes / str(pid)).read_text(encoding="utf-8")

    def _start(self, items: list[pytest.Item], mutant: Mutant | None) -> int:
        child = os.fork()
        if child == 0:
            try:
                failing = self._failing(items, mutant)
                if failing is not None:
                    (self._notes / str(os.getpid())).write_text(failing.nodeid, encoding="utf-8")
            except BaseException:
                traceback.print_exc()
                os._exit(2)
            os._exit(0 if failing is None else 1)
        return child

    def _is_detected(self, items: list[pytest.Item]) -> bool:
        return os.waitpid(self._start(items, None), 0)[1] != 0

    def _failing(self, items: list[pytest.Item], mutant: Mutant | None) -> pytest.Item | None:
        """Return the first test that fails: the one of the table, those of the module, the others."""
        if mutant is None:
            return next(filter(_fails, items), None)
        install(mutant)
        first, own = self.noticed.get(mutant.name), f"test_{mutant.module}.py"
        items = [item for item in items if item.path.stem in MODULES[mutant.module]]
        items.sort(key=lambda item: (item.nodeid != first, item.path.name != own))
        return next(filter(_fails, items), None)


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
    options = {word for word in sys.argv[1:] if word.startswith("--")}
    names = [name.removeprefix("guard.") for name in sys.argv[1:] if name not in options] or list(MODULES)
    is_known = "--all" not in options and NOTICED.exists()
    noticed = json.loads(NOTICED.read_text(encoding="utf-8")) if is_known else {}
    loop = Loop([mutant for name in names for mutant in mutants(name)], noticed)
    tests = [str(ROOT / "tests" / "unit" / "guard" / f"{name}.py") for name in (*_FAST, *_REAL)]
    ended = pytest.main(
        # the slow tests too; without the summary, which would say that none ran: child processes run them
        ["-n0", "-m", "", "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:logging", *tests],
        plugins=[loop],
    )
    if ended != pytest.ExitCode.OK:
        sys.exit("cannot remove the rules")
    if "--update" in options:
        table = json.dumps(loop.noticed, indent=1, sort_keys=True, ensure_ascii=False)
        NOTICED.write_text(f"{table}\n", encoding="utf-8")
    for mutant in loop.survivors:
        print(f"{_full(mutant.module)}:{mutant.line}: no test fails without: {mutant.removed}")
    print(f"{len(loop.mutants)} rules removed in turn; {len(loop.survivors)} of them unnoticed by the tests")
    sys.exit(1 if loop.survivors or not loop.mutants else 0)


if __name__ == "__main__":
    main()
