"""Real requests of a shop's agent, mined, and promoted into the example shop: real processes, real git."""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from coreloop.base.project.settings_file import load_settings
from coreloop.base.project.tools import Tool, resolve_tools
from coreloop.descriptions.lost_sections import SECTIONS, docstring_sections
from coreloop.learn.line import parse_advice, statement_key
from retail_shop import SHOP, Shop, descriptions, git, output

pytestmark = pytest.mark.slow
KIND = "candidates"
OF_STATEMENTS = "counterexamples"
# Of those that are mined and have a text.
STATEMENTS: Final = {"presence": ("new_item_ids: never empty", "modify_pending_order_items")}
EVERY_KIND = pytest.mark.parametrize(("line", "tool"), STATEMENTS.values(), ids=STATEMENTS)
# The best sequence for each of these tools, with the three lines that older versions wrote.
ENGINES = ("exchange_delivered_order_items", "return_delivered_order_items", "cancel_pending_order")
ALLOWED = ("--confirm", "--allow-unverified", "--allow-unreached")
REACHED: Final = {
    "measured": True,
    "ok": True,
    "source": "from the schema command",
    "missing": [],
    "caps": {},
    "elsewhere": None,
}
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


def changed_lines(diff: str) -> list[str]:
    """Lines of a diff that are new or gone."""
    return [line for line in diff.splitlines()[2:] if line.startswith(("+", "-"))]


def added_words(diff: str) -> str:
    """The new lines of a diff as one, however they are broken."""
    return " ".join(" ".join(line.removeprefix("+").split()) for line in changed_lines(diff)).strip()


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
def test_tool_that_stands_only_in_the_log_is_in_no_text(shop: Shop) -> None:
    settings = shop.folder / "coreloop.yaml"
    for gone in ("orders.py",):
        (shop.folder / "retail" / gone).unlink()
        lines = settings.read_text(encoding="utf-8").splitlines(keepends=True)
        settings.write_text("".join(line for line in lines if gone not in line), encoding="utf-8")

    document = shop.mine("refine")
    undefined = STATEMENTS["presence"][1]
    assert undefined in document["unproposed"]["untrusted_undefined"]
    assert undefined not in {one["tool"] for one in document["statements"]}


@EVERY_KIND
def test_dry_run_of_a_statement_shows_target_edit_and_what_the_model_receives_and_changes_nothing(
    shop: Shop, line: str, tool: str
) -> None:
    statement = shop.statement(line, tool)
    before = shop.state()

    done = shop.promote(OF_STATEMENTS, statement["id"], "--ask", "--json")

    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert plan["target"].endswith(f".py::{tool}")
    new = [changed.replace(" ", "", 4) for changed in changed_lines(plan["diff"])]
    assert [changed for changed in new if changed != "+"] == [f"+- {line}"]
    assert plan["reach"] == REACHED
    assert plan["replay"] == {"verdict": "not-applicable", "runs": []}
    assert plan["obstacles"] == []
    assert shop.state() == before


@pytest.mark.slow
def test_best_real_statement_of_every_tool_has_a_proven_edit(shop: Shop) -> None:
    kind = OF_STATEMENTS
    found = [
        one
        for one in shop.entries(kind, "statements")
        if one["suggested_append"] is not None and one["suggested_append"]["target_file"]
    ]
    best = {one["tool"]: one for one in reversed(found)}
    assert best
    for tool, statement in best.items():
        done = shop.promote(kind, statement["id"], "--allow-unreached", "--json")
        assert done.returncode == 0, done.stderr
        plan = json.loads(done.stdout)
        assert plan["target"].partition("::")[2] == tool
        assert added_words(plan["diff"]) == statement["line"]
        assert plan["reach"]["missing"] == plan["obstacles"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({"line": "- Call once per session"}, "not what coreloop writes", id="words of its own"),
        pytest.param({"line": "- Use for: lunch"}, "not what coreloop writes", id="a guide's line"),
        pytest.param({"key": "0123456789abcdef"}, "not what coreloop writes", id="key"),
        pytest.param(
            {"line": "- coupon: never empty"},
            "the guard would stop it: coupon is not an argument of modify_pending_order_items.",
            id="argument",
        ),
    ],
)
def test_real_statement_that_was_changed_in_its_file_is_refused(
    shop: Shop, change: dict[str, str], reason: str
) -> None:
    path = shop.file(OF_STATEMENTS)
    document = json.loads(path.read_text(encoding="utf-8"))
    line, tool = STATEMENTS["presence"]
    (statement,) = (
        one for one in document["statements"] if (one["line"], one["tool"]) == (f"- {line}", tool)
    )
    statement |= change
    statement["suggested_append"]["body"] = statement["line"]
    if "line" in change:
        statement["key"] = statement_key(statement["tool"], statement["line"], "Caveats")
    path.write_text(json.dumps(document), encoding="utf-8")

    done = shop.promote(OF_STATEMENTS, statement["id"], *ALLOWED)

    assert done.returncode == 1
    assert reason in done.stderr
    assert shop.branches() == []


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


def test_every_tool_of_the_shop_has_examples_that_pass() -> None:
    found = doctests(SHOP)
    assert found["failed"] == 0
    assert found["with_examples"] == sorted(descriptions(SHOP))


def test_description_of_every_tool_of_the_shop_has_nine_sections() -> None:
    shapes = {name: docstring_sections(text) for name, text in descriptions(SHOP).items()}
    assert shapes == dict.fromkeys(shapes, SECTIONS)
    assert len(shapes) == 16


def test_settings_of_the_shop_name_every_tool_and_its_arguments() -> None:
    arguments = arguments_of(SHOP)

    tools = resolve_tools(arguments, root=SHOP, configured=load_settings(SHOP, environ={}).tools)

    assert {name: tool.parameters for name, tool in tools.items() if isinstance(tool, Tool)} == arguments
