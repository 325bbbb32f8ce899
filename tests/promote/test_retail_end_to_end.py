"""Real requests of a shop's agent, mined, and promoted into the example shop: real processes, real git."""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from coreloop.base.project.settings_file import load_settings
from coreloop.learn.line import parse_advice
from retail_shop import Shop, descriptions, git, output

pytestmark = pytest.mark.slow
KIND = "candidates"
OF_STATEMENTS = "counterexamples"
# Of those that are mined and have a text.
STATEMENTS: Final = {"presence": ("new_item_ids: never empty", "modify_pending_order_items")}
# The best sequence for each of these tools, with the three lines that older versions wrote.
ENGINES = ("exchange_delivered_order_items",)
ALLOWED = ("--confirm", "--allow-unverified", "--allow-unreached")
DOCTESTS = """
import doctest, importlib, json, pathlib
names = sorted(path.stem for path in pathlib.Path("retail").glob("*.py") if path.stem != "__init__")
found = [doctest.DocTestFinder().find(importlib.import_module(f"retail.{name}")) for name in names]
runner = doctest.DocTestRunner()
tests = [test for module in found for test in module if test.examples]
for test in tests:
    runner.run(test)
examples = sorted(test.name.split(".")[-1] for test in tests)
print(json.dumps({"failed": runner.failures, "with_examples": examples}))
"""


def older_guide(shop: Shop, engine: str) -> dict[str, Any]:
    """The best sequence for a tool, with the text that a version before statements wrote for it."""
    tools = load_settings(shop.folder, environ={}).tools
    of_tool = (one for one in shop.entries(KIND) if one["engine"] == engine)
    found = next(one for one in of_tool if all(step["name"] in tools for step in one["tool_pattern"]))
    return shop.write_older(KIND, found)


def doctests(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output(["python", "-c", DOCTESTS], folder).splitlines()[-1])
    return found


def nine_of_nine(folder: Path, tools: Mapping[str, str]) -> list[str]:
    """Tools whose docstring has every section, as `docstring check` reports it."""
    lines = output([sys.executable, "-m", "coreloop", "docstring", "check", "retail"], folder).splitlines()
    return sorted(name for name in tools if any(f" {name}  9/9" in line for line in lines))


def arguments_of(folder: Path) -> dict[str, tuple[str, ...]]:
    schema = json.loads(output(["python", "-m", "retail.schema"], folder))
    functions = (tool["function"] for tool in schema)
    return {function["name"]: tuple(function["parameters"]["properties"]) for function in functions}


def test_real_statements_name_docstrings_and_arguments_of_the_shop(shop: Shop) -> None:
    arguments = arguments_of(shop.folder)
    found = shop.entries(OF_STATEMENTS, "statements")
    assert shop.entries(KIND, "statements") == []
    by_kind = defaultdict(set)
    for one in found:
        by_kind[one["kind"]].add(one["tool"])
    assert by_kind.keys() == {"presence"}
    assert by_kind["presence"] >= {tool for _, tool in STATEMENTS.values()}

    for one in found:
        said = parse_advice(one["line"])
        assert said is not None
        suggested = one["suggested_append"]
        # argument names of the signature reach the text; none of the questions' words or values does
        assert set(said.arguments) <= {*arguments[one["tool"]]}
        if suggested is None:
            assert one["refused"].startswith(("weak: ", "redundant: "))
        else:
            assert (suggested["target_symbol"], suggested["body"]) == (one["tool"], one["line"])
        assert arguments.keys() >= set(said.tools)
        assert not any(one.kind == "value" for one in said.names())


@pytest.mark.slow
@pytest.mark.parametrize(
    "found",
    [
        *(pytest.param(statement, id=name) for name, statement in STATEMENTS.items()),
        *(pytest.param((None, engine), id=f"older guide, {engine}") for engine in ENGINES),
    ],
)
def test_confirmed_promotion_is_one_commit_whose_lines_the_schema_command_prints(
    shop: Shop, found: tuple[str | None, str], tmp_path: Path
) -> None:
    line, engine = found
    entry = shop.statement(line, engine) if line is not None else older_guide(shop, engine)
    lines = entry["suggested_append"]["body"].splitlines()
    before = descriptions(shop.folder)

    kind, command = (OF_STATEMENTS, "refine") if line is not None else (KIND, "pattern")
    done = shop.promote(kind, entry["id"], *ALLOWED)
    again = shop.promote(kind, entry["id"], *ALLOWED)

    assert (done.returncode, again.returncode) == (0, 0), done.stderr + again.stderr
    (branch,) = shop.branches()
    assert branch.startswith(f"skill/{'caveat' if line else 'docstring'}-{engine.replace('_', '-')}-general-")
    assert git(shop.remote, "rev-list", "--count", f"main..{branch}").strip() == "1"
    assert git(shop.remote, "diff", "--numstat", "main", branch).split()[1] == "0"
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", branch, str(shop.remote), str(clone))
    after = descriptions(clone)
    received, sent = (" ".join(text[engine].split()) for text in (after, before))
    assert received.replace(f" {' '.join(lines)}", "") == sent != received
    assert {**after, engine: ""} == {**before, engine: ""}
    assert doctests(clone)["failed"] == 0
    assert nine_of_nine(clone, after) == sorted(after)
    mined = shop.mine(command)
    keys = {one["key"] for name in ("statements", kind) for one in mined.get(name, ())}
    assert entry["key"] not in keys
    assert keys
