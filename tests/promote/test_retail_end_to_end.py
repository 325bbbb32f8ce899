"""Real requests of a shop's agent, mined, and promoted into the example shop: real processes, real git."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coreloop.docstrings.shape import SECTIONS, docstring_sections
from coreloop.project.settings import load_settings
from coreloop.project.tools import Tool, resolve_tools
from retail_shop import SHOP, descriptions, git, output, run, shop_with_records

# Of the many that are mined, the best one for each of these tools.
ENGINES = ("exchange_delivered_order_items", "return_delivered_order_items", "cancel_pending_order")
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


@dataclass(frozen=True)
class Shop:
    """A clone of the example with its bare remote."""

    folder: Path
    remote: Path

    @property
    def candidates(self) -> Path:
        (path,) = (self.folder / "data" / "audit" / "candidates").glob("*.json")
        return path

    def coreloop(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run([sys.executable, "-m", "coreloop", *words], self.folder)

    def best(self, engine: str) -> dict[str, Any]:
        mined = json.loads(self.candidates.read_text(encoding="utf-8"))["candidates"]
        found: dict[str, Any] = next(one for one in mined if one["engine"] == engine)
        return found

    def promote(self, wanted: str, *options: str) -> subprocess.CompletedProcess[str]:
        return self.coreloop("promote", "--candidate", str(self.candidates), "--id", wanted, *options)

    def branches(self) -> list[str]:
        return git(self.remote, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    def state(self) -> dict[str, object]:
        """Everything that a dry run could have changed."""
        files = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        return {"files": files, "branches": self.branches(), "refs": git(self.remote, "show-ref")}


def doctests(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output(["python", "-c", DOCTESTS], folder).splitlines()[-1])
    return found


def nine_of_nine(folder: Path, tools: Mapping[str, str]) -> list[str]:
    """Tools whose docstring has every section, as `docstring check` reports it."""
    lines = output([sys.executable, "-m", "coreloop", "docstring", "check", "retail"], folder).splitlines()
    return sorted(name for name in tools if any(f" {name}  9/9" in line for line in lines))


@pytest.fixture
def shop(tmp_path: Path, tau_log: Path) -> Shop:
    """The example as a repository of its own, with what was mined from the real requests."""
    shop = Shop(*shop_with_records(tmp_path, tau_log))
    mined = shop.coreloop("pattern", "--since", "2025-07-01", "--min-chunk-len", "0")
    assert mined.returncode == 0, mined.stderr
    return shop


def test_real_candidates_name_docstrings_of_the_shop(shop: Shop) -> None:
    tools = descriptions(shop.folder)
    mined = json.loads(shop.candidates.read_text(encoding="utf-8"))["candidates"]
    ours = [one for one in mined if one["engine"] in tools]

    assert {one["engine"] for one in ours} >= set(ENGINES)
    drafted = [one for one in ours if one["suggested_append"] is not None]
    assert all(one["suggested_append"]["target_symbol"] == one["engine"] for one in drafted)
    # a name that stands only in the log (the model's own scratch pad) never gets into a text
    undefined = {step["name"] for one in ours for step in one["tool_pattern"]} - tools.keys()
    assert undefined
    for one in ours:
        has_undefined = bool(undefined & {step["name"] for step in one["tool_pattern"]})
        assert (one["suggested_append"] is None) == has_undefined
        assert not has_undefined or "is not defined here" in one["refused"]
    # argument names of the signature reach the text; none of the questions' words or values does
    assert (
        "return_delivered_order_items(order_id, item_ids, payment_method_id)"
        in (shop.best("return_delivered_order_items")["suggested_append"]["body"])
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_dry_run_shows_target_edit_and_what_the_model_receives_and_changes_nothing(
    shop: Shop, engine: str
) -> None:
    candidate = shop.best(engine)
    lines = candidate["suggested_append"]["body"].splitlines()
    before = shop.state()

    done = shop.promote(candidate["id"], "--ask", "--json")

    assert done.returncode == 1, done.stderr
    plan = json.loads(done.stdout)
    assert plan["target"].endswith(f".py::{engine}")
    changed = [line for line in plan["diff"].splitlines()[2:] if line.startswith(("+", "-"))]
    assert [line.lstrip("+ ") for line in changed] == [line.lstrip("+ ") for line in lines]
    assert plan["reach"]["measured"] is True
    assert plan["reach"]["missing"] == []
    assert plan["reach"]["caps"] == [{"provider": "openai", "limit": 1024, "binds": True, "lost": lines}]
    reach, replay = plan["obstacles"]
    assert reach.startswith("reach: openai reads 1,024 characters")
    assert replay.startswith("replay: unavailable")
    assert shop.state() == before


def test_screen_of_a_dry_run_says_where_the_description_comes_from(shop: Shop) -> None:
    before = descriptions(shop.folder)["exchange_delivered_order_items"]

    done = shop.promote(shop.best("exchange_delivered_order_items")["id"])

    assert "target   retail/returns.py::exchange_delivered_order_items, section Guide" in done.stdout
    assert f"reach    {len(before):,} -> " in done.stdout
    assert "characters, from the schema command" in done.stdout


@pytest.mark.parametrize("left_out", ["--allow-unverified", "--allow-unreached"])
def test_what_is_not_allowed_in_so_many_words_leaves_no_branch(shop: Shop, left_out: str) -> None:
    options = [option for option in ALLOWED if option != left_out]

    done = shop.promote(shop.best("cancel_pending_order")["id"], *options)

    assert done.returncode == 1
    assert left_out in done.stderr
    assert shop.branches() == ["main"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_confirmed_promotion_is_one_commit_whose_lines_the_schema_command_prints(
    shop: Shop, engine: str, tmp_path: Path
) -> None:
    candidate = shop.best(engine)
    before = descriptions(shop.folder)

    done = shop.promote(candidate["id"], *ALLOWED)
    again = shop.promote(candidate["id"], *ALLOWED)

    assert (done.returncode, again.returncode) == (0, 0), done.stderr + again.stderr
    (branch,) = [name for name in shop.branches() if name != "main"]
    assert branch.startswith(f"skill/docstring-{engine.replace('_', '-')}-general-")
    assert git(shop.remote, "rev-list", "--count", f"main..{branch}").strip() == "1"
    assert git(shop.remote, "diff", "--numstat", "main", branch).split()[:2] == ["3", "0"]
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", branch, str(shop.remote), str(clone))
    after = descriptions(clone)
    received = after[engine].splitlines()
    assert [line for line in received if line not in before[engine].splitlines()] == (
        candidate["suggested_append"]["body"].splitlines()
    )
    assert {**after, engine: ""} == {**before, engine: ""}
    assert doctests(clone)["failed"] == 0
    assert nine_of_nine(clone, after) == sorted(after)


def test_every_tool_of_the_shop_has_examples_that_pass() -> None:
    found = doctests(SHOP)
    assert found["failed"] == 0
    assert found["with_examples"] == sorted(descriptions(SHOP))


def test_description_of_every_tool_of_the_shop_has_nine_sections() -> None:
    shapes = {name: docstring_sections(text) for name, text in descriptions(SHOP).items()}
    assert shapes == dict.fromkeys(shapes, SECTIONS)
    assert len(shapes) == 16


def test_settings_of_the_shop_name_every_tool_and_its_arguments() -> None:
    schema = json.loads(output(["python", "-m", "retail.schema"], SHOP))
    arguments = {
        tool["function"]["name"]: tuple(tool["function"]["parameters"]["properties"]) for tool in schema
    }

    tools = resolve_tools(arguments, root=SHOP, configured=load_settings(SHOP, environ={}).tools)

    assert {name: tool.parameters for name, tool in tools.items() if isinstance(tool, Tool)} == arguments
