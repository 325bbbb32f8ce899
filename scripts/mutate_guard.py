"""Remove each rule of the guard in turn and check that a test fails.

    uv run python scripts/mutate_guard.py

A rule is a statement that refuses (a ``yield`` or ``raise`` of a reason), or a part of a condition. Where
conditions decide what counts (`CONDITIONS`), it is also a filter of a loop, an early return, and a member of
a set. The tests are collected once; each mutant is a fork of this process in which the functions of a module
have different code. No file changes. Exits 1 if no test fails without a rule.

A table, tests/unit/guard/noticed.json, says which test noticed each rule. Where it has no test for a rule, or
its test passes, all tests run once to see which of them call the rule's function: those run, quickest first.

    uv run python scripts/mutate_guard.py guard.proof    # only the rules of one module
    uv run python scripts/mutate_guard.py --all          # all tests, as if there were no table
    uv run python scripts/mutate_guard.py --update       # write the table
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
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).parents[1]
NOTICED = ROOT / "tests" / "unit" / "guard" / "noticed.json"
"""Mutant -> the test that noticed it; ``--update`` writes it."""
TESTS = (
    *("learn/proposals/test_allowed_lines", "guard/test_edits", "guard/test_approvals", "guard/test_check"),
    *("guard/test_ordinary_work", "guard/test_queue"),
)
MODULES = ("change", "check", "proof", "learn.proposals.allowed_lines")
"""Modules, those of `guard` by their last name."""
CONDITIONS = frozenset({"change", "check", "proof"})
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
    function: int | None
    """The first line of the function that has the rule; none if other code has it, or if calls are cached."""

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
            line = node.ifs[0].lineno if isinstance(node, ast.comprehension) else getattr(node, "lineno", 0)
            function = _function_at(tree, line)
            yield Mutant(name, line, removed, ast.fix_missing_locations(mutated), same[removed], function)
            same[removed] += 1


def _function_at(tree: ast.Module, line: int) -> int | None:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    around = [node for node in functions if node.lineno <= line <= (node.end_lineno or 0)]
    if not around:
        return None
    inner = max(around, key=lambda node: node.lineno)
    if any("cache" in ast.unparse(decorator) for decorator in inner.decorator_list):
        return None
    return min(node.lineno for node in (inner, *inner.decorator_list))


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


@dataclass
class Ran:
    """What a test did while nothing was removed."""

    seconds: float
    called: set[tuple[str, int]]
    """Module and first line of its functions."""


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
        by_name = {item.nodeid: item for item in items}
        gc.freeze()
        known = {mutant.name: by_name.get(self.noticed.get(mutant.name, "")) for mutant in self.mutants}
        firsts = {item.nodeid: item for item in known.values() if item}
        if firsts:
            self._observe(list(firsts.values()))
        left = self._without(self.mutants, lambda mutant: [item for item in [known[mutant.name]] if item])
        if left:
            print(f"{len(left)} rules are not in the table, or its test passes without them", flush=True)
            ran = self._observe(items)
            items.sort(key=lambda item: ran[item.nodeid].seconds)
            left = self._without(
                left,
                lambda mutant: [item for item in items if _calls(ran[item.nodeid], mutant)],
                is_told=True,
            )
            for mutant in left:
                self.noticed.pop(mutant.name, None)
        self.survivors = left
        shutil.rmtree(self._notes)
        return True

    def known(self) -> dict[str, str]:
        """Return the test that noticed each mutant of today, without those that no test noticed."""
        names = [mutant.name for mutant in self.mutants]
        return {name: self.noticed[name] for name in names if name in self.noticed}

    def _observe(self, items: list[pytest.Item]) -> dict[str, Ran]:
        """Run tests before anything is removed, in another process, to fork from one that ran none."""
        file = self._notes / "observed"
        child = os.fork()
        if child == 0:
            code = 2
            try:
                file.write_text(repr({item.nodeid: _observed(item) for item in items}), encoding="utf-8")
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0, "the tests must pass before a rule is removed"
        return {name: Ran(*ran) for name, ran in ast.literal_eval(file.read_text(encoding="utf-8")).items()}

    def _without(
        self, mutants: list[Mutant], tests: Callable[[Mutant], list[pytest.Item]], *, is_told: bool = False
    ) -> list[Mutant]:
        """Remove each rule in turn; return those that none of its tests notices."""
        running: dict[int, Mutant] = {}
        left: list[Mutant] = []
        waiting = iter(mutants)
        while True:
            while len(running) < (os.cpu_count() or 1) and (mutant := next(waiting, None)):
                running[self._start(tests(mutant), mutant)] = mutant
            if not running:
                return left
            unnoticed = self._reap(running)
            left.extend(unnoticed)
            for mutant in unnoticed if is_told else ():
                print(
                    f"{_full(mutant.module)}:{mutant.line}: no test fails without: {mutant.removed}",
                    flush=True,
                )

    def _reap(self, running: dict[int, Mutant]) -> list[Mutant]:
        pid, status = os.wait()
        mutant = running.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        assert code in {0, 1}, f"cannot remove {mutant.removed}"
        if code == 0:
            return [mutant]
        self.noticed[mutant.name] = (self._notes / str(pid)).read_text(encoding="utf-8")
        return []

    def _start(self, items: list[pytest.Item], mutant: Mutant) -> int:
        child = os.fork()
        if child == 0:
            try:
                install(mutant)
                failing = next(filter(_fails, items), None)
                if failing is not None:
                    (self._notes / str(os.getpid())).write_text(failing.nodeid, encoding="utf-8")
            except BaseException:
                traceback.print_exc()
                os._exit(2)
            os._exit(0 if failing is None else 1)
        return child


def _calls(ran: Ran, mutant: Mutant) -> bool:
    return mutant.function is None or (f"coreloop.{_full(mutant.module)}", mutant.function) in ran.called


def _observed(item: pytest.Item) -> tuple[float, set[tuple[str, int]]]:
    """Return a test's seconds and the functions of the mutated modules that it calls."""
    modules = {f"coreloop.{_full(name)}" for name in MODULES}
    called: set[tuple[str, int]] = set()

    def note(frame: FrameType, _event: str, _argument: object) -> None:
        if (module := frame.f_globals.get("__name__")) in modules:
            called.add((module, frame.f_code.co_firstlineno))

    sys.settrace(note)
    threading.settrace(note)
    began = time.perf_counter()
    try:
        assert not _fails(item), f"{item.nodeid} fails before a rule is removed"
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
    # `repr` of no function is not that of a set
    return time.perf_counter() - began, called or {("", 0)}


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
    removed = [mutant for name in names for mutant in mutants(name)]
    table = json.loads(NOTICED.read_text(encoding="utf-8")) if NOTICED.exists() else {}
    not_asked = {_full(name) for name in set(MODULES) - set(names)}
    others = {name: test for name, test in table.items() if name.partition(": ")[0] in not_asked}
    loop = Loop(removed, {} if "--all" in options else table)
    tests = [str(ROOT / "tests" / "unit" / f"{name}.py") for name in TESTS]
    ended = pytest.main(
        # the slow tests too; without the summary, which would say that none ran: child processes run them
        ["-n0", "-m", "", "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:logging", *tests],
        plugins=[loop],
    )
    if ended != pytest.ExitCode.OK:
        sys.exit("cannot remove the rules")
    if "--update" in options:
        text = json.dumps(others | loop.known(), indent=1, sort_keys=True, ensure_ascii=False)
        NOTICED.write_text(f"{text}\n", encoding="utf-8")
    print(f"{len(loop.mutants)} rules removed in turn; {len(loop.survivors)} of them unnoticed by the tests")
    sys.exit(1 if loop.survivors or not loop.mutants else 0)


if __name__ == "__main__":
    main()
